"""A MEMORY.md that the original wrote says what its hot state says, in the same words, and nothing about itself."""

import time

from memoryd.ingest.original_page import read_original
from memoryd.ingest.parse import parse_note

HEAD = "# MEMORY.md - Long-Term Context\n\n*This file is auto-generated from hot memory state.*\n\n---\n\n"
BODY = (
    "## 📅 Recent Events\n\n- [Feb 11] The kiln was lit\n\n## ✅ Pending Tasks\n\n- [PENDING] Call the bank\n\n"
    "## 🎯 Critical Lessons\n\n- **[craft/wood]** Measure twice\n- **[]** Cut once\n- Sleep well\n\n"
)
END = "---\n\n*Generated: 2026-02-13 10:00*"


def parsed(text, *, is_page=True):
    return parse_note(
        text.encode(), path="MEMORY.md", agent_id="default", date="", is_page=is_page, max_bytes=1_000_000
    )


def test_entries_are_read_without_the_marks_before_them():
    """The day of an event and the category of a lesson are no words of theirs."""
    found = parsed(HEAD + BODY + END)

    said = {each.text: each.category for each in found.mentions}
    assert list(said) == ["The kiln was lit", "Call the bank", "Measure twice", "Cut once", "Sleep well"]
    assert said["Measure twice"] == "craft/wood"
    assert all("memory-md" not in category for category in said.values())
    states = [state for state, _ in found.lines]
    assert [number for number, state in enumerate(states, 1) if state == "own_output"] == [1, 3, len(states)]


def test_a_page_of_a_persons_own_is_read_as_it_stands():
    """Without the original's last line, with another title, or in a note the same marks are words."""
    for text, is_page in ((HEAD + BODY, True), (BODY + END, True), (HEAD + BODY + END, False)):
        said = {each.text for each in parsed(text, is_page=is_page).mentions}
        assert "[Feb 11] The kiln was lit" in said
        assert "[craft/wood] Measure twice" in said


def test_a_page_that_ends_again_and_again_is_read_in_linear_time():
    """Twenty thousand last lines."""
    began = time.process_time()

    _, own = read_original([*HEAD.splitlines(), *["*Generated: 2026-02-13 10:00*"] * 20_000])

    assert len(own) == 20_002
    assert time.process_time() - began < 1
