"""Taking another device id, and taking over from another device (docs/data.md, 6)."""

from collections.abc import Iterable

import msgspec

from .fold import move_cursor
from .fold_rows import touch_notes_of
from .forget import DUTY_SNAPSHOT, add_duty
from .log import device_row, predecessors
from .store import Store, Tx, new_device_id

_JSON = msgspec.json.Encoder()

COMPARE_WITH = "compare_with"
"""Key in `meta`: the former id, until somebody has said which of its notes this disk lacks or holds differently."""


def take_new_id(store: Store, *, log_is_lost: bool = False) -> tuple[str, str]:
    """Go on under a new device id, in one transaction; returns `(new, former)`.

    Own notes and mentions move to the new id, everything of this device's log is sent again under it,
    and the former log is folded like any other from its beginning; own reads stay behind in it. The new id
    succeeds the former one, also where somebody else did so already: it has every note of it, so a line that
    is removed here later does not live on in the former log. With `log_is_lost` own reads move too.
    """
    former, new = store.device, new_device_id()
    with store.transaction() as tx:
        if log_is_lost:
            tx.run("UPDATE access SET device = ? WHERE device = ?", (new, former))
        _move_rows(tx, former, new)
        _introduce(tx, former, new)
        tx.set_meta("device", new)
        tx.set_meta("pushed_rev", "0")
        tx.set_meta(COMPARE_WITH, former)
        move_cursor(tx, former, 0, "")
        touch_notes_of(tx, [new])
    store.change_device(new)
    with store.transaction() as tx:
        look_after_logs(tx)
    return new, former


def successor_of_this(store: Store) -> str:
    """A device that took over from this one, '' if none did."""
    rows = store.execute(
        "SELECT device FROM devices WHERE device <> ? AND EXISTS (SELECT 1 FROM json_each(succeeds) WHERE value = ?)",
        (store.device, store.device),
    )
    return str(rows[0][0]) if rows else ""


def take_over(tx: Tx, devices: Iterable[str]) -> None:
    """Say that this device succeeds others: where it has a note of the same path, their mentions no longer count."""
    known = device_row(tx.store, tx.device)
    before = known.succeeds if known else []
    now = [*before, *(each for each in devices if each not in before and each != tx.device)]
    if now == before:
        return
    tx.run("UPDATE devices SET succeeds = ?, rev = ? WHERE device = ?", (_json(now), tx.next_rev(), tx.device))
    touch_notes_of(tx, now)
    look_after_logs(tx)


def look_after_logs(tx: Tx) -> None:
    """What was forgotten before this device took over may still stand in the logs that it looks after now."""
    if tx.execute("SELECT 1 FROM forgotten WHERE version > lifted_version LIMIT 1"):
        for device in predecessors(tx.store):
            add_duty(tx, DUTY_SNAPSHOT, device)


def _move_rows(tx: Tx, former: str, new: str) -> None:
    for table in ("notes", "mentions"):
        tx.run(f"UPDATE {table} SET device = ? WHERE device = ?", (new, former))
    tx.run("INSERT OR IGNORE INTO dirty SELECT agent_id, fact_id FROM access WHERE device = ?", (former,))
    tx.run("DELETE FROM access WHERE device = ?", (former,))


def _introduce(tx: Tx, former: str, new: str) -> None:
    known = device_row(tx.store, former)
    name, platform = (known.name, known.platform) if known else ("unnamed", "")
    extra = known.notes_extra if known else []
    tx.run("UPDATE devices SET rev = 0 WHERE device = ?", (former,))
    tx.run(
        "INSERT INTO devices VALUES (?, ?, ?, ?, ?, ?, ?)",
        (new, name, platform, tx.store.clock.now_ms(), _json(extra), _json([former]), tx.next_rev()),
    )


def _json(value: list[str]) -> str:
    return _JSON.encode(value).decode()
