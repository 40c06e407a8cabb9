"""`session`: the last talks of an agent, for a short while and on this device only (docs/memory.md, 3).

Nothing of a session is sent or becomes a fact by itself; what should stay is given as `--summary` and stored.
"""

from datetime import UTC, datetime

from ..errors import NoInputError, UsageError
from ..ingest.mask import mask_text
from ..ingest.parse import parse_note
from ..model import MASK_FORGOTTEN, fact_id
from ..store import Store, Tx
from ..store.chunks import mask_lines
from ..store.sessions import SESSION_BYTES, Session, add_turn, end_session, let_go, sessions, turns
from ..store.thread import Priority
from ..store.versions import is_forgotten
from .forgotten_words import Guard
from .layer_replies import SessionInfo, SessionListReply, SessionReply, Turn
from .layer_requests import SessionRequest
from .memory import Memory
from .requests import StoreRequest
from .store_fact import store

BODY_BYTES = 1_000_000
"""More than any request's text."""


async def session(memory: Memory, request: SessionRequest) -> SessionReply | SessionListReply:
    """Perform one action; sessions whose time has come are let go of on the way."""
    _check(request)
    agent = request.agent_id
    if request.action == "list":
        found = await memory.thread.call(lambda store: sessions(store, agent), priority=Priority.READ)
        return SessionListReply([_info(each) for each in found])
    if request.action == "show":
        return await memory.thread.call(lambda store: _shown(store, agent, request.name), priority=Priority.READ)
    if request.action == "add":
        return await memory.thread.call(lambda store: _add(store, request))
    fact = None
    if request.summary:
        await memory.thread.call(lambda store: _shown(store, agent, request.name), priority=Priority.READ)
        asked = StoreRequest(agent_id=agent, text=request.summary, category=request.category, importance=0.5)
        fact = (await store(memory, asked)).id
    return await memory.thread.call(lambda store: _end(store, request, fact))


def _check(request: SessionRequest) -> None:
    if request.action == "add" and not request.text.strip():
        raise UsageError("There is nothing to add.", "Give --text, and --role for who said it.")
    for action, given in (("add", request.text), ("end", request.summary)):
        if given and request.action != action:
            raise UsageError(f"--{'text' if action == 'add' else 'summary'} goes with session {action}.", "See --help.")
    for what in (request.name, request.role):
        if not what.isprintable() or what != what.strip() or mask_text(what)[1]:
            raise UsageError("Names and roles are plain words.", "One line, without blanks around it and secrets.")


def _add(store: Store, request: SessionRequest) -> SessionReply:
    agent = request.agent_id
    text, masked = mask_text(request.text.replace("\0", "\ufffd").strip())
    with store.transaction() as tx:
        text = _without_forgotten(tx, agent, text)
        size = len(text.encode())
        if size > SESSION_BYTES:
            raise UsageError(
                f"The turn has {size:,} bytes, a session {SESSION_BYTES:,}; nothing was added.",
                "Give a shorter account of it, or keep it as a note.",
            )
        name = request.name or _current(store, agent) or _new_name(store, agent)
        left_out, gone = add_turn(tx, agent, name, request.role, text)
    reply = _shown(store, agent, name)
    reply.masked, reply.left_out, reply.let_go = masked, left_out, gone
    return reply


def _end(store: Store, request: SessionRequest, fact: str | None) -> SessionReply:
    reply = _shown(store, request.agent_id, request.name)
    with store.transaction() as tx:
        end_session(tx, request.agent_id, reply.session.name)
        gone = let_go(tx, request.agent_id)
    reply.session.ended, reply.fact, reply.let_go = True, fact, gone
    return reply


def _shown(store: Store, agent_id: str, name: str) -> SessionReply:
    """The session of that name, or the latest that has not ended, else the latest."""
    found = sessions(store, agent_id)
    if not name:
        name = _current(store, agent_id) or (found[0].name if found else "")
    one = next((each for each in found if each.name == name), None)
    if one is None:
        raise NoInputError(
            f"There is no session {name!r}." if name else "There is no session.", "memoryd session list shows them."
        )
    said = [Turn(at / 1000, role, text) for at, role, text in turns(store, agent_id, name)]
    return SessionReply(_info(one), said, SESSION_BYTES)


def _current(store: Store, agent_id: str) -> str:
    return next((each.name for each in sessions(store, agent_id) if not each.ended), "")


def _new_name(store: Store, agent_id: str) -> str:
    taken = {each.name for each in sessions(store, agent_id)}
    stem = datetime.fromtimestamp(store.clock.now_ms() / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return next(name for n in range(len(taken) + 1) if (name := f"{stem}-{n}" if n else stem) not in taken)


def _without_forgotten(tx: Tx, agent_id: str, text: str) -> str:
    """The text with lines that say something forgotten masked, as in a note; all of it where no line says it alone."""
    guard = Guard(tx, agent_id)
    text = _masked(text, _forgotten_lines(tx, agent_id, text))
    text = _masked(text, [number for number, line in enumerate(text.split("\n"), 1) if guard.stops(line)])
    return MASK_FORGOTTEN if guard.stops(text) else text


def _masked(text: str, lines: list[int]) -> str:
    return mask_lines(text.encode(), [(line, line) for line in lines]).decode()


def _forgotten_lines(tx: Tx, agent_id: str, text: str) -> list[int]:
    """Numbers, from 1, of those lines of a text that would be something forgotten if they stood in a note."""
    parsed = parse_note(
        text.encode(), path="memory/talk.md", agent_id=agent_id, date="", is_page=False, max_bytes=BODY_BYTES
    )
    gone = {n for n, each in enumerate(parsed.mentions) if is_forgotten(tx, agent_id, fact_id(agent_id, each.text))}
    return [number for number, (_, owner) in enumerate(parsed.lines, 1) if owner in gone]


def _info(each: Session) -> SessionInfo:
    return SessionInfo(
        each.name,
        each.started_at / 1000,
        each.last_at / 1000,
        each.ended,
        each.turns,
        each.size,
        each.expires_ms / 1000,
    )
