"""An export's file as an import reads it: what each field may be, and on which line something is wrong."""

import re
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any, NamedTuple, NoReturn, TypeVar

import msgspec
from msgspec import Meta

from ..clock import FIRST_DAY, LAST_DAY, MOST_DAYS
from ..errors import AccessError, NoInputError, UsageError
from ..foreign import checked_depth, read_regular
from ..model import Metadata, fact_id
from .export import FORMAT, VERSION

T = TypeVar("T")

STATES = ("live", "superseded", "merged")
"""States of facts that stand somewhere."""
_DATE = r"^(\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])(T([01]\d|2[0-3]):[0-5]\d(:[0-5]\d(\.\d{3})?)?Z)?)?$"
_Id = Annotated[str, Meta(pattern=r"^[0-9a-f]{16}\Z")]
_Name = Annotated[str, Meta(max_length=100)]


class GivenFact(msgspec.Struct):
    """One fact of a file. Times in epoch seconds; `reads` on so many days, the last of them `last_read` since 1970."""

    id: _Id
    text: str
    state: _Name
    category: str
    importance: float
    kind: _Name
    task_state: _Name
    first_seen: float
    created_at: float
    reads: Annotated[int, Meta(ge=0, le=MOST_DAYS)]
    last_read: Annotated[int, Meta(ge=FIRST_DAY, le=LAST_DAY)]
    metadata: Metadata
    edits: dict[str, str]
    stated: Annotated[str, Meta(pattern=_DATE)] = ""


class GivenItem(msgspec.Struct):
    """One item of hot state."""

    section: str
    key: str
    value: Any
    deleted: bool


class GivenNode(msgspec.Struct):
    """One node of the tree."""

    path: str
    description: str


class _Whole(msgspec.Struct):
    """A whole file; what its lists hold is decoded one by one, so that a fault has a line."""

    format: str
    version: int
    facts: list[msgspec.Raw]
    hot_items: list[msgspec.Raw]
    tree_nodes: list[msgspec.Raw]
    forgotten: list[msgspec.Raw]
    agent_id: str


class Given(NamedTuple):
    """What a file gives; `names` says what each fact's id is for the agent that takes it.

    `facts` stay as text: a hundred thousand objects would hold up every other thread whenever Python looks for
    garbage among them.
    """

    agent_id: str
    facts: Sequence[msgspec.Raw]
    names: dict[str, str]
    items: Sequence[GivenItem]
    nodes: Sequence[GivenNode]
    forgotten: Sequence[str]
    skipped: int
    left_out: list[dict[str, Any]]


decode_fact = msgspec.json.Decoder(GivenFact).decode
_DECODERS: dict[str, Callable[[msgspec.Raw], Any]] = {
    "fact": decode_fact,
    "hot item": msgspec.json.Decoder(GivenItem).decode,
    "node": msgspec.json.Decoder(GivenNode).decode,
    "forgotten id": msgspec.json.Decoder(_Id).decode,
}
_LISTS = {"fact": "facts", "hot item": "hot_items", "node": "tree_nodes", "forgotten id": "forgotten"}
_HINT = "Correct it, or write the file anew: memoryd export --json. Nothing was changed."
_BYTE = re.compile(r"\(byte (\d+)\)")
_FIELD = re.compile(r"`\$\.(\w+)")
_PATTERN = re.compile(r"Expected `str` matching regex '.*'(?: - at `\$(?:\.(\w+))?.*`)?\Z")


def read_export(path: Path, agent: str, most_bytes: int) -> Given:
    """Read a file for `agent`; what has a text of more than `most_bytes` is left out, and named with its line.

    Raises `UsageError` with the line for everything else that is no export.
    """
    data = _bytes_of(path)
    whole = _decoded(path, data)
    reader = _Reader(path, data, most_bytes)
    names: dict[str, str] = {}
    wanted = []
    count = 0
    for raw, fact in reader.read("fact", whole.facts, GivenFact):
        count += 1
        names[fact.id] = fact_id(agent, fact.text)
        if fact.state in STATES:
            wanted.append(raw)
    items = [item for _, item in reader.read("hot item", whole.hot_items, GivenItem)]
    nodes = [node for _, node in reader.read("node", whole.tree_nodes, GivenNode)]
    forgotten = [name for _, name in reader.read("forgotten id", whole.forgotten, str)]
    skipped = count - len(wanted)
    return Given(whole.agent_id, wanted, names, items, nodes, forgotten, skipped, reader.left_out)


