"""What the commands are asked that explain: where a fact comes from, what became of a line, what a note lacks."""

from typing import Annotated

from msgspec import Meta

from .requests import Request


class HistoryRequest(Request):
    """Show where a fact comes from: its places, and the wordings before and after it."""

    changes_by = ()

    id: Annotated[str, Meta(description="The fact's id, as retrieve shows it.")] = ""
    text: Annotated[str, Meta(description="The fact's exact sentence.")] = ""


class LedgerRequest(Request):
    """Show what became of each line of a file."""

    changes_by = ()

    file: Annotated[str, Meta(description="The file to read.", min_length=1, extra_json_schema={"path": True})]


class WhyRequest(Request):
    """Explain a fact, or what became of a line: where it stands, its category, weight and tier."""

    changes_by = ()

    id: Annotated[str, Meta(description="The fact's id, as retrieve shows it.")] = ""
    file: Annotated[str, Meta(description="The file that holds the line.", extra_json_schema={"path": True})] = ""
    line: Annotated[int, Meta(ge=0, description="The line, from 1.")] = 0


class WhyNotRequest(Request):
    """Say why a sentence is not in memory, or that it is."""

    changes_by = ()

    sentence: Annotated[
        str,
        Meta(description="The sentence.", min_length=1, max_length=100_000, extra_json_schema={"argument": True}),
    ]


class ValidateRequest(Request):
    """Look for what is missing or broken in a note."""

    changes_by = ()

    file: Annotated[str, Meta(description="The file; today's note if none.", extra_json_schema={"path": True})] = ""
    all: Annotated[bool, Meta(description="Show what ingest found in all notes.")] = False
