"""What each operation is asked: one struct a command; the flags and the socket's JSON are made from these.

Field names are the flags with underscores. `Meta.description` is the flag's help; `extra_json_schema`
holds what only the command line needs (`flags`: further spellings).
"""

from typing import Annotated, ClassVar, Literal

import msgspec
from msgspec import Meta

AgentId = Annotated[str, Meta(description="Whose memory.", pattern=r"^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$(?!\n)")]
Importance = Annotated[float, Meta(ge=0, le=1, description="How much it matters, 0 to 1.")]
Limit = Annotated[int, Meta(ge=1, le=1000, description="How many results at most.")]


class Request(msgspec.Struct, forbid_unknown_fields=True, kw_only=True, rename={"from_": "from"}):
    """What every operation takes."""

    agent_id: AgentId = ""
    """Empty: the agent of the configuration."""

    changes_by: ClassVar[tuple[str, ...] | None] = None
    """The fields that make it a change of the memory; None: it always is one."""
    asks_by: ClassVar[tuple[str, ...]] = ()
    """The fields that make it a question all the same: by being set, an action by showing or listing."""
    words: ClassVar[tuple[str, ...]] = ()
    """The fields whose words would stay in the memory: none of them may say what was forgotten."""

    @property
    def only_reads(self) -> bool:
        """Whether it asks and changes nothing, the count of reads aside: such a command never upgrades a store."""
        if any(getattr(self, field) in (True, "show", "list") for field in self.asks_by):
            return True
        return self.changes_by is not None and not any(getattr(self, field) for field in self.changes_by)

    @property
    def said(self) -> list[str]:
        """The words that would stay, as texts or as JSON."""
        given = [getattr(self, field) for field in self.words]
        return [each for value in given for each in ([value] if isinstance(value, str) else value or ())]


class StatusRequest(Request):
    """Show how fresh and how safe the memory is."""

    changes_by = ()


class RescanRequest(Request):
    """Compare every note with what is stored, and return when that is done."""

    confirm_deletes: Annotated[bool, Meta(description="Accept that notes which vanished are really deleted.")] = False


class StoreRequest(Request):
    """Store one fact by command."""

    words = ("text", "category", "url", "command", "path")

    text: Annotated[str, Meta(description="The fact, one sentence.", min_length=1, max_length=100_000)]
    category: Annotated[str, Meta(description="Category path, e.g. owner/preferences.", min_length=1, max_length=500)]
    importance: Importance = 0.5
    url: Annotated[list[str], Meta(description="A URL that belongs to it; may be repeated.")] = []
    command: Annotated[
        list[str],
        Meta(
            description="A shell command that belongs to it; may be repeated.", extra_json_schema={"flags": ["--cmd"]}
        ),
    ] = []
    path: Annotated[list[str], Meta(description="A file path that belongs to it; may be repeated.")] = []


class RetrieveRequest(Request):
    """Find facts in all tiers, best first."""

    changes_by = ("after_write",)

    query: Annotated[str, Meta(description="What to look for, English or Chinese.", min_length=1, max_length=10_000)]
    limit: Limit = 5
    all_agents: Annotated[bool, Meta(description="Search every agent's memory, not only one's own.")] = False
    envelope: Annotated[bool, Meta(description="Say beside the results how fresh they are.")] = False
    after_write: Annotated[bool, Meta(description="First take in everything that is on disk now.")] = False
    explain: Annotated[bool, Meta(description="Say of each hit why it was found.")] = False
    llm: Annotated[bool, Meta(description="Let an LLM choose the categories; words answer where it fails.")] = False
    llm_endpoint: Annotated[str, Meta(description="An LLM endpoint; llm.endpoint of the configuration if none.")] = ""
    llm_prompt_file: Annotated[
        str,
        Meta(
            description="A prompt with {tree} and {query} in it; a file that is not there yet gets the prompt.",
            extra_json_schema={"path": True},
        ),
    ] = ""


class ExtractMetadataRequest(Request):
    """List the URLs, commands and paths of one file."""

    changes_by = ()

    file: Annotated[str, Meta(description="The file to read.", min_length=1, extra_json_schema={"path": True})]


class ForgetRequest(Request):
    """Forget a fact for good, here and in the cloud. Notes are not written."""

    id: Annotated[str, Meta(description="The fact's id, as retrieve shows it.")] = ""
    text: Annotated[str, Meta(description="The fact's exact sentence.")] = ""
    only: Annotated[bool, Meta(description="Keep the earlier wordings that this fact replaced.")] = False
    prove: Annotated[
        bool, Meta(description="Then look for it in this memory and in every log, and say what was not searched.")
    ] = False


class HotRequest(Request):
    """Show or change hot state: identity, owner, projects, events, tasks, lessons."""

    changes_by = ("update", "done", "remove", "rebuild")
    words = ("update",)

    @property
    def said(self) -> list[str]:
        """The value; its KEY is one of ours."""
        return list(self.update[1:]) if self.update else []

    update: Annotated[
        tuple[str, str] | None,
        Meta(
            description="KEY JSON; KEY is identity, owner_profile, lesson, event, task or project.",
            extra_json_schema={"metavar": "KEY JSON"},
        ),
    ] = None
    done: Annotated[str, Meta(description="Finish the task with this id or text.", min_length=1)] | None = None
    remove: (
        Annotated[str, Meta(description="Take the item with this id, text or name out of hot state.", min_length=1)]
        | None
    ) = None
    rebuild: Annotated[bool, Meta(description="Write MEMORY.md's managed block again.")] = False


