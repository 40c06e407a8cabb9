"""`validate`: what a person should look at in a note (docs/memory.md, 2, docs/original.md)."""

from typing import Any

from .memory import Memory
from .named_file import named_file, todays_note
from .replies import FileFindings, ValidateAllReply
from .table import Outcome
from .why_requests import ValidateRequest


async def validate(memory: Memory, request: ValidateRequest) -> Outcome:
    """Check one file (today's note unless named), or show what ingest found in all; exit code 1 for findings."""
    if request.all:
        return _all(memory)
    day = memory.clock.today()
    named = request.file or todays_note(day, request.agent_id)
    file = await named_file(memory, named, request.agent_id)
    findings = file.parsed.findings
    if not findings:
        return Outcome({"status": "ok", "message": "Nothing is missing.", "file": file.path})
    reply: dict[str, Any] = {
        "status": "warning",
        "warnings_count": len(findings),
        "warnings": [each.message for each in findings],
        "file": file.path,
        "suggestions": list(dict.fromkeys(each.suggestion for each in findings)),
        "details": findings,
    }
    return Outcome(reply, 1)


def _all(memory: Memory) -> Outcome:
    files = [
        FileFindings(path, record.findings) for path, record in sorted(memory.intake.records.items()) if record.findings
    ]
    count = sum(len(each.details) for each in files)
    return Outcome(ValidateAllReply("warning" if count else "ok", count, files), 1 if count else 0)
