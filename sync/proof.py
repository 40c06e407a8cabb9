"""Looking for forgotten facts in everything that the cloud holds: what `forget --prove` stands on."""

import asyncio
from collections.abc import Callable, Collection

import msgspec

from ..model import AccessRow, ChunkRow, EditRow, FactRow, HotItemRow, MentionRow, Row
from .cloud import fetch_after, read_cloud
from .hrana import CloudError, Statement
from .service import SyncService
from .wire import SegmentError, check_cloud, unpack

_NAMED_PLACES = 5
"""Places of one log that are named; more would only bury them."""

_IN_ROWS = (
    "SELECT count(*) FROM cold_memories c WHERE c.id IN (SELECT value FROM json_each(?))"
    " OR EXISTS (SELECT 1 FROM json_each(?) j WHERE instr(c.text, j.value) > 0)"
)
_IN_STATE = (
    "SELECT count(*) FROM critical_state c WHERE EXISTS (SELECT 1 FROM json_each(?) j WHERE instr(c.data, j.value) > 0)"
)

Fact = tuple[str, str]
"""Agent and fact id."""


class Searched(msgspec.Struct):
    """One store that was looked through, and what in it still holds a forgotten fact."""

    where: str
    holds: list[str] = []


async def search_logs(
    service: SyncService, facts: Collection[Fact], says: Callable[[bytes], bool], on_rows: Callable[[int], None]
) -> list[Searched]:
    """Read every segment of every log; `says` tells whether a piece of a note's text holds one of the facts.

    A segment that cannot be read counts as holding: nobody can say that it does not.
    """
    state = await read_cloud(service.client)
    if state.value:
        check_cloud(state.value, "", service.keys)
    found: list[Searched] = []
    for device, head in sorted(state.heads.items()):
        log = Searched(f"the log of device {device}")
        idx = 0
        while idx < head.idx and (segments := await fetch_after(service.client, device, idx)):
            for segment in segments:
                idx = segment.idx
                try:
                    rows = await asyncio.to_thread(unpack, segment, service.keys)
                except SegmentError as error:
                    _note(log, str(error))
                    continue
                kinds = await asyncio.to_thread(_kinds_holding, rows, frozenset(facts), says)
                _note(log, *(f"segment {idx}: {kind}" for kind in kinds))
                on_rows(len(rows))
        found.append(log)
    return found


async def search_picture(service: SyncService, facts: Collection[Fact], texts: Collection[str]) -> Searched:
    """Look through the readable tables beside the logs."""
    picture = Searched("the picture (cold_memories, critical_state)")
    ids = msgspec.json.encode([fact for _, fact in facts]).decode()
    words = msgspec.json.encode(list(texts)).decode()
    asked = (("cold_memories", _IN_ROWS, (ids, words)), ("critical_state", _IN_STATE, (words,)))
    for table, sql, args in asked:
        try:
            (result,) = await service.client.query(Statement(sql, args))
        except CloudError as error:
            if not error.missing_table:
                raise
            continue
        count = result.rows[0][0]
        if isinstance(count, int) and count:
            picture.holds.append(f"{count} rows of {table}")
    return picture


def _note(log: Searched, *what: str) -> None:
    log.holds.extend(what[: max(0, _NAMED_PLACES - len(log.holds))])


def _kinds_holding(rows: list[Row], facts: frozenset[Fact], says: Callable[[bytes], bool]) -> list[str]:
    return sorted({kind for row in rows if (kind := _holding(row, facts, says))})


def _holding(row: Row, facts: frozenset[Fact], says: Callable[[bytes], bool]) -> str:
    """In which way a row holds one of the facts, '' if it does not. A tombstone holds no words."""
    if isinstance(row, ChunkRow):
        return "the text of a note" if says(row.data) else ""
    if isinstance(row, FactRow):
        named, kind = (row.agent_id, row.id), "the fact"
    elif isinstance(row, MentionRow | EditRow | AccessRow):
        named, kind = (row.agent_id, row.fact_id), "what was said of it"
    elif isinstance(row, HotItemRow):
        named, kind = (row.agent_id, row.key), "hot state"
    else:
        return ""
    return kind if named in facts else ""