def _bytes_of(path: Path) -> bytes:
    try:
        return read_regular(path)
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise NoInputError(f"{path} is no file.", "Name the JSON file of an export.") from None
    except OSError as error:
        raise AccessError(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None


def _decoded(path: Path, data: bytes) -> _Whole:
    try:
        whole = msgspec.json.decode(data, type=_Whole)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        byte = _BYTE.search(str(error))
        where = f", line {_line(data, int(byte[1]))}" if byte else ""
        raise UsageError(f"{path}{where} is no export of memoryd: {error}.", _HINT) from None
    if whole.format != FORMAT or not 1 <= whole.version <= VERSION:
        raise UsageError(f"{path} is no export that this version reads.", "Update memoryd; nothing was changed.")
    return whole


class _Reader:
    """Reads the lists of one file, and knows where in it each of their values stands."""

    def __init__(self, path: Path, data: bytes, most_bytes: int) -> None:
        self._path, self._data, self._most = path, data, most_bytes
        self.left_out: list[dict[str, Any]] = []

    def read(self, what: str, values: Sequence[msgspec.Raw], _: type[T]) -> Iterator[tuple[msgspec.Raw, T]]:
        """The values of one list that are taken in, as they stand there and decoded."""
        begin = re.search(rb'"%b"\s*:' % _LISTS[what].encode(), self._data)
        at = begin.end() if begin else 0
        for number, raw in enumerate(values, 1):
            written = bytes(raw)
            at = self._data.find(written, at)
            try:
                value = _DECODERS[what](raw)
                if what == "hot item":
                    checked_depth(value.value)
            except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
                self._refuse(what, number, at, written, error)
            if len(written) > self._most and (size := _longest(msgspec.to_builtins(value))) > self._most:
                self._leave_out(what, number, at, size)
            else:
                yield raw, value
            at += len(written)

    def _refuse(self, what: str, number: int, at: int, written: bytes, error: Exception) -> NoReturn:
        field = _FIELD.search(str(error))
        byte = _BYTE.search(str(error))
        inside = max(0, written.find(f'"{field[1]}"'.encode())) if field else int(byte[1]) if byte else 0
        line = _line(self._data, at + inside)
        raise UsageError(f"{self._path}, line {line}, {what} {number}: {_said(error)}.", _HINT) from None

    def _leave_out(self, what: str, number: int, at: int, size: int) -> None:
        reason = f"{what} {number} has a text of {size:,} bytes, and notes.max_ingest_bytes is {self._most:,}"
        self.left_out.append({"line": _line(self._data, at), "reason": reason})


def _said(error: Exception) -> str:
    """What is wrong, in words for a person where msgspec would show a pattern."""
    pattern = _PATTERN.match(str(error))
    if pattern is None:
        return str(error)
    if pattern[1] == "stated":
        return "Expected a date such as 2026-02-13 or 2026-02-13T10:40Z - at `$.stated`"
    return "Expected 16 hex digits" + (f" - at `$.{pattern[1]}`" if pattern[1] else "")


def _line(data: bytes, at: int) -> int:
    return data.count(b"\n", 0, at) + 1


def _longest(value: Any) -> int:
    """Bytes of the longest text in a value of JSON, names of fields included."""
    if isinstance(value, str):
        return len(value.encode("utf-8", "surrogatepass"))
    if isinstance(value, dict):
        return max((_longest(each) for pair in value.items() for each in pair), default=0)
    return max(map(_longest, value), default=0) if isinstance(value, list) else 0
