"""`import-legacy`: every version of the original comes over, with dates and counts, and twice changes nothing."""

import errno
import json
import math
from pathlib import Path

import pytest
from memoryd.errors import NoInputError

CREATED = 1_707_350_400.5  # 2024-02-08
WARM = [
    {
        "id": "abc123def456", "text": "Decided to use zero go-ethereum deps",
        "category": "projects/evoclaw/architecture",
        "importance": 0.8, "created_at": CREATED, "access_count": 3, "score": 0.742, "tier": "warm",
        "metadata": {"urls": ["https://a.example/x"], "commands": ["git clone x"], "paths": []},
        "search_method": "keyword-warm",
    },
    {"id": "0" * 12, "text": "See https://b.example/y", "category": "", "timestamp": CREATED, "importance": 0.4},
]  # fmt: skip
HOT = {
    "identity": {"agent_name": "Robin"},
    "owner_profile": {"timezone": "Australia/Sydney"},
    "active_context": {
        "projects": [{"name": "EvoClaw", "description": "Agent framework", "status": "Active"}],
        "events": [{"text": "Hackathon deadline Feb 15", "timestamp": CREATED}],
        "tasks": [
            {"text": "Deploy to BSC testnet", "status": "pending", "timestamp": CREATED},
            {"text": "Buy the domain", "status": "done", "timestamp": CREATED},
        ],
    },
    "critical_lessons": [
        {"text": "Always test on testnet", "category": "blockchain", "importance": 0.9, "timestamp": CREATED},
        "Back up the keys",
    ],
    "_schema_version": "2.0",
}  # fmt: skip
TREE = {
    "root": {"desc": "Root", "warm_count": 2, "cold_count": 0, "last_access": 0.0, "children": ["projects"]},
    "projects": {"desc": "Active projects", "warm_count": 99, "cold_count": 0, "last_access": 0.0, "children": []},
    "old/variant": "A plain string",
    "_schema_version": "2.0",
}
METRICS = {"retrieval_count": 234, "consolidation_count": 8, "last_consolidation": CREATED, "_schema_version": "2.0"}


def write(folder, **files):
    """The original's files: indent 2, ASCII."""
    folder.mkdir(parents=True, exist_ok=True)
    names = {"warm": "warm-memory", "hot": "hot-memory-state", "tree": "memory-tree", "metrics": "metrics"}
    for name, content in files.items():
        text = content if isinstance(content, str) else json.dumps(content, indent=2)
        (folder / f"{names[name]}.json").write_text(text)


async def by_text(mind, text, **fields):
    return next(each for each in await mind.ask("retrieve", query=text, **fields) if each["text"] == text)


async def test_a_whole_memory_comes_over(mind):
    """Facts with dates, counts and metadata; hot state; the tree; the counters; and no file is changed."""
    write(mind.workspace / "memory", warm=WARM, hot=HOT, tree=TREE, metrics=METRICS)
    before = mind.bytes_of_notes()

    reply = await mind.ask("import-legacy")

    assert reply["agents"] == ["default"]
    assert len(reply["files"]) == 4
    assert (reply["facts"], reply["already_there"], reply["damaged"]) == (7, 0, [])
    fact = await by_text(mind, "Decided to use zero go-ethereum deps")
    assert (fact["created_at"], fact["access_count"], fact["importance"]) == (CREATED, 3, 0.8)
    assert fact["category"] == "projects/evoclaw/architecture"
    assert fact["metadata"]["urls"] == ["https://a.example/x"]
    assert (await by_text(mind, "See https://b.example/y"))["metadata"]["urls"] == ["https://b.example/y"]
    assert "projects — Active projects" in await mind.ask("tree", show=True)
    assert "old/variant — A plain string" in await mind.ask("tree", show=True)
    numbers = await mind.ask("metrics")
    assert (numbers["consolidation_count"], numbers["last_consolidation"]) == (8, CREATED)
    assert numbers["retrieval_count"] >= 234
    after = mind.bytes_of_notes()
    assert {name: after[name] for name in before} == before


