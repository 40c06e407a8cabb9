"""What an import leaves out or refuses, each time with the line; and nothing is half done."""

import json

import pytest
from memoryd.config import NotesSettings, Settings
from memoryd.errors import UsageError

MOST = 4_000
SMALL = Settings(notes=NotesSettings(max_ingest_bytes=MOST))
LONG = "word " * 1_000
FACTS = ["The kettle is blue", "The lamp is red", "The shelf is oak"]


async def exported(mind):
    for text in FACTS:
        await mind.ask("store", text=text, category="home")
    await mind.ask("hot", update=["identity", '{"agent_name": "Robin"}'])
    await mind.ask("tree", add=["garden", "The beds"])
    return await mind.ask("export")


def written(mind, whole):
    """The file, one field a line, and those lines."""
    text = json.dumps(whole, indent=1)
    (mind.root / "dump.json").write_text(text)
    return text.split("\n")


async def taken(mind, agent="default"):
    return await mind.facts(agent), await mind.ask("hot", agent_id=agent), await mind.ask("tree", agent_id=agent)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("reads", 2**63), ("reads", 2**64), ("reads", 10**400), ("reads", 2**63 - 1), ("reads", -1), ("reads", 1.5),
        ("reads", "3"), ("reads", None), ("reads", True), ("last_read", 2**64), ("last_read", -(2**63)),
        ("last_read", 10**9), ("importance", 10**400), ("importance", "high"), ("first_seen", 10**400),
        ("created_at", None), ("text", 5), ("category", None), ("kind", 7), ("kind", "k" * 101),
        ("task_state", "t" * 101), ("state", []), ("id", ""), ("id", "x" * 16), ("id", "\0"), ("stated", "yesterday"),
        ("edits", {"pin": 5}), ("edits", []), ("metadata", {"urls": [5]}), ("metadata", None),
    ],
)  # fmt: skip
async def test_a_field_that_cannot_be_is_refused_with_its_line(mind, new_mind, field, value):
    """One sentence that names the line and the field; of the facts before it none is in."""
    whole = await exported(mind)
    whole["facts"][1][field] = value
    lines = written(mind, whole)
    other = await new_mind()
    before = await taken(other)

    with pytest.raises(UsageError) as refused:
        await other.ask("import", file=str(mind.root / "dump.json"))

    line = [number for number, each in enumerate(lines, 1) if each.startswith(f'   "{field}":')][1]
    assert f"dump.json, line {line}, fact 2: " in refused.value.message
    assert "regex" not in refused.value.message
    assert field in refused.value.message
    assert await taken(other) == before


@pytest.mark.parametrize(
    ("name", "value", "said"),
    [
        ("hot_items", {"section": "identity", "key": "k", "value": 1, "deleted": 5}, "hot item 1: Expected `bool`"),
        ("hot_items", 5, "hot item 1: Expected `object`"), ("tree_nodes", {"path": 5}, "node 1: Expected `str`"),
        ("tree_nodes", {"path": "a"}, "node 1: Object missing required field `description`"),
        ("forgotten", "\0", "forgotten id 1: Expected 16 hex digits"), ("forgotten", 2**64, "forgotten id 1: "),
        ("forgotten", "x" * 5_000, "forgotten id 1: "), ("facts", {}, "fact 1: Object missing required field `id`"),
        ("facts", None, "fact 1: Expected `object`, got `null`"),
    ],
)  # fmt: skip
async def test_a_list_with_something_else_in_it_is_refused_with_its_line(mind, new_mind, name, value, said):
    """Before anything of the file is taken in, facts included."""
    whole = await exported(mind)
    whole[name] = [value]
    lines = written(mind, whole)
    other = await new_mind()
    before = await taken(other)

    with pytest.raises(UsageError) as refused:
        await other.ask("import", file=str(mind.root / "dump.json"))

    place, _, told = refused.value.message.partition(", ")
    line = int(told.removeprefix("line ").partition(",")[0])
    first = next(number for number, each in enumerate(lines, 1) if each.startswith(f' "{name}":'))
    assert (place.endswith("dump.json"), first < line <= first + 6) == (True, True)
    assert said in told
    assert await taken(other) == before


@pytest.mark.parametrize("version", [2**64, 0, -1, 2])
async def test_a_version_that_there_is_not_is_refused(mind, version):
    """Also one that no number of this machine can hold."""
    written(mind, await exported(mind) | {"version": version})

    with pytest.raises(UsageError):
        await mind.ask("import", file=str(mind.root / "dump.json"))


async def test_a_file_that_is_no_json_is_refused_with_its_line(mind):
    """The line at which reading ended."""
    whole = json.dumps(await exported(mind), indent=1)
    (mind.root / "dump.json").write_text(whole.replace('"forgotten": []', '"forgotten": [}'))

    with pytest.raises(UsageError) as refused:
        await mind.ask("import", file=str(mind.root / "dump.json"))

    line = whole[: whole.index('"forgotten"')].count("\n") + 1
    assert f"line {line} is no export" in refused.value.message


