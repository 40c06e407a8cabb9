"""What was forgotten stays forgotten, whatever door it knocks at (docs/memory.md, 5).

A door is a field of an operation whose words would stay, or a way in beside the operations: files, pages, models,
rows of other devices. A new field without a place in these tables fails.
"""

import asyncio
import json
import threading
import time
import tracemalloc

import msgspec
import pytest
from memoryd.errors import UsageError
from memoryd.ingest.standing import standing_in
from memoryd.model import HotItemRow, TreeNodeRow
from memoryd.operations import tree_words
from memoryd.operations.forgotten_words import Guard
from memoryd.operations.table import OPERATIONS
from memoryd.store.fold import fold

S = "The red lamp of the shed hangs low"
PROJECT = {"name": "Shed", "description": S}

REFUSED = {
    ("store", "text"): {"text": S, "category": "home"},
    ("store", "category"): {"text": "A door", "category": f"home/{S}"},
    ("store", "url"): {"text": "A door", "category": "home", "url": [S]},
    ("store", "command"): {"text": "A door", "category": "home", "command": [S]},
    ("store", "path"): {"text": "A door", "category": "home", "path": [S]},
    ("hot", "update"): {"update": ["identity", json.dumps({"note": S})]},
    ("tree", "add"): {"add": ["home/shed", S]},
    ("task", "name"): {"action": "start", "name": S},
    ("task", "goal"): {"action": "start", "name": "shed", "goal": S},
    ("task", "note"): {"action": "start", "name": "shed", "note": ["hello", S]},
    ("task", "checkpoint"): {"action": "start", "name": "shed", "checkpoint": json.dumps({"at": [S]})},
    ("task", "outcome"): {"action": "finish", "name": "lamp", "outcome": S},
    ("task", "lesson"): {"action": "finish", "name": "lamp", "lesson": [S]},
    ("task", "category"): {"action": "finish", "name": "lamp", "outcome": "It hangs", "category": S},
    ("session", "name"): {"action": "add", "name": S, "text": "hello"},
    ("session", "role"): {"action": "add", "role": S, "text": "hello"},
    ("session", "summary"): {"action": "end", "summary": S},
    ("session", "category"): {"action": "end", "summary": "hello", "category": S},
}
"""Fields whose words would stay: the command is refused."""
TAKEN = {
    ("session", "text"): "masked line by line, as in a note: below",
    ("import", "file"): "the file's own words: below",
    ("import-legacy", "from_"): "the files' own words: below",
    **dict.fromkeys(
        [("forget", "id"), ("forget", "text"), ("hot", "done"), ("hot", "remove"), ("tree", "remove"),
         ("cold", "query"), ("restore", "from_"), ("restore", "as_of"), ("key", "file"), ("devices", "retire")],
        "names what is there",
    ),
    **dict.fromkeys(
        [("consolidate", "llm_endpoint"), ("ingest-daily", "llm_endpoint"), ("retrieve", "llm_endpoint"),
         ("retrieve", "llm_prompt_file"), ("retrieve", "query")],
        "asked, not kept",
    ),
}  # fmt: skip
"""Fields whose words do not stay, or are taken in otherwise."""
WORDINGS = [
    S, f"{S}.", f"{S}. {S}.", f"{S} {S}", f"{S}\n{S}", "**The red lamp** of the shed hangs low", f"Note: {S}",
    f"Bring keys. {S}! And a stool.", f"- a stool\n- {S}\n- keys", "We spoke:\n\nThe red lamp of\nthe shed hangs low",
    f"| {S} | b |", f"“{S}”", f"He said ({S}) and left", f"带钥匙。{S}。走吧",
]  # fmt: skip
"""Texts in which the sentence stands."""


def free_fields():
    """Operation and field of everything that takes free text and is no pure question."""
    for name, operation in OPERATIONS.items():
        if operation.request.changes_by == ():
            continue
        for field in msgspec.inspect.type_info(operation.request).fields:
            if field.name != "agent_id" and "StrType" in repr(field.type):
                yield name, field.name


async def everything(mind):
    """All that the database holds, and every file of the workspace."""
    said = []
    for (table,) in await mind.sql("SELECT name FROM sqlite_master WHERE type = 'table'"):
        rows = await mind.sql(f'SELECT * FROM "{table}"')
        said += [value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
                 for row in rows for value in row]  # fmt: skip
    said += [data.decode() for path, data in mind.bytes_of_notes().items()]
    return "\n".join(said)