async def test_hot_state_comes_over_as_it_was(mind):
    """Fields, project, event, the pending task only, and mixed lessons, each with its time."""
    write(mind.workspace / "memory", hot=HOT)

    await mind.ask("import-legacy")

    state = await mind.ask("hot")
    assert (state["identity"], state["owner_profile"]) == (HOT["identity"], HOT["owner_profile"])
    assert state["active_context"]["projects"] == HOT["active_context"]["projects"]
    assert state["active_context"]["events"] == [{"text": "Hackathon deadline Feb 15", "timestamp": int(CREATED)}]
    assert [each["text"] for each in state["active_context"]["tasks"]] == ["Deploy to BSC testnet"]
    lessons = {each["text"]: each for each in state["critical_lessons"]}
    assert lessons["Always test on testnet"]["importance"] == 0.9
    assert lessons["Always test on testnet"]["timestamp"] == int(CREATED)
    assert "Back up the keys" in lessons
    assert "Always test on testnet" in (mind.workspace / "MEMORY.md").read_text("utf-8")


async def test_a_second_run_changes_nothing(mind):
    """All facts are there already, no row is written, and what a person changed meanwhile stays."""
    write(mind.workspace / "memory", warm=WARM, hot=HOT, tree=TREE, metrics=METRICS)
    await mind.ask("import-legacy")
    await mind.ask("hot", update=["identity", '{"agent_name": "Sparrow"}'])
    await mind.ask("hot", remove="Back up the keys")
    facts, state, page = await mind.facts(), await mind.ask("hot"), (mind.workspace / "MEMORY.md").read_bytes()
    rev = await mind.sql("SELECT v FROM meta WHERE k = 'rev'")

    reply = await mind.ask("import-legacy")

    assert (reply["facts"], reply["already_there"], reply["hot_items"], reply["tree_nodes"]) == (0, 7, 0, 0)
    assert await mind.facts() == facts
    assert await mind.ask("hot") == state
    assert (mind.workspace / "MEMORY.md").read_bytes() == page
    assert await mind.sql("SELECT v FROM meta WHERE k = 'rev'") == rev


async def test_the_first_versions_own_hot_state_is_mapped(mind):
    """D13: owner to owner_profile, agent to identity, lessons and projects at the top."""
    write(
        mind.workspace / "memory",
        warm=[{"id": "1" * 12, "text": "An early fact", "category": "a", "created_at": CREATED}],
        hot={
            "owner": {"name": "Sam"}, "agent": {"name": "Robin"}, "lessons": ["Measure twice"],
            "projects": [{"name": "EvoClaw"}],
        },
    )  # fmt: skip

    await mind.ask("import-legacy")

    state = await mind.ask("hot")
    assert (state["owner_profile"], state["identity"]) == ({"name": "Sam"}, {"name": "Robin"})
    assert [each["text"] for each in state["critical_lessons"]] == ["Measure twice"]
    assert state["active_context"]["projects"] == [{"name": "EvoClaw"}]
    assert (await by_text(mind, "An early fact"))["importance"] == 0.5


async def test_the_familys_other_names_are_read(mind):
    """current_projects, recent_events and pending_tasks, as strings and objects with dates."""
    write(
        mind.workspace / "memory",
        hot={
            "active_context": {
                "current_projects": ["Garden", {"name": "Shed", "start_date": "2024-01-05"}],
                "recent_events": [{"text": "The roof was mended", "date": "2024-02-08"}],
                "pending_tasks": ["Paint the door", {"text": "Order tiles", "due_date": "2024-03-01", "priority": 1}],
            },
            "version": "1.1",
        },
    )

    await mind.ask("import-legacy")

    context = (await mind.ask("hot"))["active_context"]
    assert [each["name"] for each in context["projects"]] == ["Garden", "Shed"]
    assert context["events"] == [{"text": "The roof was mended", "timestamp": 1_707_350_400}]
    assert {each["text"] for each in context["tasks"]} == {"Paint the door", "Order tiles"}


