"""What the commands of the layers answer: working tasks, sessions, dreams."""

from typing import Any

import msgspec


class TaskInfo(msgspec.Struct):
    """A working task; times in epoch seconds, sizes in bytes, `file` relative to the workspace."""

    name: str
    file: str
    status: str
    goal: str
    created_at: float
    updated_at: float
    notes: int
    size_bytes: int


class TaskReply(msgspec.Struct):
    """One task as its file has it; `facts` became of it (finish), `masked` secrets are not in the file."""

    name: str
    file: str
    size_bytes: int
    max_bytes: int
    task: dict[str, Any]
    facts: list[str] = []
    masked: int = 0
    removed: bool = False


class TaskListReply(msgspec.Struct):
    """All tasks of an agent, the latest first; `damaged` files have a path and a reason and are left alone."""

    tasks: list[TaskInfo]
    damaged: list[dict[str, str]]


class SessionInfo(msgspec.Struct):
    """A session; times in epoch seconds. `expires_at` is the midnight (UTC) at which it is let go of."""

    name: str
    started_at: float
    last_at: float
    ended: bool
    turns: int
    size_bytes: int
    expires_at: float


class Turn(msgspec.Struct):
    """What one side said; `at` in epoch seconds."""

    at: float
    role: str
    text: str


class SessionReply(msgspec.Struct):
    """One session; `left_out` turns had to make room, `let_go` names sessions that did, `fact` came of a summary."""

    session: SessionInfo
    turns: list[Turn]
    max_bytes: int
    masked: int = 0
    left_out: int = 0
    let_go: list[str] = []
    fact: str | None = None


class SessionListReply(msgspec.Struct):
    """The sessions that are kept, the latest first."""

    sessions: list[SessionInfo]


class DreamStep(msgspec.Struct):
    """One step: `parts` gave way to `fact`; `change` is its number for `undo`, 0 in a dry run."""

    step: str
    fact: str
    text: str
    parts: list[dict[str, str]]
    change: int = 0


class DreamReply(msgspec.Struct):
    """A dream; `at` in epoch seconds. Counts are of facts; `layers` counts the live facts of each.

    `archived` and `faded` facts are those that time has moved there since the dream before; at most 100 `steps`
    are listed.
    """

    agent_id: str
    at: float
    dry_run: bool
    deep: bool
    seconds: float = 0.0
    looked_at: int = 0
    consolidated: int = 0
    merged: int = 0
    superseded: int = 0
    archived: int = 0
    faded: int = 0
    paused: int = 0
    layers: dict[str, int] = {}
    steps: list[DreamStep] = []


class DreamLogRow(msgspec.Struct):
    """What a dream did to one fact; `at` in epoch seconds, `change` its number for `undo`, 0 where only time did it."""

    n: int
    at: float
    step: str
    fact_id: str
    before: dict[str, Any]
    after: dict[str, Any]
    change: int
    undone: bool


class DreamLogReply(msgspec.Struct):
    """What dreams did, the newest first."""

    log: list[DreamLogRow]
