"""What the cloud's side looks like right now; the state is computed, never stored (docs/cli.md)."""

import msgspec

from ..errors import AuthRequiredError, CloudStoppedError, MemorydError, ReadOnlyError
from ..model import SyncState
from ..store import Store

_DRILL = "drill"
"""Key in `meta`."""


class Drilled(msgspec.Struct):
    """The last restore that was tried out; times in ms. `differences` is empty when it was proven.

    `searches` were asked of both memories; `proven_at` is when a restore was proven last, 0 if none ever was.
    """

    at: int
    seconds: float
    differences: list[str]
    searches: int = 0
    proven_at: int = 0


def last_drill(store: Store) -> Drilled | None:
    """The last restore drill of this memory, None if there was none."""
    said = store.meta(_DRILL)
    return msgspec.json.decode(said, type=Drilled) if said else None


def remember_drill(store: Store, drilled: Drilled) -> Drilled:
    """Keep how the last drill went, and when one went well."""
    before = last_drill(store)
    drilled.proven_at = (before.proven_at if before else 0) if drilled.differences else drilled.at
    with store.transaction() as tx:
        tx.set_meta(_DRILL, msgspec.json.encode(drilled).decode())
    return drilled


class SyncStatus(msgspec.Struct):
    """Plain numbers, kept current by `SyncService`; read at any moment without the store.

    `last_ok_at` in epoch seconds, `retry_at` in monotonic seconds.
    """

    pending_rows: int = 0
    picture_pending: int = 0
    bytes_today: int = 0
    memory_hash: str | None = None
    last_ok_at: float | None = None
    problem: MemorydError | None = None
    """What the last exchange failed with; None after one that succeeded."""
    attempts: int = 0
    """How many exchanges failed since the last one that succeeded."""
    retry_at: float | None = None
    faults: dict[str, str] = {}
    """Logs that stopped: device and reason."""
    last_drill: Drilled | None = None
    """The last proven restore, or how it failed; None if none was ever tried."""
    as_of_reaches: float | None = None
    """How far back `restore --as-of` reaches for this device's log [epoch seconds, the cloud's clock]."""
    plain_logs: list[str] = []
    """With encryption: devices whose logs are not encrypted with the cloud's key yet."""
    notices: list[str] = []
    """Things that happened and that a person should know, oldest first: a new device id, and why."""

    @property
    def state(self) -> SyncState:
        """One word for people and programs."""
        if isinstance(self.problem, CloudStoppedError):
            return "stopped"
        if isinstance(self.problem, AuthRequiredError):
            return "auth_required"
        if isinstance(self.problem, ReadOnlyError):
            return "read_only"
        if self.problem is not None:
            return "backoff"
        return "pending" if self.pending_rows or self.last_ok_at is None else "ok"

    @property
    def last_error(self) -> str | None:
        """The last exchange's error as one sentence."""
        return self.problem.message if self.problem else None

    def next_retry_in_s(self, now: float) -> float | None:
        """Seconds until the next try after a failure; `now` in monotonic seconds."""
        return None if self.retry_at is None else round(max(0.0, self.retry_at - now), 1)
