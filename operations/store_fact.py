"""`store`: one fact by command."""

import msgspec

from ..crash import crash_point
from ..errors import UsageError
from ..ingest.mask import mask_text
from ..ingest.parse import parse_statement
from ..model import COMMAND_PATH, Metadata, ParsedMention, fact_id
from ..store import Store, Tx
from ..store.thread import Priority
from ..store.versions import state_fact
from ..tiers.changes import now_as_date, withdraw_links
from .claims import claim
from .forgotten_words import Guard
from .memory import Memory
from .replies import StoreReply
from .requests import StoreRequest


async def store(memory: Memory, request: StoreRequest, *, kind: str = "") -> StoreReply:
    """Store the fact; storing it again changes nothing but what was given anew.

    `kind` is what the caller knows it to be, whatever its words say.
    """
    mention = parse_statement(request.text, request.category, request.importance)
    if not mention.text:
        raise UsageError("The text holds no words.", "Give one sentence: --text 'Prefers tea over coffee'.")
    mention.kind = kind or mention.kind
    mention.metadata = _merged(mention.metadata, request)
    fact = fact_id(request.agent_id, mention.text)
    await memory.thread.call(lambda store: _write(store, request, mention))
    crash_point("fact stored")
    await memory.settle([request.agent_id])
    tier = await memory.thread.call(lambda store: _tier(store, request.agent_id, fact), priority=Priority.READ)
    return StoreReply(
        id=fact,
        category=mention.category,
        tier=tier,
        metadata={name: getattr(mention.metadata, name) for name in ("urls", "commands", "paths")},
        cold_synced=memory.sync is not None and memory.sync.status.pending_rows == 0,
    )


def _merged(found: Metadata, request: StoreRequest) -> Metadata:
    """What was given explicitly stands first, masked like everything that comes in; what the text holds follows."""
    return msgspec.structs.replace(
        found,
        urls=list(dict.fromkeys([*map(_masked, request.url), *found.urls])),
        commands=list(dict.fromkeys([*map(_masked, request.command), *found.commands])),
        paths=list(dict.fromkeys([*map(_masked, request.path), *found.paths])),
    )


def _masked(given: str) -> str:
    return mask_text(given)[0]


def _write(store: Store, request: StoreRequest, mention: ParsedMention) -> None:
    agent_id = request.agent_id
    with store.transaction() as tx:
        # Asked before the command ran, too; but a forget may have come between.
        Guard(tx, agent_id).refuse([request.text])
        state_fact(
            tx, agent_id, mention.text, mention.category, mention.importance, mention.metadata, kind=mention.kind,
            task_state=mention.task_state, date=_said_again(tx, agent_id, mention),
        )  # fmt: skip


def _said_again(tx: Tx, agent_id: str, mention: ParsedMention) -> str:
    """When a known fact is said by this command: now, where it gave way or may have to; it is current again at once."""
    fact = fact_id(agent_id, mention.text)
    found = tx.execute(
        "SELECT coalesce(max(m.date), '') FROM derived d LEFT JOIN mentions m ON m.agent_id = d.agent_id"
        " AND m.fact_id = d.fact_id AND m.path = ? AND m.device = ?"
        " WHERE d.agent_id = ? AND d.fact_id = ? GROUP BY d.n",
        (COMMAND_PATH, tx.device, agent_id, fact),
    )
    gave_way = withdraw_links(tx, agent_id, fact)
    if found and (gave_way or claim(mention.text, mention.category) is not None):
        return now_as_date(tx)
    return str(found[0][0]) if found else ""


def _tier(store: Store, agent_id: str, fact: str) -> str:
    rows = store.execute("SELECT tier FROM derived WHERE agent_id = ? AND fact_id = ?", (agent_id, fact))
    return str(rows[0][0]) if rows else "cold"