@pytest.fixture
async def bereft(mind):
    """A memory that has forgotten the sentence, with a talk and a task that go on."""
    await mind.ask("store", text=S, category="home")
    await mind.ask("session", action="add", text="hello")
    await mind.ask("task", action="start", name="lamp")
    await mind.ask("forget", text=S)
    assert S not in await everything(mind)
    return mind


def test_every_field_of_every_operation_that_takes_words_is_a_known_door():
    """A new one is refused like the others, or says here why its words do not stay."""
    assert set(free_fields()) == REFUSED.keys() | TAKEN.keys()
    guarded = {(name, field) for name, each in OPERATIONS.items() for field in each.request.words}
    assert guarded == set(REFUSED)


@pytest.mark.parametrize(("command", "field"), sorted(REFUSED))
async def test_no_command_says_it_again(bereft, command, field):
    """The refusal is `store`'s own, and nothing is kept."""
    with pytest.raises(UsageError, match="forgotten and stays so"):
        await bereft.ask(command, **REFUSED[command, field])

    assert S not in await everything(bereft)


@pytest.mark.parametrize(
    "update", [("identity", {S: "x"}), ("owner_profile", {"a": [{"b": S}]}), ("project", PROJECT),
               ("lesson", {"text": S}), ("event", S), ("task", {"text": "A task", "category": S})],
)  # fmt: skip
async def test_no_part_of_hot_state_takes_it(bereft, update):
    """Names of fields, lists, objects within objects."""
    key, value = update
    with pytest.raises(UsageError, match="forgotten and stays so"):
        await bereft.ask("hot", update=[key, json.dumps(value)])


@pytest.mark.parametrize("text", WORDINGS)
async def test_it_is_known_wherever_it_stands_in_a_text(bereft, text):
    """Twice, quoted, behind a label, with marks, over two lines, among others."""
    with pytest.raises(UsageError, match="forgotten and stays so"):
        await bereft.ask("store", text=text, category="home")
    with pytest.raises(UsageError, match="forgotten and stays so"):
        await bereft.ask("hot", update=["identity", json.dumps({"note": text})])


async def test_other_words_come_in(bereft):
    """More than the sentence, less than it, and the same words in another order are other sentences."""
    for text in (f"{S} since Monday", "The red lamp", "Low hangs the red lamp of the shed", "The shed"):
        assert await bereft.ask("store", text=text, category="home")
        assert await bereft.ask("hot", update=["identity", json.dumps({"note": text})])


def test_a_lone_word_within_a_text_is_no_sentence():
    """Who forgot the fact `Tea` can still write of tea."""
    assert "Tea" not in standing_in("Tea: green, no sugar")
    assert "Tea" in standing_in("Tea.")


