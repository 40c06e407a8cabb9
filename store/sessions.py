"""Sessions: the last talks of an agent, a rolling window of 5 × 2 KB × 7 days that never leaves this device."""

from collections.abc import Sequence
from typing import Any

import msgspec

from ..clock import MS_PER_DAY
from .chunks import lines_saying, mask_lines
from .store import Store, Tx

SESSIONS = 5
"""Sessions of an agent; a further one makes the oldest go."""
SESSION_BYTES = 2_048
"""Of UTF-8 text in one session; a further turn makes the oldest ones go."""
SESSION_DAYS = 7
"""A session is let go of so many UTC days after its last turn."""


class Session(msgspec.Struct):
    """One session; times in ms since the epoch, `size` in bytes of its turns' text."""

    name: str
    started_at: int
    last_at: int
    ended: bool
    turns: int
    size: int

    @property
    def expires_ms(self) -> int:
        """The midnight (UTC) at which it is let go of."""
        return (self.last_at // MS_PER_DAY + SESSION_DAYS + 1) * MS_PER_DAY


def sessions(store: Store, agent_id: str) -> list[Session]:
    """The sessions of an agent that are kept today, the latest first."""
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT s.name, s.started_at, s.last_at, s.ended, count(t.n), coalesce(sum(octet_length(t.text)), 0)"
        " FROM sessions s LEFT JOIN turns t ON t.agent_id = s.agent_id AND t.name = s.name"
        " WHERE s.agent_id = ? GROUP BY s.name ORDER BY s.last_at DESC, s.name DESC",
        (agent_id,),
    )
    found = [Session(name, start, last, bool(ended), turns, size) for name, start, last, ended, turns, size in rows]
    return [each for each in found if each.expires_ms > store.clock.now_ms()]


def turns(store: Store, agent_id: str, name: str) -> list[tuple[int, str, str]]:
    """`(time [ms], role, text)` of one session, in order."""
    rows: list[tuple[Any, ...]] = store.execute(
        "SELECT at, role, text FROM turns WHERE agent_id = ? AND name = ? ORDER BY n", (agent_id, name)
    )
    return [(at, role, text) for at, role, text in rows]


def add_turn(tx: Tx, agent_id: str, name: str, role: str, text: str) -> tuple[int, list[str]]:
    """Append a turn that fits into a session; returns how many older turns made room, and which sessions did."""
    now = tx.store.clock.now_ms()
    tx.run(
        "INSERT INTO sessions VALUES (?, ?, ?, ?, 0) ON CONFLICT (agent_id, name) DO UPDATE SET"
        " last_at = max(last_at, excluded.last_at), ended = 0",
        (agent_id, name, now, now),
    )
    ((last,),) = tx.execute("SELECT max(n) FROM turns WHERE agent_id = ? AND name = ?", (agent_id, name))
    n = last + 1 if isinstance(last, int) else 0
    tx.run("INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?)", (agent_id, name, n, now, role, text))
    return _make_room(tx, agent_id, name), let_go(tx, agent_id, keep=name)


def end_session(tx: Tx, agent_id: str, name: str) -> None:
    """The talk is over; it stays until its time has come."""
    tx.run("UPDATE sessions SET ended = 1 WHERE agent_id = ? AND name = ?", (agent_id, name))


def let_go(tx: Tx, agent_id: str, keep: str = "") -> list[str]:
    """Remove the sessions that are too old or too many, never `keep`; returns their names."""
    kept = [each.name for each in sessions(tx.store, agent_id)]
    kept = ([keep] if keep in kept else []) + [name for name in kept if name != keep]
    rows = tx.execute("SELECT name FROM sessions WHERE agent_id = ? ORDER BY name", (agent_id,))
    gone = [str(name) for (name,) in rows if name not in kept[:SESSIONS]]
    for name in gone:
        for table in ("turns", "sessions"):
            tx.run(f"DELETE FROM {table} WHERE agent_id = ? AND name = ?", (agent_id, name))
    return gone


def session_agents(store: Store) -> list[str]:
    """Every agent that has a session."""
    return [str(row[0]) for row in store.execute("SELECT DISTINCT agent_id FROM sessions ORDER BY agent_id")]


def mask_turns(tx: Tx, agent_id: str, texts: Sequence[str]) -> None:
    """Replace the lines of an agent's turns that say one of these sentences by `[forgotten]`."""
    rows: list[tuple[Any, ...]] = tx.execute("SELECT name, n, text FROM turns WHERE agent_id = ?", (agent_id,))
    for name, n, text in rows:
        body = text.encode()
        for words in texts:
            body = mask_lines(body, lines_saying(body, words))
        if body != text.encode():
            tx.run(
                "UPDATE turns SET text = ? WHERE agent_id = ? AND name = ? AND n = ?",
                (body.decode(), agent_id, name, n),
            )


def _make_room(tx: Tx, agent_id: str, name: str) -> int:
    rows: list[tuple[Any, ...]] = tx.execute(
        "SELECT n, octet_length(text) FROM turns WHERE agent_id = ? AND name = ? ORDER BY n DESC", (agent_id, name)
    )
    room, left_out = SESSION_BYTES, 0
    for n, size in rows:
        room -= size
        if room < 0:
            tx.run("DELETE FROM turns WHERE agent_id = ? AND name = ? AND n = ?", (agent_id, name, n))
            left_out += 1
    return left_out
