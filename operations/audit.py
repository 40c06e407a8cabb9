"""`audit`: proves on a user's own store that nothing is lost, doubled or in two places (docs/memory.md, 3).

Everything derived is derived again and compared; the balance ingested = hot + warm + cold + frozen + retracted +
superseded + merged + forgotten + expired (docs/data.md, 3) is counted from the rows.
"""

from functools import partial

from ..clock import day_number
from ..store.thread import Priority
from .audit_checks import STRAYS, Off, audited_agents, facts_off, strays, whole
from .memory import Memory
from .progress import report_progress
from .requests import AuditRequest
from .table import Outcome
from .tier_replies import AuditProblem, AuditReply

LISTED = 100


async def audit(memory: Memory, request: AuditRequest) -> Outcome:  # noqa: ARG001 - every agent of the store
    """Audit all agents; exit code 1 when something is off."""
    await memory.settle()
    agents = await memory.thread.call(audited_agents, priority=Priority.READ)
    reply = AuditReply(True, 0, {}, [])
    for agent in agents:
        found: list[Off] = []
        after: int | None = 0
        while after is not None:
            today = day_number(memory.clock.today())
            step = partial(facts_off, agent_id=agent, after=after, today=today, settings=memory.settings)
            some, after = await memory.thread.call(step, priority=Priority.READ)
            found += some
            report_progress(phase=f"facts of {agent}", done=after or 0)
        numbers, more = await memory.thread.call(partial(whole, memory=memory, agent_id=agent), priority=Priority.READ)
        reply.agents[agent] = numbers
        reply.found += len(found) + len(more)
        reply.problems += [AuditProblem(agent, what, where) for what, where in [*more, *found]]
    for what in STRAYS:
        stray = await memory.thread.call(partial(strays, what=what), priority=Priority.READ)
        reply.problems += [AuditProblem("", what, where) for where in stray]
        reply.found += len(stray)
    reply.ok, reply.problems = not reply.found, reply.problems[:LISTED]
    return Outcome(reply, 0 if reply.ok else 1)
