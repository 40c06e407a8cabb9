"""The managed block changes, every other byte stays (README, promise 1)."""

from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.tiers.page import BEGIN, END, body_hash, managed_block, put_block, read_block, render

STATE = {
    "identity": {"agent_name": "Agent", "empty": ""},
    "owner_profile": {"family": ["Sarah (wife)", "Luna"], "work": {"from": 9}, "trust_level": 0.95},
    "active_context": {
        "projects": [
            {"name": "EvoClaw", "description": "Agent framework", "status": "Active"},
            {"name": "Bare"},
        ],
        "events": [{"text": "Hackathon deadline", "timestamp": 1707350400}],
        "tasks": [{"text": "Deploy to testnet", "status": "pending", "timestamp": 1707350400}],
    },
    "critical_lessons": [{"text": "Test first", "category": "blockchain", "importance": 0.9, "timestamp": 1}],
    "_schema_version": "2.0",
}
EMPTY = {
    "identity": {}, "owner_profile": {}, "active_context": {"projects": [], "events": [], "tasks": []},
    "critical_lessons": [], "_schema_version": "2.0",
}  # fmt: skip

BODY = """# MEMORY.md - Long-Term Context

*Kept by memoryd from its hot state. Edits of these lists are read back.*

---

## 🤖 Agent Identity

- **Agent Name:** Agent

## 👤 Owner Profile

- **Family:** Sarah (wife), Luna
- **Work:** {"from":9}
- **Trust Level:** 0.95

## 💼 Active Projects

### EvoClaw
Agent framework
**Status:** Active

### Bare

## ✅ Pending Tasks

- [PENDING] Deploy to testnet

## 📅 Recent Events

- [Feb 08] Hackathon deadline

## 🎯 Critical Lessons

- **[blockchain]** Test first"""


def test_the_page_has_the_originals_sections_and_order():
    """A full hot state gives every section of docs/original.md, without a time stamp."""
    assert render(STATE) == BODY


def test_only_sections_with_data_are_written():
    """An empty hot state gives the head alone."""
    assert "##" not in render(EMPTY)


def test_a_value_cannot_end_the_block():
    """Comment marks and line ends inside a value do not become ours."""
    state = STATE | {"identity": {"name": f"a\n{END}\n{BEGIN}"}}
    page = put_block(None, managed_block(render(state)))

    assert read_block(page).hash_ok
    assert page.count(END) == page.count(BEGIN) == 1


def test_the_second_line_covers_the_rest():
    """A block that memoryd wrote fits its hash; one changed letter does not."""
    page = put_block("# Mine\n", managed_block(BODY))

    assert read_block(page).hash_ok
    assert read_block(page).body == BODY
    assert not read_block(page.replace("Test first", "Test last")).hash_ok


def test_a_new_page_holds_the_block_alone():
    """Without a page the block is the page."""
    assert put_block(None, managed_block("x")) == f"{BEGIN}\n<!-- memoryd:sha256={body_hash('x')} -->\nx\n{END}\n"


def test_a_page_without_a_block_gets_it_at_its_end():
    """What stood there stays in front, byte for byte, also without a final line end."""
    for mine in ("# Mine\n\n* a  \n\ttab\n", "# Mine\r\n\r\nlast", "no end", "\ufeff# BOM\n"):
        page = put_block(mine, managed_block(BODY))
        assert page.startswith(mine)
        assert read_block(page).hash_ok
        assert page.count("\r\n") in (0, page.count("\n"))


def test_a_block_keeps_its_place_and_the_pages_line_ends():
    """Text before and after stays; a CRLF page gets a CRLF block whose hash fits."""
    page = put_block("\ufeff# Mine\r\n", managed_block("old"))
    page = "before\r\n" + page + "after\t \r\n\r\nno end"

    new = put_block(page, managed_block("new\nlines"))

    assert new == page.replace(
        page[read_block(page).start : read_block(page).end], new[read_block(new).start : read_block(new).end]
    )
    assert read_block(new).hash_ok
    assert "\n" not in new.replace("\r\n", "")


