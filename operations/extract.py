"""`extract-metadata`: the URLs, commands and paths of one file."""

from .memory import Memory
from .named_file import named_file
from .replies import ExtractReply
from .requests import ExtractMetadataRequest

_KINDS = ("urls", "commands", "paths")


async def extract_metadata(memory: Memory, request: ExtractMetadataRequest) -> ExtractReply:
    """Parse the file as a note, whatever its name, and list what its blocks carry."""
    file = await named_file(memory, request.file, request.agent_id)
    found = {
        kind: list(dict.fromkeys(item for mention in file.parsed.mentions for item in getattr(mention.metadata, kind)))
        for kind in _KINDS
    }
    return ExtractReply(file.path, found, {f"{kind}_count": len(found[kind]) for kind in _KINDS})