async def test_odd_numbers_are_corrected_and_counted(mind):
    """5 is 1, -1 is 0, NaN is 0.5; a date to come is now; an unbounded count scores 1 at most (W6, W8)."""
    entries = [
        {"text": "too important a fact", "importance": 5, "created_at": 9e12},
        {"text": "less than nothing", "importance": -1},
        {"text": "not a number at all", "importance": math.nan, "access_count": 50},
        {"text": "importance in words", "importance": "high", "access_count": math.inf},
    ]
    write(mind.workspace / "memory", warm=entries)

    reply = await mind.ask("import-legacy")

    assert reply["corrected"] == 4
    found = {each["text"]: each for each in await mind.ask("retrieve", query="important nothing number words", limit=9)}
    assert [found[each["text"]]["importance"] for each in entries] == [1.0, 0.0, 0.5, 0.5]
    assert found["not a number at all"]["score"] == 1.0
    assert found["too important a fact"]["created_at"] == mind.clock.now_ms() / 1000


@pytest.mark.parametrize("content", ["", "{", '{"a": 1}', "\ufffe", "[[", "null"])
async def test_a_damaged_file_is_named_and_the_rest_comes_over(mind, content):
    """C2: no traceback; the lesson beside the broken warm file arrives."""
    write(mind.workspace / "memory", warm=content, hot=HOT)

    reply = await mind.ask("import-legacy")

    assert [each["file"] for each in reply["damaged"]] == ["memory/warm-memory.json"]
    assert reply["damaged"][0]["reason"]
    assert "Always test on testnet" in await mind.hits("testnet")


async def test_a_damaged_entry_is_named_and_the_others_come_over(mind):
    """An entry without text is damage of its own."""
    write(mind.workspace / "memory", warm=[{"category": "x"}, 5, *WARM], tree={"a": 7, "b/c": {"desc": "fine"}})

    reply = await mind.ask("import-legacy")

    assert reply["facts"] == 2
    assert {each["file"] for each in reply["damaged"]} == {
        "memory/warm-memory.json[0]", "memory/warm-memory.json[1]", "memory/memory-tree.json: a",
    }  # fmt: skip
    assert "b/c — fine" in await mind.ask("tree", show=True)


async def test_every_agent_comes_over_into_its_own_memory(mind):
    """Files in memory/, memory/default/ and memory/<agent>/; an id that is none is left out and named."""
    write(mind.workspace / "memory", warm=WARM[:1])
    write(mind.workspace / "memory/default", warm=WARM[1:])
    write(mind.workspace / "memory/agent-2", warm=[{"text": "Only agent two knows", "category": "x"}])
    write(mind.workspace / "memory/bad name", warm=WARM)

    reply = await mind.ask("import-legacy")

    assert reply["agents"] == ["agent-2", "default"]
    assert reply["facts"] == 3
    assert any("bad name" in each for each in reply["notices"])
    assert await mind.hits("agent two knows") == []
    assert await mind.hits("agent two knows", agent_id="agent-2") == ["Only agent two knows"]


async def test_a_forks_workspace_is_named(mind, tmp_path):
    """Another folder is read and left as it is; a folder without such files is no input."""
    write(tmp_path / "ai/memory", warm=WARM)
    before = (tmp_path / "ai/memory/warm-memory.json").read_bytes()

    reply = await mind.ask("import-legacy", from_=str(tmp_path / "ai"))

    assert reply["facts"] == 2
    assert (tmp_path / "ai/memory/warm-memory.json").read_bytes() == before
    for nothing in (str(tmp_path), str(tmp_path / "none")):
        with pytest.raises(NoInputError):
            await mind.ask("import-legacy", from_=nothing)


async def test_what_a_note_says_belongs_to_the_note(mind):
    """A fact that the original took from a note follows the note (docs/original.md, W7): removed there, it is gone."""
    note = await mind.note("memory/2026-02-13.md", "- Decided to use zero go-ethereum deps\n- Another line\n")
    write(mind.workspace / "memory", warm=WARM)

    reply = await mind.ask("import-legacy")
    note.write_text("- Another line\n")
    await mind.ask("rescan")

    assert (reply["facts"], reply["already_there"]) == (1, 1)
    assert (await mind.facts())["Decided to use zero go-ethereum deps"][0] == "retracted"


async def test_old_ids_still_lead_to_their_facts(mind):
    """`history` and `forget` take the original's id."""
    write(mind.workspace / "memory", warm=WARM)
    await mind.ask("import-legacy")

    assert (await mind.ask("history", id="abc123def456"))["text"] == "Decided to use zero go-ethereum deps"
    await mind.ask("forget", id="abc123def456")

    assert await mind.hits("go-ethereum") == []


