"""From a path to a parsed note: reading and ingest joined, without the store, so that it can run beside it."""

import datetime as dt
import hashlib
import time
from pathlib import Path

import msgspec

from ..config import NotesSettings
from ..errors import NoteError
from ..ingest.encoding import count_lines
from ..ingest.findings import about_year
from ..ingest.mask import mask_bytes
from ..ingest.names import Name
from ..ingest.parse import parse_note
from ..ingest.passing import MOST_BLOCKS
from ..ingest.reader import FileRead, VanishedError, read_note
from ..model import RULES, ParsedNote
from ..store.files import FileRecord
from .words import Words, words_of

_DAY_NS = 86_400 * 10**9
_EPOCH_ORDINAL = dt.date(1970, 1, 1).toordinal()
_LAST_DAY = dt.date(9998, 1, 1).toordinal() - _EPOCH_ORDINAL


class Prepared(msgspec.Struct):
    """One file, read and parsed.

    `parsed` is None when the bytes are the ones that are stored already, when the file is too large
    even to keep, or when it could not be read (`record.state` says which). `gone` = it is not there.
    `words` are those of the mentions of `parsed`, in their order.
    """

    path: str
    name: Name
    record: FileRecord
    parsed: ParsedNote | None = None
    gone: bool = False
    words: list[Words] = []


def prepare(
    root: Path, path: str, name: Name, known: FileRecord | None, settings: NotesSettings, now_ms: int,
    *, data: bytes | None = None, body_only: bool = False, tree_paths: frozenset[str] = frozenset(),
) -> Prepared:  # fmt: skip
    """Read one file and parse it unless nothing changed; never raises for a fault of that file.

    `data` are its bytes where somebody has them already. With `body_only` it is masked and not parsed:
    parsing it took too long.
    """
    file = _read(root, path, name, known, settings, now_ms, data)
    if isinstance(file, Prepared):
        return file
    record = _record(path, name, file, now_ms)
    if file.data is None:
        record.state = "too_large"
        record.reason = f"larger than {settings.max_backup_bytes:,} bytes: neither parsed nor backed up"
        return Prepared(path, name, record)
    if _says_the_same(known, record):
        return Prepared(path, name, _carried_over(record, known))
    parsed = _masked(file.data) if body_only else _parse(name, path, file.data, settings, tree_paths)
    parsed = with_year(parsed, name, file.mtime_ns)
    record.state, record.totals = parsed.state, dict(parsed.totals)
    record.findings, record.masked = parsed.findings, parsed.masked
    if body_only:
        record.reason = f"{_slowness(settings)}: backed up, not parsed"
    elif parsed.state == "too_large":
        limit = f"larger than {settings.max_ingest_bytes:,} bytes"
        if file.size <= settings.max_ingest_bytes:
            limit = f"more than {MOST_BLOCKS:,} list items, rows and paragraphs"
        record.reason = f"{limit}: backed up, not parsed"
    return Prepared(path, name, record, parsed, words=[words_of(each.text) for each in parsed.mentions])


def given_up(
    root: Path, path: str, name: Name, known: FileRecord | None, settings: NotesSettings, now_ms: int,
    *, data: bytes | None = None,
) -> Prepared:  # fmt: skip
    """A file that cannot even be masked in time: its hash and the reason, so that it waits for other bytes."""
    file = _read(root, path, name, known, settings, now_ms, data)
    if isinstance(file, Prepared):
        return file
    record = _record(path, name, file, now_ms)
    record.state, record.reason = "too_large", f"{_slowness(settings)}: neither parsed nor backed up"
    return Prepared(path, name, record)


def _slowness(settings: NotesSettings) -> str:
    return f"takes longer than {settings.max_ingest_seconds:g} s to parse, or ends the process that does"


def _read(
    root: Path, path: str, name: Name, known: FileRecord | None, settings: NotesSettings, now_ms: int,
    data: bytes | None,
) -> FileRead | Prepared:  # fmt: skip
    if data is not None:
        return FileRead(data, len(data), 0, 0, 0, hashlib.sha256(data).hexdigest())
    try:
        return read_note(root, path, settings.max_backup_bytes, time.sleep)
    except VanishedError:
        return Prepared(path, name, _record(path, name, None, now_ms), gone=True)
    except NoteError as error:
        record = known or _record(path, name, None, now_ms)
        return Prepared(path, name, msgspec.structs.replace(record, state="unreadable", reason=error.message))


def with_year(parsed: ParsedNote, name: Name, mtime_ns: int) -> ParsedNote:
    """The parsed note with a finding if its name is of another year than the file's time stamp (TR-8)."""
    days = mtime_ns // _DAY_NS
    if name.kind != "note" or not 0 < days < _LAST_DAY:  # a time stamp may be anything
        return parsed
    found = list(about_year(name.date, dt.date.fromordinal(_EPOCH_ORDINAL + days)))
    if found:
        parsed.findings = [*found, *parsed.findings]
        parsed.state = "findings" if parsed.state == "ok" else parsed.state
    return parsed


def _says_the_same(known: FileRecord | None, now: FileRecord) -> bool:
    return (
        known is not None
        and known.raw_sha256 == now.raw_sha256
        and known.rules == RULES
        and known.agent_id == now.agent_id
        and known.state in ("ok", "findings", "too_large")
    )


def _carried_over(now: FileRecord, known: FileRecord | None) -> FileRecord:
    if known is None:
        return now
    return msgspec.structs.replace(
        now, state=known.state, reason=known.reason, totals=known.totals, findings=known.findings, masked=known.masked
    )


def _masked(data: bytes) -> ParsedNote:
    body, masked = mask_bytes(data)
    return ParsedNote(body, [], [], [], "too_large", masked, whole=count_lines(body))


def _parse(name: Name, path: str, data: bytes, settings: NotesSettings, tree_paths: frozenset[str]) -> ParsedNote:
    if name.kind == "text":
        body, masked = mask_bytes(data)
        return ParsedNote(body, [], [], [], "ok", masked)
    return parse_note(
        data,
        path=path,
        agent_id=name.agent_id,
        date=name.date,
        is_page=name.kind == "page",
        max_bytes=settings.max_ingest_bytes,
        tree_paths=tree_paths,
    )


def _record(path: str, name: Name, file: FileRead | None, now_ms: int) -> FileRecord:
    if file is None:
        return FileRecord(path, name.agent_id, 0, 0, 0, 0, "", RULES, "unreadable", "", now_ms)
    return FileRecord(
        path, name.agent_id, file.size, file.mtime_ns, file.ctime_ns, file.ino, file.sha256, RULES, "ok", "", now_ms
    )
