"""`verify`: does the cloud hold what this device holds?"""

import msgspec

from ..sync.verify import verify as compare
from .memory import Memory
from .replies import VerifyReply
from .sync_requests import VerifyRequest
from .synchronise import the_cloud
from .table import Outcome


async def verify(memory: Memory, request: VerifyRequest) -> Outcome:
    """Compare heads and hashes, or every segment; exit code 1 when something differs."""
    report = await compare(the_cloud(memory), deep=request.deep)
    return Outcome(
        VerifyReply(report.equal, report.pending, [msgspec.structs.asdict(each) for each in report.differences]),
        0 if report.equal else 1,
    )