async def test_forgotten_facts_are_not_imported(mind):
    """The tombstone wins and is counted."""
    await mind.ask("store", text="Decided to use zero go-ethereum deps", category="x")
    await mind.ask("forget", text="Decided to use zero go-ethereum deps")
    write(mind.workspace / "memory", warm=WARM, hot={"lessons": ["Decided to use zero go-ethereum deps"]})

    reply = await mind.ask("import-legacy")

    assert (reply["facts"], reply["kept_forgotten"], reply["hot_items"]) == (1, 2, 0)


async def test_secrets_of_the_original_are_masked(mind):
    """S1: neither facts nor hot state nor the tree bring one in, and the credentials file is pointed at."""
    secret = "hunter2" + "secret"
    words = f"password: {secret}"
    write(
        mind.workspace / "memory",
        warm=[{"text": words, "category": "x", "metadata": {"commands": [f"login --password={secret}"]}}],
        hot={"identity": {"note": words}, "lessons": [f"The {words} opens it"], "projects": [{"name": words}]},
        tree={"home": words},
    )
    (mind.workspace / "memory/turso-credentials.json").write_text('{"url": "u", "token": "t"}')

    reply = await mind.ask("import-legacy")

    assert any("turso-credentials.json" in each for each in reply["notices"])
    for table in ("facts", "mentions", "hot_items", "tree_nodes", "derived"):
        assert secret not in str(await mind.sql(f"SELECT * FROM {table}"))


async def test_a_last_consolidation_that_was_added_up_is_not_believed(mind):
    """F3: a time to come is no time."""
    write(mind.workspace / "memory", metrics=METRICS | {"last_consolidation": 9e12})

    await mind.ask("import-legacy")

    assert (await mind.ask("metrics"))["last_consolidation"] == 0


async def test_a_node_that_is_too_deep_is_named_and_its_facts_keep_their_path(mind):
    """The tree has four levels, the fact's own category all five."""
    write(
        mind.workspace / "memory",
        warm=[{"text": "A fact far below", "category": "a/b/c/d/e"}],
        tree={"a/b/c/d/e": {"desc": "too deep"}},
    )

    reply = await mind.ask("import-legacy")

    assert any("a/b/c/d/e" in each for each in reply["notices"])
    assert (await by_text(mind, "A fact far below"))["category"] == "a/b/c/d/e"
    assert "a/b/c/d — D" in await mind.ask("tree", show=True)


async def test_settings_and_notes_of_another_workspace_are_pointed_at(mind, tmp_path):
    """They are not copied; each is named with the place where it belongs, until it is there."""
    skill = tmp_path / "old/skills/tiered-memory"
    skill.mkdir(parents=True)
    (skill / "config.json").write_text('{"hot": {"max_lessons": 3}}')
    write(tmp_path / "old/memory", warm=WARM, hot=HOT)
    (tmp_path / "old/memory/2026-02-13.md").write_text("- A note of old\n")
    (tmp_path / "old/MEMORY.md").write_text("# MEMORY.md - Long-Term Context\n\nBe kind to herons.\n")

    notices = (await mind.ask("import-legacy", from_=str(tmp_path / "old")))["notices"]

    assert [str(skill / "config.json") in notices[0], str(mind.workspace / "config.json") in notices[0]] == [True, True]
    assert notices[1].startswith("2 notes and pages")
    (mind.workspace / "config.json").write_bytes((skill / "config.json").read_bytes())
    for name in ("MEMORY.md", "memory/2026-02-13.md"):
        (mind.workspace / name).write_bytes((tmp_path / "old" / name).read_bytes())
    again = await mind.ask("import-legacy", from_=str(tmp_path / "old"))
    assert (again["facts"], again["notices"]) == (0, [])
    assert await mind.hits("note of old") == ["A note of old"]


