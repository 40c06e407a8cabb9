"""What the layers of memory are asked: working tasks, sessions, dreams (docs/memory.md, 3)."""

from typing import Annotated, Literal

from msgspec import Meta

from .requests import Request

_ARGUMENT = {"argument": True}
_Words = Annotated[str, Meta(max_length=10_000)]


class TaskRequest(Request):
    """Keep the state of a task that goes on, so that it can be taken up again."""

    asks_by = ("action",)
    words = ("name", "goal", "note", "checkpoint", "outcome", "lesson", "category")

    action: Annotated[
        Literal["start", "update", "show", "list", "finish", "remove"],
        Meta(description="start, update, show, list, finish or remove.", extra_json_schema=_ARGUMENT),
    ]
    name: Annotated[
        str, Meta(description="The task's name; for all but list.", max_length=200, extra_json_schema=_ARGUMENT)
    ] = ""
    goal: Annotated[str, Meta(description="What is to be done.", max_length=10_000)] = ""
    # msgspec copies such defaults for each request; ruff cannot see through the import that these are its structs.
    note: Annotated[list[_Words], Meta(description="What was done or found; may be repeated. Kept with its time.")] = []  # noqa: RUF012
    checkpoint: Annotated[
        str,
        Meta(
            description="JSON with whatever is needed to go on; takes the place of the one before.",
            max_length=100_000,
            extra_json_schema={"metavar": "JSON"},
        ),
    ] = ""
    status: Annotated[
        Literal["active", "paused"] | None, Meta(description="active, or paused when it was interrupted.")
    ] = None
    outcome: Annotated[str, Meta(description="finish: what came of it; becomes a fact.", max_length=10_000)] = ""
    lesson: Annotated[list[_Words], Meta(description="finish: what was learnt; may be repeated. Becomes a fact.")] = []  # noqa: RUF012
    category: Annotated[str, Meta(description="finish: category of its facts; tasks/NAME if none.", max_length=500)] = (
        ""
    )

    @property
    def said(self) -> list[str]:
        """A task that has its name already can be finished and removed by it, whatever it says."""
        return [each for each in super().said if self.action == "start" or each != self.name]


class SessionRequest(Request):
    """Keep the last talks with an agent for some days, on this device only."""

    asks_by = ("action",)
    words = ("name", "role", "summary", "category")

    action: Annotated[
        Literal["add", "list", "show", "end"],
        Meta(description="add, list, show or end.", extra_json_schema=_ARGUMENT),
    ]
    name: Annotated[
        str,
        Meta(
            description="The session's name; the one that goes on if none, or for add a new one.",
            max_length=200,
            extra_json_schema=_ARGUMENT,
        ),
    ] = ""
    text: Annotated[str, Meta(description="add: what was said.", max_length=100_000)] = ""
    role: Annotated[str, Meta(description="add: who said it.", min_length=1, max_length=40)] = "user"
    summary: Annotated[str, Meta(description="end: what it came to; becomes a fact.", max_length=10_000)] = ""
    category: Annotated[str, Meta(description="end: category of the summary.", min_length=1, max_length=500)] = (
        "sessions"
    )


class DreamRequest(Request):
    """Tidy the memory up: join wordings of one thing, settle contradictions, see what time has archived."""

    asks_by = ("dry_run", "log")

    dry_run: Annotated[bool, Meta(description="Only say what would be done.")] = False
    log: Annotated[bool, Meta(description="Show what dreams did instead, the newest first.")] = False
