"""`forget --prove`: looks through every place that could still hold what was forgotten, and says what it cannot see."""

import asyncio
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path

from ..ingest.parse import parse_note
from ..model import fact_id
from ..store import Store
from ..store.chunks import lines_saying
from ..store.thread import Priority
from ..sync.proof import Searched, search_logs, search_picture
from .memory import Memory
from .progress import report_progress
from .sync_replies import Proof

_BY_FACT = {
    "facts": "id", "mentions": "fact_id", "edits": "fact_id", "access": "fact_id", "hot_items": "key",
    "derived": "fact_id", "probes": "fact_id",
}  # fmt: skip
_BY_WORDS = {
    "facts": "text", "hot_items": "value", "blocks": "body", "undo_log": "before || after", "mentions": "code",
    "edits": "value", "tree_nodes": "description", "turns": "text",
}  # fmt: skip
_FREE_JSON = ("identity", "owner_profile", "projects")
_BATCH = 50


async def prove(memory: Memory, agent_id: str, facts: Sequence[str], texts: Sequence[str]) -> Proof:
    """Look for the facts (and for their words, where known) here and in the cloud, after an exchange with it."""
    says = partial(_says, agent_id=agent_id, facts=frozenset(facts), texts=tuple(texts))
    named = [(agent_id, fact) for fact in facts]
    if memory.sync is not None:
        await memory.sync.exchange()
    here = await memory.thread.call(partial(_search_rows, agent_id=agent_id, facts=facts, texts=texts))
    await _search_notes(memory, here, says)
    searched = [here]
    unsearched = await memory.thread.call(partial(_free_json, agent_id=agent_id), priority=Priority.READ)
    files = await asyncio.to_thread(_copies, memory.places.state, memory.places.database)
    if texts:
        searched.append(await asyncio.to_thread(_search_files, files, texts))
    else:
        unsearched += [f"the file {file.name} beside the database" for file in files]
    if memory.sync is not None:
        rows = 0

        def count(some: int) -> None:
            nonlocal rows
            rows += some
            report_progress(phase="search", done=rows, of=None)

        searched += await search_logs(memory.sync, named, says, count)
        searched.append(await search_picture(memory.sync, named, texts))
    return Proof(
        gone=not any(each.holds for each in searched),
        checked=searched,
        not_searched=unsearched,
        beyond_us="The notes themselves, backups that the cloud's provider keeps, and copies that somebody made.",
    )


def _says(data: bytes, agent_id: str, facts: frozenset[str], texts: tuple[str, ...]) -> bool:
    if any(lines_saying(data, text) for text in texts):
        return True
    parsed = parse_note(
        data, path="memory/text.md", agent_id=agent_id, date="", is_page=False, max_bytes=max(len(data), 1)
    )
    return any(fact_id(agent_id, each.text) in facts for each in parsed.mentions)


def _search_rows(store: Store, agent_id: str, facts: Sequence[str], texts: Sequence[str]) -> Searched:
    found = Searched("this device's database")
    for table, column in _BY_FACT.items():
        for fact in facts:
            sql = f"SELECT count(*) FROM {table} WHERE agent_id = ? AND {column} = ?"
            ((count,),) = store.execute(sql, (agent_id, fact))
            if isinstance(count, int) and count:
                found.holds.append(f"{count} rows of {table}")
    for table, column in _BY_WORDS.items():
        for text in texts:
            ((count,),) = store.execute(f"SELECT count(*) FROM {table} WHERE instr({column}, ?) > 0", (text,))
            if isinstance(count, int) and count:
                found.holds.append(f"{count} rows of {table} say it")
    return found


async def _search_notes(memory: Memory, found: Searched, says: Callable[[bytes], bool]) -> None:
    after = ""
    while chunks := await memory.thread.call(partial(_chunks, after=after), priority=Priority.BULK):
        after = chunks[-1][0]
        held = await asyncio.to_thread(lambda some: sum(says(data) for _, data in some), chunks)
        if held:
            found.holds.append(f"{held} pieces of stored note text")


def _chunks(store: Store, after: str) -> list[tuple[str, bytes]]:
    rows = store.execute("SELECT sha256, data FROM chunks WHERE sha256 > ? ORDER BY sha256 LIMIT ?", (after, _BATCH))
    return [(str(sha), data) for sha, data in rows if isinstance(data, bytes)]


def _free_json(store: Store, agent_id: str) -> list[str]:
    rows = store.execute(
        "SELECT section, key FROM hot_items WHERE agent_id = ? AND deleted = 0"
        " AND section IN (SELECT value FROM json_each(?)) ORDER BY section, key",
        (agent_id, '["' + '","'.join(_FREE_JSON) + '"]'),
    )
    return [f"hot state {section!s} {key!s}: free text, where other words may say the same" for section, key in rows]


def _copies(state: Path, database: Path) -> list[Path]:
    """Copies of a memory: local snapshots, a damaged file that is kept, one from before an upgrade, a comparison's."""
    ours = {database, *(database.with_name(database.name + ending) for ending in ("-wal", "-shm"))}
    copies = {*state.rglob(f"{database.stem}*"), *state.rglob("*.db*")} - ours
    return sorted(file for file in copies if file.is_file())


def _search_files(files: Collection[Path], texts: Sequence[str]) -> Searched:
    found = Searched("copies of the database")
    for file in files:
        data = file.read_bytes()
        if any(text.encode() in data for text in texts):
            found.holds.append(file.name)
    return found
