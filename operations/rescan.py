"""`rescan`: compare every note with what is stored."""

from .memory import Memory
from .replies import RescanReply
from .requests import RescanRequest


async def rescan(memory: Memory, request: RescanRequest) -> RescanReply:
    """Scan now; returns when everything is in and searchable."""
    return await memory.rescan(confirm_deletes=request.confirm_deletes)