class TreeRequest(Request):
    """Show or change the category tree."""

    changes_by = ("add", "remove", "prune")
    words = ("add",)

    show: Annotated[bool, Meta(description="The tree as text.")] = False
    add: Annotated[
        tuple[str, str] | None,
        Meta(description="PATH DESC; add a node, or describe it anew.", extra_json_schema={"metavar": "PATH DESC"}),
    ] = None
    remove: Annotated[str, Meta(description="Remove a node that holds no facts.", min_length=1)] | None = None
    prune: Annotated[bool, Meta(description="Remove empty nodes without activity for 60 days.")] = False


class MetricsRequest(Request):
    """Show the memory in numbers, as the original skill does."""

    changes_by = ()


Endpoint = Annotated[str, Meta(description="An LLM endpoint; llm.endpoint of the configuration if none.")]


class ConsolidateRequest(Request):
    """Keep the memory in order, and report what was done."""

    mode: Annotated[
        Literal["quick", "daily", "monthly", "full"], Meta(description="quick, daily, monthly or full.")
    ] = "quick"
    llm_endpoint: Endpoint = ""


class IngestDailyRequest(Request):
    """Take in the daily notes of the last days, and say what they hold."""

    asks_by = ("dry_run",)

    days: Annotated[int, Meta(ge=1, le=36_500, description="Today and so many days less one before it.")] = 2
    dry_run: Annotated[bool, Meta(description="Only say what would be stored.")] = False
    llm_endpoint: Endpoint = ""


class DistillRequest(Request):
    """Distil a conversation into one fact; nothing is stored."""

    changes_by = ()

    text: Annotated[str, Meta(description="What was said.", max_length=1_000_000)] = ""
    file: Annotated[str, Meta(description="A file that holds it.", extra_json_schema={"path": True})] = ""
    llm: Annotated[bool, Meta(description="Ask an LLM endpoint; rules answer where it fails.")] = False
    llm_endpoint: Endpoint = ""
    core_summary: Annotated[bool, Meta(description="Add a summary of at most 30 bytes.")] = False


class SyncCriticalRequest(Request):
    """Push hot state and tree to the cloud now, with everything else that waits."""


class ColdRequest(Request):
    """Ask the cloud's copy of the memory, or make its tables."""

    changes_by = ("init",)

    init: Annotated[bool, Meta(description="Make the cloud's tables.")] = False
    query: Annotated[str, Meta(description="Words that all have to stand in the fact.", max_length=10_000)] = ""
    limit: Limit = 10


class SearchUrlRequest(Request):
    """Find facts by a piece of their URLs."""

    changes_by = ()

    url: Annotated[str, Meta(description="A piece of the URL; upper and lower case are the same.")] = ""
    limit: Limit = 5
    all: Annotated[bool, Meta(description="Every fact that has a URL.")] = False


class ContextRequest(Request):
    """Give what an agent loads before it answers: hot state, tree and the best hits."""

    changes_by = ()

    query: Annotated[str, Meta(description="What the talk is about; without it no hits.", max_length=10_000)] = ""
    max_bytes: Annotated[int, Meta(ge=256, le=1_000_000, description="The longest the text may be [bytes].")] = 15_360


class AuditRequest(Request):
    """Prove that every fact is in exactly one place and that all limits hold."""

    changes_by = ()


class DoctorRequest(Request):
    """Check that everything works, each setting by its effect, with a fix for what does not."""

    changes_by = ()


class ExportRequest(Request):
    """Write the memory as JSON, or as JSON and Markdown into a folder."""

    changes_by = ()

    output: Annotated[
        str, Meta(description="The folder; JSON on stdout if none.", extra_json_schema={"path": True})
    ] = ""


class ImportRequest(Request):
    """Take in an export; what is known changes nothing, what was forgotten stays forgotten."""

    file: Annotated[str, Meta(description="The JSON file.", min_length=1, extra_json_schema={"path": True})]


class ImportLegacyRequest(Request):
    """Take in the files of the original tiered-memory skill; they are not changed."""

    from_: Annotated[
        str, Meta(description="Its workspace; this one if none is named.", extra_json_schema={"path": True})
    ] = ""
    cloud: Annotated[bool, Meta(description="Take in its rows of the cloud too.")] = False


class UndoRequest(Request):
    """Undo the last change made by a command or by hand in MEMORY.md's block."""

    asks_by = ("list",)

    n: Annotated[int, Meta(ge=0, description="The change of this number, as --list shows it.")] = 0
    dream: Annotated[bool, Meta(description="Take back all that the last dream did.")] = False
    list: Annotated[bool, Meta(description="List the changes instead, the newest first.")] = False
