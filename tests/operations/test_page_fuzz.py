"""Random edits by hand around, in and during our own writing of the block, on two devices: no byte is lost."""

import json
import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.operations import pages

BLOCK = re.compile(r"<!-- memoryd:begin -->\n.*?<!-- memoryd:end -->\n?", re.DOTALL)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["above", "below", "entry", "prose", "strike", "lesson", "carry", "race", "unmark"]),
        st.integers(0, 1),  # which device
        st.integers(0, 9),
    ),
    min_size=4,
    max_size=9,
)
QUIET_ROUNDS = 4


class Desk:
    """One device with its page, and what a person wrote there by hand and never took out."""

    def __init__(self, mind):
        self.mind, self.mine = mind, []
        self.page = mind.workspace / "MEMORY.md"

    @property
    def text(self):
        return self.page.read_bytes().decode() if self.page.exists() else ""

    async def save(self, text):
        """A person saves the page, and the daemon hears it."""
        self.page.write_bytes(text.encode())
        await self.look()

    async def look(self):
        self.mind.clock.advance(10)
        await self.mind.ask("rescan")

    async def lesson(self, number):
        item = json.dumps({"text": f"Lesson number {number}", "category": "craft", "importance": 0.9})
        await self.mind.ask("hot", update=("lesson", item))

    def write_above(self, words):
        self.mine.append(words)
        return f"{words}\t \r\n{self.text}"

    def write_below(self, words):
        self.mine.append(words)
        joint = "" if self.text.endswith("\n") or not self.text else "\n"
        return f"{self.text}{joint}{words}   \n"

    def write_inside(self, words):
        """In front of the block's end, where there is a block."""
        self.mine.append(words)
        end = "<!-- memoryd:end -->"
        return self.text.replace(end, f"{words}\n{end}", 1) if end in self.text else self.write_below(words)

    def lost(self):
        """What the person wrote and the page says nowhere any more."""
        return [words for words in self.mine if words.removeprefix("- ") not in self.text]


async def act(desks, what, which, number, monkeypatch):
    desk, other = desks[which], desks[1 - which]
    words = f"{what} {number} von Hand, {len(desk.mine)}"
    if what == "above":
        await desk.save(desk.write_above(words))
    elif what == "below":
        await desk.save(desk.write_below(words))
    elif what == "entry":
        await desk.save(desk.write_inside(f"- {words}"))
    elif what == "prose":
        await desk.save(desk.write_inside(words))
    elif what == "strike":
        lines = [line for line in desk.text.split("\n") if line.startswith("- **[craft]** Lesson")]
        if lines:
            await desk.save(desk.text.replace(lines[number % len(lines)] + "\n", "", 1))
    elif what == "lesson":
        await desk.lesson(number)
    elif what == "carry" and desk.text:
        # What stands in the block is the first device's hot state and stays there; the second one knows nothing of it.
        around = BLOCK.sub("", desk.text)
        other.mine = [each for each in desk.mine if each.removeprefix("- ") in around]
        await other.save(desk.text)
    elif what == "unmark":
        await desk.save(BLOCK.sub("", desk.text))
        desk.mine = [each for each in desk.mine if each.removeprefix("- ") in desk.text]
    elif what == "race":
        await race(desk, words, number, monkeypatch)


async def race(desk, words, number, monkeypatch):
    """A person saves the page between memoryd's look at it and its exchange."""
    rewrite, saved = pages.rewrite_page, []

    def racing(path, change, is_no_loss):
        def changed(old):
            new = change(old)
            if new is not None and not saved:
                saved.append(desk.page.write_bytes(desk.write_below(words).encode()))
            return new

        return rewrite(path, changed, is_no_loss)

    with monkeypatch.context() as patched:
        patched.setattr(pages, "rewrite_page", racing)
        await desk.lesson(number + 100)
    await desk.look()


@settings(
    max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(steps=STEPS)
async def test_no_byte_of_a_person_is_lost_and_nobody_plays_ping_pong(new_mind, monkeypatch, steps):
    """After every step all that was written by hand stands there; when people rest, both pages come to rest."""
    desks = [Desk(await new_mind()), Desk(await new_mind())]
    for desk in desks:
        await desk.lesson(0)  # else most steps would find no block to work on
    for what, which, number in steps:
        await act(desks, what, which, number, monkeypatch)
        for desk in desks:
            assert desk.lost() == []
            assert list(desk.page.parent.glob("*.memoryd*")) == []

    for _ in range(QUIET_ROUNDS):
        for here, there in (desks, desks[::-1]):
            if here.text:
                await there.save(here.text)
    resting = [desk.text for desk in desks]
    for here, there in (desks, desks[::-1]):
        if here.text:
            await there.save(here.text)
    assert [desk.text for desk in desks] == resting


PLAIN = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=30)
MARKS = [
    "<!-- memoryd:begin -->",
    "<!-- memoryd:end -->",
    "<!-- memoryd:sha256=",
    "\r\n",
    "\n",
    "\t",
    "---\n",
    "- x\n",
    " ",
]
OUTSIDE = st.lists(st.one_of(PLAIN, st.sampled_from(MARKS)), max_size=5).map("".join)


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(before=OUTSIDE, after=OUTSIDE)
async def test_any_text_around_the_block_stays_to_the_byte(new_mind, before, after):
    """Whatever a person's page holds, and wherever: line ends, blanks, marks without a partner."""
    desk = Desk(await new_mind())
    await desk.lesson(1)
    block = BLOCK.search(desk.text).group()
    await desk.save(f"{before}\n{block}{after}")
    await desk.lesson(2)

    page = desk.text
    assert page.startswith(f"{before}\n")
    assert page.endswith(after)
    inside = page[len(before) + 1 : len(page) - len(after)]
    assert "Lesson number 2" in inside
    assert BLOCK.fullmatch(inside)


EDITS = st.lists(st.tuples(st.sampled_from(["entry", "strike", "reword"]), st.integers(0, 9)), min_size=1, max_size=4)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edits=EDITS)
async def test_undo_takes_an_edit_by_hand_back_exactly(new_mind, edits):
    """The block and hot state are as they were, to the byte; what stands around it is not touched."""
    desk = Desk(await new_mind())
    for number in range(4):
        await desk.lesson(number)
    await desk.save("Mine above\n" + desk.text + "Mine below\n")
    before = desk.text, await desk.mind.ask("hot")
    changes = len((await desk.mind.ask("undo", list=True))["changes"])

    text = desk.text
    for what, number in edits:
        line = f"- **[craft]** Lesson number {number % 4}\n"
        if what == "entry":
            text = text.replace("<!-- memoryd:end -->", f"- **[home]** Written {number}\n<!-- memoryd:end -->", 1)
        elif what == "strike":
            text = text.replace(line, "", 1)
        else:
            text = text.replace(line, line.replace("Lesson", "A lesson"), 1)
    await desk.save(text)
    after = (await desk.mind.ask("undo", list=True))["changes"]
    if text != before[0]:
        assert len(after) == changes + 1
        await desk.mind.ask("undo")

    assert (desk.text, await desk.mind.ask("hot")) == before
