"""The ledger of one note: each line has exactly one state (docs/data.md, 3)."""

from ..model import LineState


class Ledger:
    """Line states while a note is parsed. Lines count from 0; `owner` is the index of a mention or -1."""

    def __init__(self, lines: list[str]) -> None:
        self._states: list[LineState | None] = [None if line.strip() else "blank" for line in lines]
        self._owners = [-1] * len(lines)

    def put(self, first: int, last: int, state: LineState, owner: int = -1) -> None:
        """Say what became of lines `first` to `last`, both included."""
        for number in range(first, min(last, len(self._states) - 1) + 1):
            self._states[number] = state
            self._owners[number] = owner

    def put_block(self, first: int, last: int, state: LineState, owner: int) -> None:
        """A block of words: its first line has `state`, the others continue it."""
        self.put(first, first, state, owner)
        if last > first:
            self.put(first + 1, last, "continuation", owner)

    def state(self, number: int) -> LineState | None:
        """The state of a line, None while nobody claimed it."""
        return self._states[number]

    def unclaimed(self) -> list[int]:
        """The lines that no block took."""
        return [number for number, state in enumerate(self._states) if state is None]

    def finished(self) -> list[tuple[LineState, int]]:
        """State and owner of every line; what is still unclaimed has no words."""
        shared: dict[tuple[LineState, int], tuple[LineState, int]] = {}  # two million blank lines have one pair
        pairs = zip(self._states, self._owners, strict=True)
        return [shared.setdefault(pair, pair) for pair in ((state or "empty_text", owner) for state, owner in pairs)]