@pytest.mark.parametrize(
    "change",
    [
        {"text": LONG}, {"category": LONG}, {"edits": {"distilled": LONG}}, {"edits": {LONG: "x"}},
        {"metadata": {"urls": ["https://a.example/" + "x" * MOST]}}, {"text": "浇花" * 1_000},
    ],
    ids=lambda change: next(iter(change)),
)  # fmt: skip
async def test_a_fact_that_is_too_large_is_left_out_and_named(mind, new_mind, change):
    """Everything else comes in: the limit is that of notes."""
    whole = await exported(mind)
    whole["facts"][1] |= change
    lines = written(mind, whole)
    other = await new_mind(SMALL)

    reply = await other.ask("import", file=str(mind.root / "dump.json"))

    (left,) = reply["left_out"]
    facts = lines.index(' "facts": [')
    begins = [number for number, each in enumerate(lines, 1) if each == "  {" and number > facts]
    assert (left["line"], left["reason"].startswith("fact 2 has a text of ")) == (begins[1], True)
    assert (reply["facts"], reply["hot_items"], reply["tree_nodes"]) == (2, 1, 1)
    assert sorted(await other.facts()) == ["The kettle is blue", "The shelf is oak"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("hot_items", {"section": "identity", "key": "motto", "value": {"a": [LONG]}, "deleted": False}),
        ("hot_items", {"section": "identity", "key": LONG, "value": 1, "deleted": False}),
        ("tree_nodes", {"path": "cellar", "description": LONG}),
        ("tree_nodes", {"path": LONG, "description": "x"}),
    ],
)
async def test_other_things_that_are_too_large_are_left_out_and_named(mind, new_mind, name, value):
    """Of hot state and of the tree."""
    whole = await exported(mind)
    whole[name].append(value)
    written(mind, whole)
    other = await new_mind(SMALL)

    reply = await other.ask("import", file=str(mind.root / "dump.json"))

    assert [each["reason"].split(" has ")[0] for each in reply["left_out"]] in (["hot item 2"], ["node 2"])
    assert (reply["facts"], reply["hot_items"], reply["tree_nodes"]) == (3, 1, 1)


async def test_a_fact_of_just_the_limit_comes_in(mind, new_mind):
    """Escapes of JSON do not count: the words do."""
    whole = await exported(mind)
    text = "é" * (MOST // 2)
    whole["facts"][1]["text"] = text
    written(mind, whole)
    other = await new_mind(SMALL)

    reply = await other.ask("import", file=str(mind.root / "dump.json"))

    assert reply["left_out"] == []
    assert text in await other.facts()


async def test_a_node_without_a_name_is_none(mind, new_mind):
    """And the rest of the tree comes in."""
    whole = await exported(mind)
    whole["tree_nodes"] += [{"path": "", "description": "x"}, {"path": " / ", "description": "y"}]
    written(mind, whole)
    other = await new_mind()

    assert (await other.ask("import", file=str(mind.root / "dump.json")))["tree_nodes"] == 1


async def test_secrets_in_every_text_of_an_import_are_masked(mind):
    """Category, kind, edits, names in hot state and in the tree: a file edited by hand brings none in."""
    secret = "hunter2" + "secret"
    said = f"password: {secret}"
    whole = await exported(mind)
    whole["facts"][0] |= {"text": "The door is new", "category": said, "kind": said, "edits": {"distilled": said}}
    whole["hot_items"] = [{"section": "identity", "key": said, "value": {said: said}, "deleted": False},
                          {"section": said, "key": "k", "value": 1, "deleted": False}]  # fmt: skip
    whole["tree_nodes"] = [{"path": said, "description": said}]
    written(mind, whole)

    reply = await mind.ask("import", file=str(mind.root / "dump.json"))

    assert reply["facts"] == 1
    for table in ("facts", "mentions", "edits", "hot_items", "tree_nodes", "derived"):
        assert secret not in str(await mind.sql(f"SELECT * FROM {table}"))


@pytest.mark.parametrize("count", [2**63, 10**400, 1e300, -(10**400), 10**20])
async def test_no_number_of_the_original_stops_an_import_from_it(mind, count):
    """Counts become the nearest that can be; what no number can hold says nothing."""
    folder = mind.root / "old" / "memory"
    folder.mkdir(parents=True)
    (folder / "warm-memory.json").write_text(
        json.dumps([{"id": "a" * 12, "text": "The kettle is blue", "access_count": count, "created_at": count}])
    )
    (folder / "metrics.json").write_text(json.dumps({"retrieval_count": count, "last_consolidation": count}))

    reply = await mind.ask("import-legacy", from_=str(mind.root / "old"))
    await mind.hits("kettle")

    assert (reply["facts"], reply["damaged"]) == (1, [])
    assert (await mind.outcome("audit")).exit_code == 0
    assert (await mind.ask("metrics"))["retrieval_count"] <= 10**15 + 1


async def test_a_text_of_the_original_that_is_too_large_is_left_out_and_named(new_mind):
    """In the warm memory and in hot state; everything else comes over."""
    mind = await new_mind(SMALL)
    folder = mind.root / "old" / "memory"
    folder.mkdir(parents=True)
    (folder / "warm-memory.json").write_text(json.dumps([{"text": LONG}, {"text": "The kettle is blue"}]))
    (folder / "hot-memory-state.json").write_text(json.dumps({"critical_lessons": [LONG, "Measure twice"]}))

    reply = await mind.ask("import-legacy", from_=str(mind.root / "old"))

    assert [each["file"] for each in reply["damaged"]] == [
        "memory/warm-memory.json[0]", "memory/hot-memory-state.json: lessons[0]",
    ]  # fmt: skip
    assert sorted(await mind.facts()) == ["Measure twice", "The kettle is blue"]