@pytest.mark.parametrize("piece", ["One two. ", "(", "a(", "a ", "。", "a。", "- ", "a: ", "\n", "a\n\n", '"', "a b\n"])
def test_a_long_text_is_looked_through_quickly(piece):
    """A hundred thousand characters of one thing again and again take a second or two at most."""
    began = time.process_time()

    assert len(standing_in(piece * (100_000 // len(piece)))) < 20_000

    assert time.process_time() - began < 10


def test_many_sentences_give_a_bounded_number_of_candidates():
    """Some sixteen a sentence."""
    assert len(standing_in("".join(f"Sentence {n} here. " for n in range(5_000)))) < 100_000


def test_long_texts_are_not_remembered():
    """What stands in a text may be 150 times as long: a day's talk would fill the daemon's memory."""
    tracemalloc.start()
    try:
        for n in range(60):
            standing_in(" ".join(f"It is day {n}, hour {hour}. We talk." for hour in range(60)))
        kept, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert kept < 2_000_000


async def test_others_are_answered_while_a_long_text_is_looked_through(bereft, monkeypatch):
    """The store thread gives the ids; what is compared with them is found elsewhere."""
    looked, answered = threading.Event(), threading.Event()
    stops = Guard.stops

    def slowly(guard, value):
        if not looked.is_set():
            looked.set()
            assert answered.wait(20)
        return stops(guard, value)

    monkeypatch.setattr(Guard, "stops", slowly)
    storing = asyncio.ensure_future(bereft.ask("store", text="A door", category="home"))
    assert await asyncio.to_thread(looked.wait, 20)

    assert await bereft.ask("retrieve", query="door") == []
    answered.set()
    await storing


@pytest.mark.parametrize("text", WORDINGS)
async def test_a_talk_masks_it(bereft, text):
    """A turn is kept without it."""
    await bereft.ask("session", action="add", text=text)

    assert S not in await everything(bereft)
    (_, turn) = (await bereft.ask("session", action="show"))["turns"]
    assert "[forgotten]" in turn["text"]


async def test_a_finished_task_leaves_it_out(bereft):
    """What somebody typed into the task's file is not stored; the rest is."""
    (bereft.workspace / "memory/working/lamp.json").write_text(
        json.dumps({"goal": S, "notes": [{"text": f"{S}. {S}"}, {"text": "It hangs"}]})
    )

    reply = await bereft.ask("task", action="finish", name="lamp")

    assert len(reply["facts"]) == 1
    assert S not in await everything(bereft)


async def test_an_import_leaves_it_out(bereft, new_mind):
    """As a fact, within one, as a category, in hot state, in the tree, as an edit."""
    other = await new_mind()
    for text, category in ((S, "home"), (f"Keys. {S}", "home"), ("A stool", "lamps"), ("A bulb", "home")):
        await other.ask("store", text=text, category=category)
    await other.ask("hot", update=["identity", json.dumps({"note": S, "name": "Kestrel"})])
    await other.ask("hot", update=["project", json.dumps(PROJECT)])
    await other.ask("tree", add=["home/shed", S])
    dump = await other.ask("export")
    for fact in dump["facts"]:
        fact["edits"]["distilled"] = S
        fact["category"] = fact["category"].replace("lamps", S)
    file = bereft.root / "dump.json"
    file.write_text(json.dumps(dump))

    reply = await bereft.ask("import", file=str(file))

    assert S not in await everything(bereft)
    assert (reply["facts"], reply["kept_forgotten"]) == (1, 3)
    assert (await bereft.ask("hot"))["identity"] == {"name": "Kestrel"}


async def test_the_originals_files_leave_it_out(bereft):
    """Facts, lessons, profile, projects, tree."""
    folder = bereft.root / "old"
    folder.mkdir()
    hot = {"identity": {"note": S, "name": "Kestrel"}, "lessons": [S], "projects": [PROJECT]}
    (folder / "hot-memory-state.json").write_text(json.dumps(hot))
    (folder / "warm-memory.json").write_text(
        json.dumps([{"id": S, "text": "A stool"}, {"id": "1", "text": f"{S}. {S}"}])
    )
    (folder / "memory-tree.json").write_text(json.dumps({"home": S, S: "x"}))

    reply = await bereft.ask("import-legacy", from_=str(folder))

    assert S not in await everything(bereft)
    assert (reply["facts"], reply["kept_forgotten"], reply["hot_items"], reply["tree_nodes"]) == (1, 2, 1, 0)


@pytest.mark.parametrize(
    "line", [f"## 🤖 Agent Identity\n\n- **Note:** {S}", f"## 💼 Active Projects\n\n### Shed\n{S}",
             f"## 🎯 Critical Lessons\n\n- {S}", f"## 🎯 Critical Lessons\n\n- **[{S}]** Keep it", S],
)  # fmt: skip
async def test_a_hand_in_the_pages_block_leaves_it_out(bereft, line):
    """It goes from hot state's page with the next writing; what is no entry moves out of the block, hidden there."""
    await bereft.ask("hot", update=["identity", '{"name": "Kestrel"}'])
    page = bereft.workspace / "MEMORY.md"
    page.write_text(page.read_text("utf-8").replace("<!-- memoryd:end -->", f"\n{line}\n<!-- memoryd:end -->"), "utf-8")

    await bereft.memory.rescan()

    block = page.read_text("utf-8").partition("<!-- memoryd:begin -->")[2].partition("<!-- memoryd:end -->")[0]
    assert S not in block
    assert S not in (await everything(bereft)).replace(page.read_text("utf-8"), "")


@pytest.mark.parametrize("text", [f"- {S}\n", f"# {S}\n\n- a stool\n", f"- a stool\n\n## {S}\n\n| a |\n|---|\n| b |\n"])
async def test_a_note_hides_it(bereft, text):
    """As a line, and as a heading that the blocks below would carry along."""
    await bereft.note("memory/2026-02-13.md", text)

    assert S not in (await everything(bereft)).replace(text, "")
    assert "the-red-lamp" not in await everything(bereft)


async def test_a_forgotten_heading_hides_no_other_line(mind):
    """In the copy of the note that goes to the cloud a line that only has the heading's letters in it stays."""
    await mind.note("memory/2026-02-12.md", "- Tea\n")
    await mind.ask("forget", text="Tea", only=True)

    await mind.note("memory/2026-02-13.md", "## Tea\n\n- The Team meets on Monday\n\nTea\n===\n\n- Steady work\n")

    bodies = [bytes(data) for (data,) in await mind.sql("SELECT data FROM chunks")]
    assert b"[forgotten]\n\n- The Team meets on Monday\n\n[forgotten]\n===\n\n- Steady work\n" in bodies


async def test_a_model_cannot_say_it(bereft, monkeypatch):
    """A description of the tree that says it is not taken."""
    await bereft.ask("store", text="A stool", category="home")

    class Model:
        async def complete_json(self, prompt):
            return [{"path": "home", "description": S}]

    await tree_words.describe_tree(bereft.memory, "default", Model())

    assert S not in await everything(bereft)


async def test_rows_of_a_device_that_has_not_heard_of_it_are_masked(bereft):
    """Free text of hot state and the tree, and a name that says it; a new version goes out to all."""
    version = "9999999999999-000000-feedbeef"
    rows = [
        HotItemRow("default", "identity", "note", json.dumps(f"It is this: {S}"), version, False),
        HotItemRow("default", "projects", "Shed", json.dumps(PROJECT), version, False),
        HotItemRow("default", "owner_profile", S, '"x"', version, False),
        TreeNodeRow("default", "home/shed", S, version, False),
    ]

    def receive(store):
        with store.transaction() as tx:
            fold(tx, rows)

    await bereft.memory.thread.call(receive)
    bereft.memory.free_text.due = True
    await bereft.memory.settle()

    assert S not in await everything(bereft)
    state = await bereft.ask("hot")
    assert (state["identity"], state["owner_profile"]) == ({"note": "[forgotten]"}, {})
    assert state["active_context"]["projects"] == [{"name": "Shed", "description": "[forgotten]"}]
    ((sent,),) = await bereft.sql("SELECT min(rev) FROM hot_items")
    assert sent > 0


async def test_free_text_that_says_it_already_is_masked_when_it_is_forgotten(mind):
    """Hot state, the tree, the page, earlier pages and the changes that `undo` keeps; the log is written anew."""
    quoted = 'The "red lamp" is off\\'
    await mind.ask("store", text=quoted, category="home")
    for key, value in (
        ("identity", {"note": quoted, "name": "Kestrel"}),
        ("project", {"name": "Shed", "text": quoted}),
    ):
        await mind.ask("hot", update=[key, json.dumps(value)])
    await mind.ask("hot", update=["identity", '{"note": "nothing"}'])
    await mind.ask("hot", update=["identity", json.dumps({"note": f"So: {quoted}"})])
    await mind.ask("tree", add=["home/shed", quoted])

    await mind.ask("forget", text=quoted)

    held = await everything(mind)
    assert "red lamp" not in held
    assert (await mind.ask("hot"))["identity"] == {"note": "[forgotten]", "name": "Kestrel"}
    assert await mind.sql("SELECT 1 FROM duties WHERE kind = 'snapshot'")


async def test_undo_brings_no_words_back_that_were_forgotten_since(bereft):
    """A change that is still kept is refused as a command would be."""
    note = json.dumps(["hot", "identity", "note"], separators=(",", ":"))

    def keep(store):
        with store.transaction() as tx:
            tx.run(
                "INSERT INTO undo_log (agent_id, at, what, before, after, undone) VALUES ('default', 0, 'x', ?, ?, 0)",
                (json.dumps({note: [json.dumps(S), 0]}), json.dumps({note: None})),
            )

    await bereft.memory.thread.call(keep)

    with pytest.raises(UsageError, match="forgotten and stays so"):
        await bereft.ask("undo")

    assert (await bereft.ask("hot"))["identity"] == {}


async def test_an_undone_forget_opens_every_door_again(bereft):
    """The sentence is a sentence like any other."""
    await bereft.ask("undo")

    await bereft.ask("hot", update=["identity", json.dumps({"note": S})])

    assert (await bereft.ask("hot"))["identity"] == {"note": S}
