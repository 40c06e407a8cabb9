"""`ledger`: what became of each line of a file (docs/data.md, 3). Computed anew, joined with the store."""

from collections.abc import Sequence

import msgspec

from ..model import LineState, fact_id
from ..store import Store
from ..store.thread import Priority
from .memory import Memory
from .named_file import NamedFile, named_file
from .replies import LedgerLine, LedgerReply
from .why_requests import LedgerRequest

_JSON = msgspec.json.Encoder()


async def ledger(memory: Memory, request: LedgerRequest) -> LedgerReply:
    """One state a line; the totals sum to the number of lines. Of a file too large to parse, the totals alone."""
    file = await named_file(memory, request.file, request.agent_id)
    ids = [fact_id(file.agent_id, mention.text) for mention in file.parsed.mentions]
    forgotten, elsewhere = await memory.thread.call(
        lambda store: _known(store, file, sorted(set(ids))), priority=Priority.READ
    )
    lines: list[LedgerLine] = []
    for number, (state, at) in enumerate(file.parsed.lines, 1):
        fact = ids[at] if at >= 0 else ""
        lines.append(LedgerLine(number, _state(state, fact, forgotten, elsewhere), fact or None))
    totals: dict[str, int] = {"too_large": file.parsed.whole} if file.parsed.whole else {}
    for line in lines:
        totals[line.state] = totals.get(line.state, 0) + 1
    return LedgerReply(file.path, lines, totals)


def _state(state: LineState, fact: str, forgotten: set[str], elsewhere: set[str]) -> LineState:
    if fact in forgotten:
        return "forgotten"
    if state == "fact" and fact in elsewhere:
        return "duplicate"
    return state


def _known(store: Store, file: NamedFile, ids: Sequence[str]) -> tuple[set[str], set[str]]:
    """Which of the facts were forgotten, and which stood in an earlier note before this one."""
    keys = _JSON.encode(ids).decode()
    forgotten = store.execute(
        "SELECT fact_id FROM forgotten WHERE agent_id = ? AND version > lifted_version AND moved_to = ''"
        " AND fact_id IN (SELECT value FROM json_each(?))",
        (file.agent_id, keys),
    )
    elsewhere = store.execute(
        "SELECT fact_id FROM mentions WHERE agent_id = ? AND device = ? AND path <> ''"
        " AND fact_id IN (SELECT value FROM json_each(?)) GROUP BY fact_id HAVING min(substr(date, 1, 10) || path) < ?",
        (file.agent_id, store.device, keys, _place(store, file)),
    )
    return {str(row[0]) for row in forgotten}, {str(row[0]) for row in elsewhere}


def _place(store: Store, file: NamedFile) -> str:
    rows = store.execute(
        "SELECT min(substr(date, 1, 10) || path) FROM mentions WHERE agent_id = ? AND device = ? AND path = ?",
        (file.agent_id, store.device, file.path),
    )
    return str(rows[0][0] or "")
