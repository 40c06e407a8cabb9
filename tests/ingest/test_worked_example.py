"""docs/data.md, 7, word for word."""

import re

from memoryd.ingest.parse import parse_note

NOTE = b"""# Friday

- 10:40 Decided to use raw JSON-RPC #bsc
  to avoid the dependency
- see [docs](https://a.example/x)
- password: hunter2secret
- see docs
***
"""


def _parsed():
    return parse_note(
        NOTE, path="memory/2026-02-13.md", agent_id="default", date="2026-02-13", is_page=False, max_bytes=2_000_000
    )


def test_each_line_has_the_state_that_data_names() -> None:
    """The eight lines of the example have the states of docs/data.md, 7."""
    assert [state for state, _ in _parsed().lines] == [
        "heading", "blank", "fact", "continuation", "fact", "fact", "duplicate", "rule",
    ]  # fmt: skip


def test_the_facts_are_the_words_without_markup_time_and_tag() -> None:
    """F1, F2 and F3 have exactly the texts of docs/data.md, 7, and the repeated line is a second mention."""
    texts = [mention.text for mention in _parsed().mentions]

    assert texts[0] == "Decided to use raw JSON-RPC to avoid the dependency"
    assert texts[1] == texts[3] == "see docs"
    assert re.fullmatch(r"password: \[masked:password:[0-9a-f]{2}\]", texts[2])
    assert len(texts) == 4


def test_the_mentions_carry_place_time_category_and_link() -> None:
    """Each mention says its lines, its date with the written clock time, its headings, tag and URL."""
    first, second, third, fourth = _parsed().mentions

    assert (first.line_from, first.line_to, first.date, first.headings) == (3, 4, "2026-02-13T10:40Z", ["Friday"])
    assert (first.category, first.kind) == ("bsc", "decision")
    assert (second.line_from, second.metadata.urls) == (5, ["https://a.example/x"])
    assert (third.line_from, fourth.line_from, fourth.metadata.urls) == (6, 7, [])


def test_the_body_keeps_every_byte_but_the_secret() -> None:
    """The stored body differs from the note in the masked span only."""
    body = _parsed().body

    assert re.sub(rb"\[masked:password:[0-9a-f]{2}\]", b"hunter2secret", body) == NOTE


def test_a_restored_note_gives_the_same_facts() -> None:
    """Parsing the masked body again gives the same texts, states and bytes."""
    once = _parsed()
    again = parse_note(
        once.body,
        path="memory/2026-02-13.md",
        agent_id="default",
        date="2026-02-13",
        is_page=False,
        max_bytes=2_000_000,
    )

    assert (again.body, again.lines, again.masked) == (once.body, once.lines, 0)
    assert [mention.text for mention in again.mentions] == [mention.text for mention in once.mentions]
