"""When a hinted path is looked at."""

import pytest
from memoryd.daemon.debounce import BURST, Debouncer


def looks(hints: list[float], until: float, *, there: bool = True) -> list[float]:
    """The times at which `note` is looked at when it is hinted at `hints`."""
    debouncer, found = Debouncer(lambda _: there), []
    moments = sorted({*hints, *(step / 100 for step in range(int(until * 100) + 1))})
    for now in moments:
        if debouncer.due(now).paths:
            found.append(now)
        if now in hints:
            debouncer.hint("note", now)
    return found


@pytest.mark.parametrize(
    ("hints", "expected"),
    [
        ([0.0], [0.3]),
        ([0.0, 0.1, 0.2], [0.5]),
        ([0.0, 1.0], [0.3, 1.3]),
        ([each / 10 for each in range(25)], [2.0, 2.7]),
        ([], []),
    ],
)
def test_a_path_is_looked_at_after_quiet_and_at_the_bound_under_constant_writing(hints, expected):
    """A path is due 300 ms after its last event, and 2 s after its first at the latest."""
    assert looks(hints, 5.0) == pytest.approx(expected)


def test_a_vanished_path_is_looked_at_only_after_the_bound():
    """A file that is gone has 2 s to come back before anybody calls it deleted."""
    assert looks([0.0], 5.0, there=False) == pytest.approx([2.0])


def test_a_vanished_path_that_comes_back_is_looked_at_after_quiet():
    """Moving the old file away and writing a new one is a change, not a deletion, in either order (WA-14)."""
    there = set()
    debouncer = Debouncer(there.__contains__)

    debouncer.hint("note", 0.0)
    assert debouncer.due(0.4).paths == []
    there.add("note")
    debouncer.hint("note", 0.5)

    assert debouncer.next_due() == pytest.approx(0.8)
    assert debouncer.due(0.8).paths == ["note"]


def test_two_paths_wait_on_their_own():
    """Constant writing to one note does not delay another."""
    debouncer = Debouncer(lambda _: True)
    debouncer.hint("quiet", 0.0)
    debouncer.hint("busy", 0.0)
    debouncer.hint("busy", 0.29)

    assert debouncer.due(0.3).paths == ["quiet"]
    assert len(debouncer) == 1


def test_a_burst_becomes_one_look_at_everything():
    """More than 200 paths in a window are compared by one scan, and later hints join it."""
    debouncer = Debouncer(lambda _: True)
    for number in range(BURST + 1):
        debouncer.hint(f"note {number}", 0.0)
    debouncer.hint("one more", 0.2)

    assert len(debouncer) == 1
    assert not debouncer.due(0.4).everything
    due = debouncer.due(0.5)

    assert due.everything
    assert due.paths == []
    assert debouncer.next_due() is None


def test_nothing_waits_at_first():
    """An idle debouncer asks for no wake-up."""
    assert Debouncer(lambda _: True).next_due() is None
