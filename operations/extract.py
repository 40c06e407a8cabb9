"""`extract-metadata`: the URLs, commands and paths of one file."""

import asyncio
from pathlib import Path

from ..errors import AccessError, NoInputError
from ..ingest.parse import parse_note
from ..model import ParsedNote
from .memory import Memory
from .replies import ExtractReply
from .requests import ExtractMetadataRequest

_KINDS = ("urls", "commands", "paths")


async def extract_metadata(memory: Memory, request: ExtractMetadataRequest) -> ExtractReply:
    """Parse the file as a note, whatever its name, and list what its blocks carry."""
    path = memory.workspace / request.file
    note = await asyncio.to_thread(_parse_file, path, request.agent_id)
    found = {
        kind: list(dict.fromkeys(item for mention in note.mentions for item in getattr(mention.metadata, kind)))
        for kind in _KINDS
    }
    return ExtractReply(request.file, found, {f"{kind}_count": len(found[kind]) for kind in _KINDS})


def _parse_file(path: Path, agent_id: str) -> ParsedNote:
    try:
        data = path.read_bytes()
    except (FileNotFoundError, IsADirectoryError, NotADirectoryError):
        raise NoInputError(f"{path} is no file.", "Name an existing Markdown file.") from None
    except OSError as error:
        raise AccessError(f"{path} cannot be read: {error.strerror}.", "Check its owner and mode.") from None
    return parse_note(data, path=path.name, agent_id=agent_id, date="", is_page=False, max_bytes=max(len(data), 1))
