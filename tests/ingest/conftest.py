"""What the tests of ingest share: one way to parse a note, and one way to read its ledger."""

from collections.abc import Callable

import pytest
from memoryd.ingest.parse import parse_note
from memoryd.model import ParsedNote

Parse = Callable[..., ParsedNote]


@pytest.fixture
def parse() -> Parse:
    """Parse text or bytes as the note of 2026-02-13."""

    def run(text: str | bytes, *, date: str = "2026-02-13", is_page: bool = False, **more: object) -> ParsedNote:
        data = text.encode() if isinstance(text, str) else text
        path = str(more.pop("path", "MEMORY.md" if is_page else f"memory/{date or 'undated'}.md"))
        settings = {"max_bytes": 2_000_000, **more}
        return parse_note(data, path=path, agent_id="default", date=date, is_page=is_page, **settings)  # type: ignore[arg-type]

    return run
