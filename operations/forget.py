"""`forget`: a fact leaves this device, its log and, through tombstones, every other device."""

import asyncio
from collections.abc import Sequence

from ..crash import crash_point
from ..errors import AccessError, NoInputError, UsageError
from ..ingest.parse import parse_statement
from ..model import fact_id
from ..store import Store, Tx
from ..store.forget import Place, forget_fact
from ..store.thread import Priority
from ..store.versions import is_forgotten
from .aliases import resolved
from .change_log import record_forgotten
from .memory import Memory
from .prove import prove
from .requests import ForgetRequest
from .sync_replies import ForgetReply
from .table import Outcome
from .task_file import folder_of, says, task_files

_JOINED = (
    "WITH RECURSIVE joined (id) AS (VALUES (?) UNION"
    " SELECT CASE d.fact_id WHEN joined.id THEN e.value ELSE d.fact_id END FROM joined"
    " CROSS JOIN edits e ON e.agent_id = ? AND e.field = 'merged_into' AND joined.id IN (e.fact_id, e.value)"
    " CROSS JOIN derived d ON d.agent_id = ? AND d.fact_id = e.fact_id AND d.state = 'merged') SELECT id FROM joined"
)
"""A fact and all that stands for it or that it stands for."""


async def forget(memory: Memory, request: ForgetRequest) -> Outcome:
    """Forget the fact, the earlier wordings that it replaced and those joined with it (`only`: this one alone).

    With `prove`, exit code 1 when something that was searched still holds it.
    """
    agent, fact = request.agent_id, named_fact(request.agent_id, request.id, request.text)
    texts = [parse_statement(request.text, "general", 0.5).text] if request.text else []
    facts, said, places = await memory.thread.call(lambda store: _forget(store, agent, fact, only=request.only))
    crash_point("fact forgotten")
    # Reading the notes again masks what hangs on the lines too, such as a fence below.
    await memory.intake.read_again({each.file for each in places})
    crash_point("notes masked")
    memory.free_text.due = True
    await memory.settle()
    # The write-ahead log still holds the old pages until it is folded into the file.
    await memory.thread.call(lambda store: store.execute("PRAGMA wal_checkpoint(TRUNCATE)"))
    duty = await memory.thread.call(
        lambda store: bool(store.execute("SELECT 1 FROM duties WHERE kind = 'snapshot'")), priority=Priority.READ
    )
    still = [_place(each) for each in places] + await asyncio.to_thread(_in_tasks, memory, agent, [*said, *texts])
    reply = ForgetReply(facts, still, duty and memory.sync is not None)
    if request.prove:
        reply.proof = await prove(memory, agent, facts or [fact], list(dict.fromkeys([*said, *texts])))
        reply.log_rewrite_pending = reply.log_rewrite_pending and not reply.proof.gone
    return Outcome(reply, 0 if reply.proof is None or reply.proof.gone else 1)


def _in_tasks(memory: Memory, agent_id: str, texts: Sequence[str]) -> list[str]:
    """Where working tasks still say it: their files are left to whoever works on the task."""
    try:
        files = task_files(folder_of(memory.workspace, agent_id))
    except AccessError:
        return []  # behind a link no task is kept
    return [f"{file.relative_to(memory.workspace).as_posix()}:{line}" for file in files for line in says(file, texts)]


def named_fact(agent_id: str, fact: str, text: str) -> str:
    """The id that a request names, by `--id` or by `--text`; raises `UsageError` unless it is exactly one of them."""
    if bool(fact) == bool(text):
        raise UsageError("Name the fact by --id or by --text.", "memoryd retrieve shows the ids.")
    return fact or fact_id(agent_id, parse_statement(text, "general", 0.5).text)


def _forget(store: Store, agent_id: str, fact: str, *, only: bool) -> tuple[list[str], list[str], list[Place]]:
    """The facts that were forgotten, their words (for a proof, kept nowhere), and where notes still say them."""
    places: list[Place] = []
    fact = resolved(store, agent_id, fact)
    with store.transaction() as tx:
        if not store.execute("SELECT 1 FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact)):
            if is_forgotten(tx, agent_id, fact):
                return [], [], []
            raise NoInputError(f"There is no fact {fact}.", "memoryd retrieve shows the ids.")
        facts = [fact] if only else _all_wordings(tx, agent_id, fact)
        said = [text for each in facts for text in _words(tx, agent_id, each)]
        for each in facts:
            places += forget_fact(tx, agent_id, each)
        record_forgotten(tx, agent_id, facts)
    return facts, said, places


def _words(tx: Tx, agent_id: str, fact: str) -> list[str]:
    rows = tx.execute("SELECT text FROM facts WHERE agent_id = ? AND id = ?", (agent_id, fact))
    return [str(row[0]) for row in rows]


def _all_wordings(tx: Tx, agent_id: str, fact: str) -> list[str]:
    """The fact, what a dream joined with it either way, and the earlier wordings of each (docs/data.md, 6)."""
    joined = [str(row[0]) for row in tx.execute(_JOINED, (fact, agent_id, agent_id))]
    return list(dict.fromkeys(each for one in joined for each in (one, *_earlier_wordings(tx, agent_id, one))))


def _earlier_wordings(tx: Tx, agent_id: str, fact: str) -> list[str]:
    """The retracted facts behind `fact` along its `after` chain, each once (docs/data.md, 6)."""
    found: list[str] = []
    while True:
        rows = tx.execute(
            "SELECT e.value FROM edits e JOIN derived d ON d.agent_id = e.agent_id AND d.fact_id = e.value"
            " WHERE e.agent_id = ? AND e.fact_id = ? AND e.field = 'after' AND d.state = 'retracted'",
            (agent_id, found[-1] if found else fact),
        )
        if not rows or str(rows[0][0]) in (*found, fact):
            return found
        found.append(str(rows[0][0]))


def _place(each: Place) -> str:
    lines = str(each.line_from) if each.line_from == each.line_to else f"{each.line_from}-{each.line_to}"
    return f"{each.file}:{lines}"
