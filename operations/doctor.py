"""`doctor`: does everything work, each setting proven by its effect (docs/original.md, F6)?

With a daemon the probes run inside it: what a terminal may read, an agent of the system may not (docs/engine.md).
The command line adds what only it can see: socket, versions, service (cli/doctor.py).
"""

from collections.abc import Mapping

from ..config import settings_sources
from ..errors import MemorydError
from .doctor_cloud import check_cloud
from .doctor_memory import check_memory, settings_in_force
from .doctor_places import check_places
from .doctor_replies import Check, DoctorReply
from .memory import Memory
from .progress import report_progress
from .requests import DoctorRequest
from .table import Outcome


async def doctor(memory: Memory, request: DoctorRequest) -> Outcome:  # noqa: ARG001 - every agent is looked at
    """All checks of this process; exit code 1 when one failed."""
    checks: list[Check] = [*check_places(memory.places, watching=memory.resident)]
    for part in (check_cloud(memory), check_memory(memory)):
        async for check in part:
            checks.append(check)
            report_progress(phase=check.name, done=len(checks))
    ok = all(check.state != "fail" for check in checks)
    reply = DoctorReply(
        ok, "daemon" if memory.resident else "command", checks, settings_in_force(memory.settings, _sources(memory))
    )
    return Outcome(reply, 0 if ok else 1)


def _sources(memory: Memory) -> Mapping[str, str]:
    try:
        return settings_sources(memory.places)
    except MemorydError:  # the files were broken after they were read; the check `settings` says so
        return {}