def test_changed_line_ends_are_no_hand_edit():
    """A block whose LF became CRLF, or back, still fits its hash."""
    page = put_block("# Mine\n", managed_block(BODY))

    assert read_block(page.replace("\n", "\r\n")).hash_ok


def test_bytes_that_are_no_utf8_survive():
    """A page is decoded with surrogateescape and comes back as it was."""
    mine = b"caf\xe9 \xff\n"
    page = put_block(mine.decode("utf-8", "surrogateescape"), managed_block(BODY))

    assert page.encode("utf-8", "surrogateescape").startswith(mine)


def test_markers_without_a_partner_are_the_persons_own_text():
    """A lone begin or end is no block; a block after it is found."""
    assert read_block(f"{BEGIN}\ntext\n") is None
    assert read_block(f"{END}\n{BEGIN}\n") is None
    page = put_block(f"{BEGIN}\nmine\n", managed_block("x"))
    assert read_block(page).body == "x"
    assert page.startswith(f"{BEGIN}\nmine\n")


def test_a_block_named_in_a_sentence_is_none():
    """Markers count only when they stand alone on their lines."""
    assert read_block(f"Between `{BEGIN}` and\nx\n`{END}` memoryd writes.\n") is None


def test_of_two_blocks_the_one_with_a_hash_line_is_ours():
    """An example in the person's text does not draw our writing to it."""
    example = f"```\n{BEGIN}\nexample\n{END}\n```\n"
    page = put_block(example + managed_block("real") + "\n", managed_block("new"))

    assert page == example + managed_block("new") + "\n"


def test_strays_go_right_behind_the_block():
    """Lines that are no entries of the block leave it and stay on the page."""
    page = put_block("a\n" + managed_block("old") + "\nz\n", managed_block("new"), ["my line", "another"])

    assert page == "a\n" + managed_block("new") + "\n\nmy line\nanother\nz\n"


LINES = st.lists(
    st.one_of(
        st.text(st.characters(codec="utf-8"), max_size=20),
        st.sampled_from(["", "# T", "- a", "\t- b", "```", BEGIN, END, "\ufeff", "x\r", "<!-- c -->"]),
    ),
    max_size=8,
)


@settings(max_examples=300, deadline=None)
@given(
    before=LINES, after=LINES, line_end=st.sampled_from(["\n", "\r\n"]), final=st.booleans(), first=LINES, second=LINES
)
def test_bytes_outside_of_the_block_never_change(before, after, line_end, final, first, second):
    """Random pages around a block: writing twice changes the block only, writing the same changes nothing."""
    before = [line for line in before if line not in (BEGIN, END)]
    after = [line for line in after if line not in (BEGIN, END)]
    head = "".join(line + line_end for line in before)
    tail = "".join(line_end + line for line in after) + (line_end if final else "")
    bodies = [
        "\n".join(" ".join(line.split()).replace("<!--", "") for line in lines).strip("\n") for lines in (first, second)
    ]
    page = head + managed_block(bodies[0]).replace("\n", line_end) + tail

    new = put_block(page, managed_block(bodies[1]))

    assert new.startswith(head)
    assert new.endswith(tail)
    block = read_block(new)
    assert new[: block.start] + new[block.end :] == head + tail
    assert block.hash_ok
    assert block.body == bodies[1]
    assert put_block(new, managed_block(bodies[1])) == new


@settings(max_examples=200, deadline=None)
@given(page=st.one_of(LINES.map("\n".join), st.text(max_size=200)))
def test_any_page_takes_the_block_without_losing_a_byte(page):
    """Appending to any text keeps it in front, and the block is found again."""
    if read_block(page) is not None:
        return
    new = put_block(page, managed_block("x"))

    assert new.startswith(page)
    assert read_block(new).body == "x"
    assert put_block(new, managed_block("x")) == new