async def test_what_cannot_be_read_is_named_and_the_rest_is_taken_in(mind, tmp_path, monkeypatch):
    """The skill's folder, an agent's folder and a note: nothing is believed of them, and facts are searchable."""
    folder = tmp_path / "old"
    write(folder / "memory", warm=WARM)
    write(folder / "memory/locked", warm=WARM)
    (folder / "memory/2026-02-13.md").write_text("- A note of old\n")
    (mind.workspace / "memory/2026-02-13.md").write_text("- Another note\n")
    locked = (folder / "skills", folder / "memory/locked", folder / "memory/2026-02-13.md")

    def guarded(real):
        def look(path, *args, **named):
            if any(path.is_relative_to(each) for each in locked) and (real is not stat or path not in locked):
                raise PermissionError(errno.EACCES, "Permission denied", str(path))
            return real(path, *args, **named)

        return look

    stat, read_bytes = Path.stat, Path.read_bytes
    monkeypatch.setattr(Path, "stat", guarded(stat))
    monkeypatch.setattr(Path, "read_bytes", guarded(read_bytes))

    reply = await mind.ask("import-legacy", from_=str(folder))

    assert (reply["facts"], reply["agents"]) == (2, ["default"])
    assert [(each["file"], each["reason"]) for each in reply["damaged"]] == [
        ("locked", "cannot be read: Permission denied")
    ]
    settings, notes = reply["notices"]
    assert f"{folder / 'skills/tiered-memory/config.json'} cannot be read" in settings
    assert notes.startswith("1 notes and pages")
    assert WARM[0]["text"] in await mind.hits("go-ethereum")


async def test_what_was_taken_in_is_settled_before_the_rest_is_looked_for(mind, tmp_path, monkeypatch):
    """Whatever happens while it is looked for, nothing waits to be derived."""
    write(tmp_path / "old/memory", warm=WARM)

    def fall(*_):
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr("memoryd.operations.import_legacy.left_there", fall)
    with pytest.raises(OSError, match="Input/output"):
        await mind.ask("import-legacy", from_=str(tmp_path / "old"))

    assert await mind.sql("SELECT * FROM dirty") == []
    assert WARM[0]["text"] in await mind.hits("go-ethereum")


async def test_a_page_that_the_original_wrote_is_pointed_at(mind):
    """It is hand-written text to us, so nobody takes it away; without it hot state stays as it is."""
    write(mind.workspace / "memory", hot=HOT)
    old = "# MEMORY.md - Long-Term Context\n\n## 🎯 Critical Lessons\n- Back up the keys\n\n---\n"
    page = mind.workspace / "MEMORY.md"
    page.write_text(f"{old}*Generated: 2026-02-01 10:00*", "utf-8")

    reply = await mind.ask("import-legacy")

    assert [each.startswith("MEMORY.md was written by the original") for each in reply["notices"]] == [True]
    text = page.read_text("utf-8")
    assert text.startswith(old)
    page.write_text(text[text.index("<!-- memoryd:begin -->") :], "utf-8")
    state = await mind.ask("hot")
    assert (await mind.ask("import-legacy"))["notices"] == []
    assert await mind.ask("hot") == state


LAYOUTS = {
    "1.0": ({"warm": [{"id": "1" * 12, "text": "The kettle is blue", "category": "home", "created_at": CREATED}],
             "hot": {"owner": {"name": "Sam"}, "agent": "Robin", "lessons": ["Measure twice"]},
             "tree": {"root": "Root", "home": "The house"}}, ""),
    "2.0": ({"warm": [{"id": "2" * 12, "text": "The kettle is blue", "category": "home", "importance": 0.5,
                       "created_at": CREATED, "access_count": 2, "score": 0.4}],
             "hot": {key: value for key, value in HOT.items() if key != "_schema_version"} | {
                 "owner_profile": {"name": "Sam"}, "identity": {"name": "Robin"},
                 "critical_lessons": ["Measure twice"]},
             "tree": {"root": {"desc": "Root"}, "home": {"desc": "The house"}}}, ""),
    "2.1": ({"warm": [{"id": "3" * 12, "text": "The kettle is blue", "category": "home", "importance": 0.5,
                       "created_at": CREATED, "tier": "warm", "metadata": {"urls": [], "commands": [], "paths": []}}],
             "hot": HOT | {"owner_profile": {"name": "Sam"}, "identity": {"name": "Robin"},
                           "critical_lessons": [{"text": "Measure twice"}]},
             "tree": {"root": {"desc": "Root"}, "home": {"desc": "The house"}, "_schema_version": "2.0"}}, "default"),
    "2.2": ({"warm": [{"id": "4" * 12, "text": "The kettle is blue", "category": "home", "importance": 0.5,
                       "created_at": CREATED, "metadata": {"urls": ["https://a.example"]}, "search_method": "cold"}],
             "hot": HOT | {"owner_profile": {"name": "Sam"}, "identity": {"name": "Robin"},
                           "critical_lessons": ["Measure twice", {"text": "Cut once", "importance": 0.9}]},
             "tree": {"root": {"desc": "Root"}, "home": {"desc": "The house"}, "_schema_version": "2.0"},
             "metrics": METRICS}, ""),
}  # fmt: skip
LAYOUTS["fork"] = LAYOUTS["2.2"]


