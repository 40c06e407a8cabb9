"""What the tests of ingest share: one way to parse a note, and one way to read its ledger."""

import random
import re
import string
from collections.abc import Callable

import pytest
from memoryd.ingest.parse import parse_note
from memoryd.model import ParsedNote

Parse = Callable[..., ParsedNote]
_MARK = re.compile(r"⟨(\w+)⟩")


@pytest.fixture
def parse() -> Parse:
    """Parse text or bytes as the note of 2026-02-13."""

    def run(text: str | bytes, *, date: str = "2026-02-13", is_page: bool = False, **more: object) -> ParsedNote:
        data = text.encode() if isinstance(text, str) else text
        path = str(more.pop("path", "MEMORY.md" if is_page else f"memory/{date or 'undated'}.md"))
        settings = {"max_bytes": 2_000_000, **more}
        return parse_note(data, path=path, agent_id="default", date=date, is_page=is_page, **settings)  # type: ignore[arg-type]

    return run


@pytest.fixture(scope="session")
def filled() -> Callable[[str], str]:
    """Fill in a line of a table: `⏎`, `⟨u200b⟩` for a character, `⟨n⟩` and `⟨hex⟩` for key material."""
    return lambda line: _MARK.sub(_made, line.replace("⏎", "\n"))


def _made(match: re.Match[str]) -> str:
    """Key material as no scanner shall find in this repository: the same each time for one mark."""
    if match[1].startswith("u"):
        return chr(int(match[1][1:], 16))
    drawn = random.Random(match[1])
    if match[1] == "hex":
        return "9c" + "".join(drawn.choice("0123456789abcdef") for _ in range(30))
    return "a7Q" + "".join(drawn.choice(string.ascii_letters + string.digits) for _ in range(int(match[1]) - 3))
