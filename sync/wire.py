"""The form of a log in the cloud: rows as JSON lines, compressed into segments that are chained by their hashes.

What stands here cannot be changed later without raising `WIRE` (docs/data.md, 4).
"""

import asyncio
import hashlib
import re
import zlib
from collections.abc import Iterable

import msgspec

from ..errors import CloudStoppedError
from ..model import (
    AccessRow,
    DeviceRow,
    EditRow,
    ForgottenRow,
    HotItemRow,
    MentionRow,
    NoteRow,
    Row,
    TreeNodeRow,
)
from .seal import NO_KEYS, KeyRing, SealError, is_sealed

WIRE = 1
PLAIN = "plain"
"""The key id of a cloud without encryption."""
MAX_SEGMENT_BYTES = 1_000_000
MAX_UNPACKED_BYTES = 64_000_000
"""A payload that unpacks to more was not written by us."""

_VERSION = re.compile(r"\d{13}-\d{6}-[0-9a-zA-Z]{1,16}\Z")
_encoder = msgspec.json.Encoder()
_decoder = msgspec.json.Decoder(Row)
_OWN_ROWS = (NoteRow, MentionRow, AccessRow, DeviceRow)


class SegmentError(Exception):
    """A segment is not what its device wrote; the message says in which way."""


class Segment(msgspec.Struct, frozen=True):
    """One row of the cloud's `segments`; `at` is the cloud's time of it [ms].

    `first`, `part`, `parts` are set for the parts of a snapshot.
    """

    device: str
    idx: int
    prev: str
    sha256: str
    payload: bytes
    rows: int = 0
    first: int | None = None
    part: int | None = None
    parts: int | None = None
    at: int = 0


class Head(msgspec.Struct, frozen=True):
    """The last segment of a log; `at` is the cloud's time of it [ms], `key_id` what it is sealed with, '' if plain."""

    device: str
    idx: int
    sha256: str
    at: int = 0
    key_id: str = ""


def encode_rows(rows: Iterable[Row]) -> bytes:
    """JSON lines, one a row."""
    return b"".join(_encoder.encode(row) + b"\n" for row in rows)


def pack(lines: bytes) -> bytes:
    """The payload of JSON lines."""
    return zlib.compress(lines, 6)


def chain_hash(prev: str, payload: bytes) -> str:
    """Hex sha256 over the hash before ('' for the first) and the payload: a log is a chain."""
    return hashlib.sha256(prev.encode("ascii") + payload).hexdigest()


def is_sound(segment: Segment) -> bool:
    """Whether payload and `prev` are the ones its hash was made of."""
    try:
        return chain_hash(segment.prev, segment.payload) == segment.sha256
    except UnicodeEncodeError:
        return False


def unpack(segment: Segment, keys: KeyRing = NO_KEYS) -> list[Row]:
    """The rows of a segment; raises `SegmentError` for anything that its device cannot have written."""
    if not is_sound(segment):
        raise SegmentError(f"segment {segment.idx} is damaged: its hash does not fit")
    lines = _decompressed(segment, _opened(segment, keys))
    try:
        rows = _decoder.decode_lines(lines)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise SegmentError(f"segment {segment.idx} is damaged: {error}") from None
    for row in rows:
        _check(segment, row)
    return rows


async def unpack_all(segments: Iterable[Segment], keys: KeyRing = NO_KEYS) -> list[Row]:
    """The rows of several segments, unpacked beside the loop."""
    rows: list[Row] = []
    for segment in segments:
        rows.extend(await asyncio.to_thread(unpack, segment, keys))
    return rows


def _opened(segment: Segment, keys: KeyRing) -> bytes:
    if not is_sealed(segment.payload):
        return segment.payload
    try:
        return keys.open((segment.device, segment.idx, segment.prev), segment.payload)
    except SealError as error:
        raise SegmentError(f"segment {segment.idx} {error}") from None


def _decompressed(segment: Segment, payload: bytes) -> bytes:
    unpacker = zlib.decompressobj()
    try:
        lines = unpacker.decompress(payload, MAX_UNPACKED_BYTES)
    except zlib.error as error:
        raise SegmentError(f"segment {segment.idx} is damaged: {error}") from None
    if not unpacker.eof:
        raise SegmentError(f"segment {segment.idx} is damaged: it is cut off or too large")
    return lines


def _check(segment: Segment, row: Row) -> None:
    if isinstance(row, _OWN_ROWS) and row.device != segment.device:
        raise SegmentError(f"segment {segment.idx} speaks for another device")
    if isinstance(row, EditRow | HotItemRow | TreeNodeRow | ForgottenRow):
        _check_version(segment, row.version)
        if isinstance(row, ForgottenRow) and row.lifted_version:
            _check_version(segment, row.lifted_version)


def _check_version(segment: Segment, version: str) -> None:
    if not _VERSION.match(version):
        raise SegmentError(f"segment {segment.idx} holds the impossible version {version!r}")


def cloud_value(cloud_id: str, key_id: str = PLAIN) -> str:
    """The value of the cloud's `meta` row: `cloud_id/wire/key_id`."""
    return f"{cloud_id}/{WIRE}/{key_id}"


def key_id_of(value: str) -> str:
    """The key that new segments of a cloud are sealed with; '' for a cloud without encryption."""
    key = value.rpartition("/")[2]
    return "" if key == PLAIN else key


def cloud_id_of(value: str) -> str:
    """Which cloud it is, whatever its key."""
    return value.partition("/")[0]


def check_cloud(value: str, known: str, keys: KeyRing = NO_KEYS) -> None:
    """Raise `CloudStoppedError` unless `value` is a cloud that we can read, and the one we know if we know one.

    A cloud that we know may have got another key since, if this device holds it.
    """
    wire, _, key = value.partition("/")[2].partition("/")
    if known and cloud_id_of(value) != cloud_id_of(known):
        raise CloudStoppedError(
            "The cloud is not the one this device knows.", "Check the URL; local memory is whole and goes on."
        )
    if wire != str(WIRE):
        raise CloudStoppedError(f"The cloud speaks wire version {wire}, this memoryd {WIRE}.", "Update memoryd.")
    if key != PLAIN and key not in keys:
        other = "another key than the one this device has" if keys.newest else "a key that this device does not have"
        raise CloudStoppedError(
            f"The cloud is encrypted with {other}.", "Give it the recovery key: memoryd key init --file FILE"
        )
    if key == PLAIN and (key_id_of(known) or (keys.newest and not known)):
        raise CloudStoppedError(
            "The cloud is not encrypted, but this memory is.",
            "Nothing is sent. Check the URL and who else writes there.",
        )