@pytest.mark.parametrize("version", LAYOUTS)
async def test_each_version_comes_over_with_what_it_knew(mind, version):
    """Fact with its date, owner, agent, lesson and node; no file is changed; a second run changes nothing."""
    files, below = LAYOUTS[version]
    folder = mind.root / ".ai" if version == "fork" else mind.workspace
    write(folder / "memory" / below, **files)
    if version == "fork":
        (folder / "config.json").write_text('{"llm": {"endpoint": "http://127.0.0.1:9", "model": "m"}}')
    before = {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}

    reply = await mind.ask("import-legacy", from_=str(folder))

    assert (reply["agents"], reply["damaged"]) == (["default"], [])
    fact = await by_text(mind, "The kettle is blue")
    assert (fact["created_at"], fact["category"], fact["importance"]) == (CREATED, "home", 0.5)
    state = await mind.ask("hot")
    assert (state["owner_profile"], state["identity"]) == ({"name": "Sam"}, {"name": "Robin"})
    assert "Measure twice" in [each["text"] for each in state["critical_lessons"]]
    assert "home — The house" in await mind.ask("tree", show=True)
    assert {path: path.read_bytes() for path in before} == before
    again = await mind.ask("import-legacy", from_=str(folder))
    assert (again["facts"], again["hot_items"], again["tree_nodes"]) == (0, 0, 0)
    assert len(again["notices"]) == (1 if version == "fork" else 0)


async def test_a_page_of_the_original_doubles_nothing_and_may_go_after_the_import(mind):
    """Its lines are the same facts as its hot state's; when they are deleted, as the notice says, hot state stays."""
    (mind.workspace / "MEMORY.md").write_text(
        "# MEMORY.md - Long-Term Context\n\n*This file is auto-generated.*\n\n---\n\n"
        "## ✅ Pending Tasks\n\n- [PENDING] Call the bank\n\n## 📅 Recent Events\n\n- [Feb 11] The kiln was lit\n\n"
        "## 🎯 Critical Lessons\n\n- **[craft]** Measure twice\n- Sleep well\n\n---\n\n*Generated: 2026-02-13 10:00*"
    )
    lessons = [{"text": "Measure twice", "category": "craft", "importance": 0.8}, {"text": "Sleep well"}]
    context = {"tasks": [{"text": "Call the bank"}], "events": [{"text": "The kiln was lit", "timestamp": 1770800000}]}
    write(mind.workspace / "memory", hot={"critical_lessons": lessons, "active_context": context})
    await mind.memory.rescan()

    reply = await mind.ask("import-legacy")
    again = await mind.ask("import-legacy")

    everything = {"Call the bank", "The kiln was lit", "Measure twice", "Sleep well"}
    assert set(await mind.facts()) == everything
    assert (reply["hot_items"], again["facts"], again["hot_items"]) == (4, 0, 0)
    assert "delete them" in " ".join(reply["notices"])
    state = await mind.ask("hot")
    page = mind.workspace / "MEMORY.md"
    page.write_text(page.read_text("utf-8").partition("*Generated: 2026-02-13 10:00*")[2], "utf-8")
    await mind.ask("rescan", confirm_deletes=True)

    assert await mind.ask("hot") == state
    assert await mind.states() == dict.fromkeys(everything, "live")
