"""`audit` proves the balance and names what is off; `export` and `import` lose and double nothing."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.config import HotSettings, Settings, WarmSettings
from memoryd.errors import AccessError, NoInputError, TryLaterError, UsageError

NOTE = """# Friday

- Decided to use raw JSON-RPC #bsc
- see https://a.example/x for the docs
- [ ] Renew the certificate
- Kestrel listens on 8125
"""


async def audit(mind):
    outcome = await mind.outcome("audit")
    return outcome.exit_code, await mind.ask("audit")


async def lived(mind):
    """A memory with facts of every state, hot state and a tree."""
    await mind.note("memory/2026-02-13.md", NOTE)
    await mind.note("memory/robin/2026-02-12.md", "- Robin likes green tea\n")
    await mind.note("memory/2026-02-13.md", NOTE.replace("- Kestrel listens on 8125\n", ""))
    await mind.ask("store", text="The kettle is blue", category="home/kitchen", importance=0.4)
    await mind.ask("store", text="The safe stands behind the shelf", category="home")
    await mind.ask("forget", text="The safe stands behind the shelf")
    await mind.ask("hot", update=["identity", '{"agent_name": "Robin"}'])
    await mind.ask("hot", update=["lesson", '{"text": "Measure twice", "importance": 0.9}'])
    await mind.ask("tree", add=["home", "The house"])
    await mind.hits("kettle")
    return mind


async def test_a_sound_memory_passes(mind):
    """Exit code 0, every agent balanced, all sizes within their limits."""
    await lived(mind)

    code, found = await audit(mind)

    assert (code, found["ok"], found["problems"]) == (0, True, [])
    mine = found["agents"]["default"]
    assert mine["balanced"]
    assert mine["ingested"] == sum(mine["counts"].values()) == 7
    assert (mine["counts"]["retracted"], mine["counts"]["forgotten"]) == (1, 1)
    assert found["agents"]["robin"]["counts"]["warm"] + found["agents"]["robin"]["counts"]["hot"] == 1
    assert all(each["is"] <= each["limit"] for each in mine["sizes"].values())


@pytest.mark.parametrize(
    ("damage", "what"),
    [
        ("UPDATE derived SET tier = 'cold' WHERE tier = 'warm'", "neither hot nor warm"),
        ("UPDATE derived SET tier = '' WHERE tier = 'warm'", "has no tier"),
        ("UPDATE derived SET tier = 'warm' WHERE state = 'retracted'", "not live has a tier"),
        ("UPDATE derived SET state = 'merged', tier = '' WHERE tier = 'warm'", "do not follow"),
        ("UPDATE derived SET score = score + 0.1", "not today's"),
        ("UPDATE derived SET tier = 'warm' WHERE tier = 'hot'", "should be hot"),
        ("INSERT INTO edits SELECT agent_id, fact_id, 'importance', '0', '9', 1 FROM derived LIMIT 1", "do not follow"),
        ("DELETE FROM derived WHERE tier = 'warm'", "no derived values"),
        ("UPDATE totals SET facts = facts + 1 WHERE tier = 'warm'", "totals do not count"),
        ("UPDATE totals SET bytes = bytes - 1", "totals do not count"),
        ("DELETE FROM totals", "totals do not count"),
        ("INSERT INTO totals VALUES ('default', 'nowhere', 'cold', 1, 1)", "totals do not count"),
        ("DELETE FROM search_index", "index does not hold"),
        ("UPDATE notes SET mentions = mentions + 1", "counts other mentions"),
        ("UPDATE derived SET fact_id = 'x' WHERE n = (SELECT max(n) FROM derived)", "belong to no fact"),
        ("INSERT INTO forgotten SELECT agent_id, id, '9', '', '', 0 FROM facts LIMIT 1", "still here"),
    ],
)  # fmt: skip
async def test_what_is_off_is_named(mind, damage, what):
    """Each kind of damage is found: exit code 1 and a problem that says it."""
    await lived(mind)
    await mind.sql(damage)

    code, found = await audit(mind)

    assert code == 1
    assert not found["ok"]
    assert found["found"] >= 1
    assert any(what in each["what"] for each in found["problems"])


async def test_a_lost_derived_row_breaks_the_balance(mind):
    """The sum of the states is less than what was ingested."""
    await lived(mind)
    await mind.sql("DELETE FROM derived WHERE state = 'retracted'")

    _, found = await audit(mind)

    assert not found["agents"]["default"]["balanced"]


_STEPS = st.lists(
    st.one_of(
        st.tuples(st.just("store"), st.integers(0, 19), st.sampled_from([0.2, 0.5, 0.9])),
        st.tuples(st.just("note"), st.lists(st.integers(0, 19), max_size=6), st.integers(0, 2)),
        st.tuples(st.just("forget"), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("read"), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("lesson"), st.integers(0, 9), st.sampled_from([0.3, 0.8])),
        st.tuples(st.just("wait"), st.sampled_from([1, 20, 45, 200]), st.just(0)),
        st.tuples(st.just("undo"), st.just(0), st.just(0)),
        st.tuples(st.just("done"), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("remove"), st.integers(0, 9), st.just(0)),
        st.tuples(st.just("dream"), st.just(0), st.just(0)),
        st.tuples(st.just("consolidate"), st.sampled_from(["quick", "daily", "full"]), st.just(0)),
    ),
    max_size=10,
)
_WORDS = ["kettle", "kestrel", "shelf", "bridge", "violin", "harbour", "lantern", "orchard", "quarry", "thimble"]


def sentence(number):
    """So long that warm cannot hold all; from 10 on the fuller wording of the same thing."""
    said = f"As everybody in the old house has known for years the {_WORDS[number % 10]} is blue"
    return said + (" and tall" if number >= 10 else "")


async def step(mind, action, one, two):
    if action == "store":
        await mind.ask("store", text=sentence(one), category=f"home/{_WORDS[one % 10]}", importance=two)
    elif action == "note":
        lines = [f"- {sentence(each)} (importance: 0.8)\n" for each in one] or ["- Nothing else today\n"]
        await mind.note(f"memory/2026-02-1{two}.md", "".join(lines))
    elif action == "forget":
        await mind.ask("forget", text=sentence(one))
    elif action == "read":
        await mind.hits(_WORDS[one])
    elif action == "lesson":
        value = json.dumps({"text": sentence(one), "importance": two})
        await mind.ask("hot", update=["lesson", value])
    elif action == "wait":
        mind.clock.advance(one * 86_400)
    elif action in ("undo", "dream"):
        await mind.ask(action)
    elif action in ("done", "remove"):
        await mind.ask("hot", **{action: sentence(one)})
    else:
        await mind.ask("consolidate", mode=one)


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_STEPS)
async def test_every_history_keeps_the_balance(new_mind, steps):
    """After every step on any days every live fact is in exactly one tier and all limits hold, small ones too."""
    mind = await new_mind(Settings(warm=WarmSettings(max_kb=1), hot=HotSettings(max_bytes=600)))
    for action, one, two in steps:
        try:
            await step(mind, action, one, two)
        except (NoInputError, TryLaterError, UsageError):
            continue

        code, found = await audit(mind)

        assert (code, found["problems"]) == (0, [])
        assert all(each["balanced"] for each in found["agents"].values())
        live = [tier for state, tier in (await mind.facts()).values() if state == "live"]
        assert set(live) <= {"hot", "warm", "cold", "frozen"}


async def test_tr4_importing_twice_changes_nothing_the_second_time(mind, new_mind):
    """TR-4: the same counts after the first and the second import, and the same export out again."""
    await lived(mind)
    dump = mind.root / "dump.json"
    dump.write_text(json.dumps(await mind.ask("export")))
    other = await new_mind()

    first = await other.ask("import", file=str(dump))
    facts, page = await other.facts(), (other.workspace / "MEMORY.md").read_bytes()
    second = await other.ask("import", file=str(dump))

    assert (first["facts"], first["hot_items"], first["tree_nodes"], first["skipped"]) == (5, 2, 1, 1)
    assert second == dict.fromkeys(first, 0) | {"already_there": 5, "skipped": 1, "left_out": []}
    assert await other.facts() == facts
    assert (other.workspace / "MEMORY.md").read_bytes() == page
    assert {text: state for text, (state, _) in facts.items()} == {
        text: state for text, (state, _) in (await mind.facts()).items() if state == "live"
    }


async def test_an_import_keeps_dates_reads_and_metadata(mind, new_mind):
    """Nothing is lost (docs/original.md, D12): a fact of last year with three reads is that in the other memory."""
    await mind.note("memory/2025-12-01.md", "- see https://a.example/x for the docs #web\n")
    for _ in range(3):
        await mind.hits("docs")
        mind.clock.advance(86_400)
    await mind.ask("consolidate")  # the day has changed since the last read
    dump = mind.root / "dump.json"
    dump.write_text(json.dumps(await mind.ask("export")))
    other = await new_mind()
    other.clock.advance(3 * 86_400)

    await other.ask("import", file=str(dump))

    (ours,) = await mind.ask("retrieve", query="docs")
    (theirs,) = await other.ask("retrieve", query="docs")
    same = ("id", "text", "category", "importance", "created_at", "access_count", "metadata", "kind", "tier", "score")
    assert {name: ours[name] for name in same} == {name: theirs[name] for name in same}
    assert ours["access_count"] == 3


async def test_what_is_current_stays_so_in_an_import(mind, new_mind):
    """Age and contradictions go by the day of the latest statement, not by that of the first."""
    await mind.note("memory/2026-01-02.md", "# Ops\n- The port of kestrel is 8081\n- The kettle is blue\n")
    await mind.note("memory/2026-01-03.md", "# Ops\n- The port of kestrel is 8082\n")
    await mind.note("memory/2026-02-12.md", "# Ops\n- The port of kestrel is 8081\n- 10:40 The kettle is blue\n")
    for port in ("8083", "8084", "8083"):
        mind.clock.advance(1)
        await mind.ask("store", text=f"port is {port}", category="ops")
    await mind.ask("consolidate")
    dump = mind.root / "dump.json"
    dump.write_text(json.dumps(await mind.ask("export")))
    other = await new_mind()
    other.clock.advance(10)

    await other.ask("import", file=str(dump))
    await other.ask("consolidate")

    assert await other.facts() == await mind.facts()
    assert (await other.facts())["The port of kestrel is 8082"] == ("superseded", "")
    assert (await other.facts())["port is 8084"] == ("superseded", "")
    ours, theirs = (
        await mind.sql("SELECT fact_id, score, latest_day FROM derived ORDER BY 1"),
        await other.sql("SELECT fact_id, score, latest_day FROM derived ORDER BY 1"),
    )
    assert ours == theirs


async def test_an_export_has_the_moment_at_which_a_fact_was_stated_last(mind):
    """A clock time in a note is a minute, which is over when the command says the same within it."""
    await mind.note("memory/2026-02-13.md", "- 10:00 I love tea\n")
    mind.clock.advance(30)
    await mind.ask("store", text="I love tea", category="taste")

    (fact,) = (await mind.ask("export"))["facts"]

    assert fact["stated"] == "2026-02-13T10:00:30.000Z"


@pytest.mark.parametrize("stated", ["2026-02-30", "yesterday", "2026-2-3", "2026-02-03T25:00Z", "2026-02-03'"])
async def test_a_date_that_is_none_spoils_no_import(mind, new_mind, stated):
    """Of an export that was edited by hand: refused, or taken in without that date."""
    await mind.ask("store", text="The kettle is blue", category="home")
    whole = await mind.ask("export")
    whole["facts"][0]["stated"] = stated
    (mind.root / "dump.json").write_text(json.dumps(whole))
    other = await new_mind()

    if stated == "2026-02-30":
        await other.ask("import", file=str(mind.root / "dump.json"))
        assert await other.facts() == {"The kettle is blue": ("live", "warm")}
    else:
        with pytest.raises(UsageError):
            await other.ask("import", file=str(mind.root / "dump.json"))


async def test_two_agents_of_similar_ids_come_over_apart(mind, new_mind):
    """The same words in both, one forgotten in one of them: each its own, and twice changes nothing."""
    agents = ("robin", "robin-2")
    for agent in agents:
        await mind.ask("store", text="The shared words", category="x", agent_id=agent)
        await mind.ask("store", text=f"Only {agent} knows", category="x", agent_id=agent)
        await mind.ask("hot", update=["lesson", json.dumps({"text": f"Lesson of {agent}"})], agent_id=agent)
    await mind.ask("forget", text="The shared words", agent_id="robin")
    other = await new_mind()
    for agent in agents:
        (mind.root / f"{agent}.json").write_text(json.dumps(await mind.ask("export", agent_id=agent)))

    replies = [
        await other.ask("import", file=str(mind.root / f"{agent}.json"), agent_id=agent)
        for _ in range(2) for agent in agents
    ]  # fmt: skip

    assert [each["facts"] for each in replies] == [2, 3, 0, 0]
    for agent in agents:
        assert await other.facts(agent) == await mind.facts(agent)
        assert await other.ask("hot", agent_id=agent) == await mind.ask("hot", agent_id=agent)
    assert await other.hits("shared words", agent_id="robin") == []
    assert await other.hits("shared words", agent_id="robin-2") == ["The shared words"]
    assert await other.ask("retrieve", query="shared words") == []


async def test_tr5_an_import_brings_nothing_forgotten_back(mind):
    """TR-5: forget, then import an older dump: it stays forgotten, and the reply says so."""
    await mind.ask("store", text="The safe stands behind the shelf", category="home")
    dump = mind.root / "dump.json"
    dump.write_text(json.dumps(await mind.ask("export")))
    await mind.ask("forget", text="The safe stands behind the shelf")

    reply = await mind.ask("import", file=str(dump))

    assert reply["kept_forgotten"] == 1
    assert await mind.hits("safe shelf") == []


async def test_what_was_forgotten_there_stays_silent_here(mind, new_mind):
    """A tombstone of the export holds for a line that a note says later."""
    await mind.ask("store", text="The safe stands behind the shelf", category="home")
    await mind.ask("forget", text="The safe stands behind the shelf")
    dump = mind.root / "dump.json"
    dump.write_text(json.dumps(await mind.ask("export")))
    other = await new_mind()

    await other.ask("import", file=str(dump))
    await other.note("memory/2026-02-13.md", "- The safe stands behind the shelf\n")

    assert await other.hits("safe shelf") == []


async def test_an_import_for_another_agent_gives_it_the_facts(mind):
    """Ids belong to an agent; the import names anew, lessons included."""
    await mind.ask("hot", update=["lesson", '{"text": "Measure twice", "importance": 0.9}'])
    dump = mind.root / "dump.json"
    dump.write_text(json.dumps(await mind.ask("export")))

    await mind.ask("import", file=str(dump), agent_id="robin")

    lessons = (await mind.ask("hot", agent_id="robin"))["critical_lessons"]
    assert [each["text"] for each in lessons] == ["Measure twice"]


async def test_an_export_into_a_folder_is_json_and_markdown(mind):
    """Both files, readable, and no note of the workspace is touched; a second time overwrites them."""
    await lived(mind)
    before = mind.bytes_of_notes()

    for _ in range(2):
        reply = await mind.ask("export", output=str(mind.root / "out"))

    markdown = (mind.root / "out/memoryd-export.md").read_text("utf-8")
    assert reply["facts"] == 6
    assert "## home/kitchen" in markdown
    assert "- Decided to use raw JSON-RPC (2026-02-13, memory/2026-02-13.md:3)" in markdown
    assert "behind the shelf" not in markdown
    assert sorted(path.name for path in (mind.root / "out").iterdir()) == ["memoryd-export.json", "memoryd-export.md"]
    assert mind.bytes_of_notes() == before
    with pytest.raises(AccessError):
        await mind.ask("export", output="/proc/none")


async def test_secrets_in_an_export_of_somebody_else_are_masked(mind):
    """A file that was edited by hand brings no secret into the memory."""
    await mind.ask("store", text="The kettle is blue", category="home")
    secret = "hunter2" + "secret"
    whole = await mind.ask("export")
    whole["facts"][0] |= {"text": f"password: {secret}", "metadata": {"commands": [f"login --password={secret}"]}}
    whole["hot_items"] = [{"section": "identity", "key": "note", "value": f"password: {secret}", "deleted": False}]
    dump = mind.root / "dump.json"
    dump.write_text(json.dumps(whole))

    await mind.ask("import", file=str(dump))

    for table in ("facts", "mentions", "hot_items"):
        assert secret not in str(await mind.sql(f"SELECT * FROM {table}"))


@pytest.mark.parametrize("content", [b"", b"{}", b"[1]", b"\xff", b'{"format": "x"}'])
async def test_what_is_no_export_is_refused(mind, content):
    """64 with a sentence; a missing file is 66."""
    (mind.root / "dump.json").write_bytes(content)

    with pytest.raises(UsageError):
        await mind.ask("import", file=str(mind.root / "dump.json"))
    with pytest.raises(NoInputError):
        await mind.ask("import", file="none.json")


async def test_an_export_of_a_later_version_is_refused(mind):
    """It may hold what this version would lose."""
    whole = await mind.ask("export")
    (mind.root / "dump.json").write_text(json.dumps(whole | {"version": 2}))

    with pytest.raises(UsageError):
        await mind.ask("import", file=str(mind.root / "dump.json"))


@pytest.mark.parametrize("seconds", [-63_000_000_000, -1e15, -1e308, 1e12, 1e308])
async def test_a_time_that_no_date_has_comes_in_as_the_nearest_that_one_has(mind, new_mind, seconds):
    """And what came in can be exported."""
    await mind.ask("hot", update=["lesson", '{"text": "The kettle is blue"}'])
    whole = await mind.ask("export")
    whole["facts"][0] |= {"first_seen": seconds, "created_at": seconds, "stated": ""}
    (mind.root / "dump.json").write_text(json.dumps(whole))
    other = await new_mind()

    await other.ask("import", file=str(mind.root / "dump.json"))
    await other.ask("export", output="out")

    day = "0001-01-01" if seconds < 0 else "2026-02-13"  # what is to come was seen today
    assert f"- The kettle is blue ({day})" in (other.workspace / "out/memoryd-export.md").read_text("utf-8")
    assert -62_135_596_800 <= (await other.ask("export"))["facts"][0]["first_seen"] < 253_402_300_800


async def test_a_time_that_no_date_has_in_the_rows_does_not_stop_an_export(mind):
    """An older version could take it in."""
    await mind.ask("store", text="The kettle is blue", category="home")
    await mind.sql("UPDATE derived SET created_at = -1e18")

    await mind.ask("export", output="out")

    assert "- The kettle is blue (0001-01-01)" in (mind.workspace / "out/memoryd-export.md").read_text("utf-8")


async def test_a_nul_anywhere_in_an_import_becomes_another_character(mind, new_mind):
    """The whole file comes in; none of its texts is cut short."""
    await mind.ask("store", text="The kettle is b?lue", category="home")
    await mind.ask("hot", update=["identity", '{"mo?tto": "a?b"}'])
    await mind.ask("tree", add=["garden", "beds?"])
    dump = mind.root / "dump.json"
    whole = await mind.ask("export")
    whole["facts"][0]["category"] = "home/k?z"
    dump.write_text(json.dumps(whole).replace("?", "\\u0000"))
    other = await new_mind()

    await other.ask("import", file=str(dump))

    whole = await other.ask("export")
    assert [(each["text"], each["category"]) for each in whole["facts"]] == [
        ("The kettle is b\ufffdlue", "home/k\ufffdz")
    ]
    assert whole["hot_items"][0] | {"section": ""} == {
        "section": "", "key": "mo\ufffdtto", "value": "a\ufffdb", "deleted": False,
    }  # fmt: skip
    assert whole["tree_nodes"][0]["description"] == "beds\ufffd"
