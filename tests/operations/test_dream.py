"""Dreams: what they join, what they leave, and that each step goes back exactly (docs/memory.md, 3)."""

import asyncio
import json
from functools import partial

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.errors import NoInputError, TryLaterError, UsageError
from memoryd.operations.asking import Turn
from memoryd.operations.dream import dream_all
from memoryd.operations.last_dream import LastDream, has_changed, keep
from memoryd.store.thread import Priority
from memoryd.store.versions import set_edit

DAY = 86_400
SHORT, LONG = "Use 150-char abstracts", "Use 150-char abstracts in briefings"
NOTE = f"## Writing\n- Lesson: {SHORT}\n"


async def store(mind, *texts, importance=0.8, **more):
    for text in texts:
        await mind.ask("store", text=text, category="writing", importance=importance, **more)


async def rows(mind):
    """Everything that replicates and is derived, without versions and revisions."""
    found = {}
    for table, columns in {
        "edits": "fact_id, field, value", "mentions": "path, n, fact_id, category", "facts": "id, text",
        "derived": "fact_id, state, tier, category, importance",
    }.items():  # fmt: skip
        where = " WHERE value IS NOT NULL" if table == "edits" else ""
        found[table] = await mind.sql(f"SELECT {columns} FROM {table}{where} ORDER BY {columns}")
    return found


async def test_the_fuller_wording_stands_for_the_shorter_one(mind):
    """Found once, with the places of both; the shorter one is in history, with a link each way."""
    await mind.note("memory/2026-02-10.md", f"# Writing\n- {SHORT} (importance: 0.8)\n")
    await mind.note("memory/2026-02-11.md", f"# Writing\n- {LONG} (importance: 0.8)\n")

    reply = await mind.ask("dream")

    assert (reply["merged"], reply["consolidated"]) == (1, 0)
    assert await mind.states() == {SHORT: "merged", LONG: "live"}
    (hit,) = await mind.ask("retrieve", query="150-char abstracts")
    assert [each["file"] for each in hit["sources"]] == ["memory/2026-02-11.md", "memory/2026-02-10.md"]
    assert (await mind.ask("history", text=SHORT))["merged_into"]["text"] == LONG
    assert [each["text"] for each in (await mind.ask("history", text=LONG))["merged"]] == [SHORT]
    assert (await mind.outcome("audit")).exit_code == 0


async def test_weaker_wordings_are_consolidated_from_three_statements_on(mind):
    """Below confidence 7 on one side, two statements are not enough."""
    for day in (9, 10):
        await mind.note(f"memory/2026-02-{day:02d}.md", f"# Lessons\n- {SHORT} (importance: 0.6)\n")
    assert (await mind.ask("dream"))["steps"] == []

    await mind.note("memory/2026-02-11.md", f"# Lessons\n- {LONG} (importance: 0.9)\n")
    reply = await mind.ask("dream")

    kinds = await mind.sql("SELECT DISTINCT kind FROM derived")
    assert kinds == [("lesson",)]
    assert (reply["merged"], reply["consolidated"]) == (0, 1)
    assert await mind.states() == {SHORT: "merged", LONG: "live"}


async def test_a_part_below_confidence_seven_is_not_merged(mind):
    """The example of the second seed merges a 6; every part has to have 7."""
    await store(mind, SHORT, importance=0.6)
    await store(mind, LONG, importance=0.9)

    assert (await mind.ask("dream"))["steps"] == []


async def test_dreaming_twice_changes_nothing_more(mind):
    """The second dream finds nothing, and writes nothing."""
    await store(mind, SHORT, LONG, "Prefers tea", "I love night trains", "I hate night trains")
    first = await mind.ask("dream")
    before = await rows(mind)
    rev = await mind.memory.thread.call(lambda store: store.rev)

    second = await mind.ask("dream")

    assert (first["merged"], first["superseded"]) == (1, 1)
    assert second["steps"] == []
    assert await rows(mind) == before
    assert await mind.memory.thread.call(lambda store: store.rev) == rev


async def test_a_dry_run_says_the_same_and_writes_nothing(mind):
    """Every row and every counter stays."""
    await store(mind, SHORT, LONG, "I love night trains", "I hate night trains")
    before = await rows(mind), await mind.memory.thread.call(lambda store: store.rev)

    told = await mind.ask("dream", dry_run=True)
    assert (await mind.ask("status"))["dreams"] is None
    assert (await rows(mind), await mind.memory.thread.call(lambda store: store.rev)) == before
    assert (await mind.ask("dream", log=True))["log"] == []
    done = await mind.ask("dream")

    without = [{**step, "change": 0} for step in done["steps"]]
    assert told["steps"] == without
    assert len(without) == 2


async def test_each_step_goes_back_exactly_and_is_not_done_again(mind):
    """By its number, in any order; the log says so."""
    await store(mind, SHORT, LONG, "Always run the linter", "Always run the linter and tests")
    before = await rows(mind)
    steps = (await mind.ask("dream"))["steps"]

    for step in steps:
        await mind.ask("undo", n=step["change"])

    assert len(steps) == 2
    assert await rows(mind) == before
    assert (await mind.ask("dream"))["steps"] == []
    log = (await mind.ask("dream", log=True))["log"]
    assert {(each["step"], each["undone"]) for each in log} == {("merge", True)}
    assert {tuple(each["before"].values()) for each in log} == {(None,)}
    assert {each["after"]["merged_into"] for each in log} == {step["fact"] for step in steps}


async def test_what_a_later_note_still_states_is_current_again_at_once(mind):
    """Without another dream; and so is a wording whose fuller one is gone."""
    await mind.note("memory/2026-02-10.md", f"# Writing\n- {SHORT} (importance: 0.8)\n")
    await mind.note("memory/2026-02-11.md", f"# Writing\n- {LONG} (importance: 0.8)\n- a\n")
    await mind.ask("dream")

    await mind.note("memory/2026-02-12.md", f"# Writing\n- {SHORT} (importance: 0.8)\n")
    assert (await mind.states())[SHORT] == "live"
    assert (await mind.ask("dream"))["steps"] == []
    await mind.note("memory/2026-02-13.md", f"# Writing\n- {LONG} (importance: 0.8)\n- b\n")
    assert (await mind.states())[SHORT] == "merged"
    await mind.note("memory/2026-02-11.md", "# Writing\n- a\n")
    await mind.note("memory/2026-02-13.md", "# Writing\n- b\n")

    assert (await mind.states())[SHORT] == "live"
    assert await mind.hits("150-char abstracts") == [SHORT]


async def test_a_contradiction_ends_when_the_later_sentence_is_taken_back(mind):
    """Nothing hides a fact that stands alone again."""
    await mind.note("memory/2026-02-10.md", "- I love night trains\n")
    await mind.note("memory/2026-02-11.md", "- I hate night trains\n- x y z\n")
    assert (await mind.ask("dream"))["superseded"] == 1

    await mind.note("memory/2026-02-11.md", "- x y z\n")

    assert (await mind.states())["I love night trains"] == "live"


@pytest.mark.parametrize(
    "more",
    [
        {"url": ["https://a.example/x"]},
        {"command": ["make all"]},
        {"importance": 0.5},
    ],
)
async def test_what_the_fuller_wording_lacks_keeps_both(mind, more):
    """A link, a command, or too little weight."""
    await mind.ask("store", text=SHORT, category="writing", **{"importance": 0.8, **more})
    await store(mind, LONG)

    assert (await mind.ask("dream"))["steps"] == []


async def test_the_fullest_of_several_wordings_stands_for_all_that_it_says(mind):
    """Not the nearest one; the answer does not depend on which came first."""
    await store(mind, "Use short abstracts in briefings and mails", "Use short abstracts in briefings")
    await store(mind, "Use short abstracts", "Use short abstracts, Bob says")

    await mind.ask("dream")

    assert await mind.states() == {
        "Use short abstracts": "merged",
        "Use short abstracts in briefings": "merged",
        "Use short abstracts in briefings and mails": "live",
        "Use short abstracts, Bob says": "live",
    }
    told = await mind.ask("history", text="Use short abstracts")
    assert told["merged_into"]["text"] == "Use short abstracts in briefings"


async def test_other_categories_and_other_agents_are_not_joined(mind):
    """Merging stays within one category of one agent."""
    await store(mind, SHORT)
    await mind.ask("store", text=LONG, category="cooking", importance=0.8)
    await mind.ask("store", agent_id="robin", text=LONG, category="writing", importance=0.8)

    assert (await mind.ask("dream"))["steps"] == []
    assert (await mind.ask("dream", agent_id="robin"))["steps"] == []


async def test_what_somebody_put_into_hot_state_or_on_the_page_stays(mind):
    """A hand-written lesson and a line of MEMORY.md are wanted where they are."""
    await mind.ask("hot", update=("lesson", json.dumps({"text": SHORT, "category": "writing", "importance": 0.8})))
    await mind.note("MEMORY.md", "# Writing\n- Always run the linter (importance: 0.8)\n")
    mind.clock.advance(DAY)
    await store(mind, LONG, "Always run the linter and tests")

    assert (await mind.ask("dream"))["steps"] == []


async def test_a_joined_wording_that_somebody_puts_into_hot_state_stands_there(mind):
    """It is current again, is not joined anew, and the fuller one stays."""
    await store(mind, SHORT, LONG)
    assert (await mind.ask("dream"))["merged"] == 1

    await mind.ask("hot", update=("lesson", json.dumps({"text": SHORT, "category": "writing", "importance": 0.9})))

    assert SHORT in [each["text"] for each in (await mind.ask("hot"))["critical_lessons"]]
    assert (await mind.ask("dream"))["steps"] == []
    assert await mind.states() == {SHORT: "live", LONG: "live"}


async def test_tasks_questions_and_passing_facts_are_never_joined(mind):
    """Only standing knowledge is."""
    lines = [SHORT, LONG]
    tasks = "".join(f"- [ ] {each} (importance: 0.9)\n" for each in lines)
    await mind.note("memory/2026-02-10.md", "# Writing\n" + tasks + "- Went to see Anna\n- Went to see Anna at home\n")

    assert (await mind.ask("dream"))["steps"] == []


async def test_forgetting_takes_joined_wordings_along_and_undo_brings_all_back(mind):
    """From either side; with --only just the one."""
    await store(mind, SHORT, LONG)
    await mind.ask("dream")

    gone = await mind.ask("forget", text=SHORT)
    assert len(gone["forgotten"]) == 2
    assert await mind.facts() == {}
    await mind.ask("undo")
    await store(mind, SHORT, LONG)
    await mind.ask("dream")
    assert len((await mind.ask("forget", text=LONG))["forgotten"]) == 2
    await mind.ask("undo")
    await store(mind, SHORT, LONG)
    await mind.ask("dream")

    await mind.ask("forget", text=LONG, only=True)

    assert await mind.states() == {SHORT: "live"}


async def test_layers_follow_the_day_and_a_read_brings_a_fact_back(mind):
    """Contextual for 30 days, then archive; faded after 90; found all the while."""
    await mind.note("memory/2026-02-13.md", "- The boiler hums in B flat\n- Lesson: never touch the boiler\n")

    async def layer(text="The boiler hums in B flat"):
        (fact,) = [row[0] for row in await mind.sql("SELECT id FROM facts WHERE text = ?", text)]
        return (await mind.ask("why", id=fact))["layer"], (await mind.ask("why", id=fact))["reasons"][-1][:10]

    lesson = "Lesson: never touch the boiler"
    start = await layer(), await layer(lesson)
    await mind.ask("dream")
    mind.clock.advance(31 * DAY)
    month = await layer(), await layer(lesson)
    told = await mind.ask("dream")
    found = await mind.hits("boiler hums")
    read = await layer()
    mind.clock.advance(60 * DAY)
    later = await mind.ask("dream")

    assert start == (("contextual", "It is cont"), ("long_term", "It is long"))
    assert month == (("archive", "It is in t"), ("long_term", "It is long"))
    assert (told["archived"], told["layers"]) == (1, {"long_term": 1, "contextual": 0, "archive": 1})
    assert found[0] == "The boiler hums in B flat"
    assert read == ("contextual", "It is cont")
    assert (later["faded"], later["layers"]["archive"]) == (2, 2)
    assert (await layer(lesson))[1] == "It has fad"
    assert "The boiler hums in B flat" in await mind.hits("boiler hums")
    log = (await mind.ask("dream", log=True))["log"]
    assert [(each["step"], each["before"], each["after"]) for each in log[-1:]] == [
        ("archive", {"layer": "contextual"}, {"layer": "archive"})
    ]


async def test_the_daemons_dream_looks_only_where_something_changed(mind):
    """New facts by the half hour, everything once a day; the same rows not again."""
    await store(mind, SHORT)
    assert len(await dream_all(mind.memory, deep=True)) == 1
    assert await dream_all(mind.memory, deep=True) == []
    assert await dream_all(mind.memory, deep=False) == []
    await store(mind, LONG)

    (light,) = await dream_all(mind.memory, deep=False)

    assert (light.looked_at, light.merged, light.layers) == (2, 1, {})
    assert light.steps[0].text == LONG
    assert (await mind.ask("status"))["dreams"]["merged"] == 1
    assert not await has_changed(mind.memory, "default", deep=False)
    mind.clock.advance(DAY)
    assert await has_changed(mind.memory, "default", deep=True)
    assert not await has_changed(mind.memory, "default", deep=False)


async def test_what_comes_during_a_dream_is_for_the_next_one(mind):
    """A fact that is stored after the dream looked for new ones is not passed over by the dreams of the half hours."""
    await store(mind, "Rule one alpha beta", "Rule one alpha beta gamma", SHORT)
    undisturbed, steps = mind.memory.asking.undisturbed, []

    async def next_step():
        steps.append(1)
        if len(steps) == 8:  # what is new was looked for; now it is written
            await store(mind, LONG)
        return await undisturbed()

    mind.memory.asking.undisturbed = next_step
    (first,) = await dream_all(mind.memory, deep=True)
    assert len(steps) >= 8
    assert await has_changed(mind.memory, "default", deep=False)

    (light,) = await dream_all(mind.memory, deep=False)

    assert (first.merged, light.merged) == (1, 1)
    assert await mind.states() == {
        SHORT: "merged", LONG: "live", "Rule one alpha beta": "merged", "Rule one alpha beta gamma": "live"
    }  # fmt: skip
    assert not await has_changed(mind.memory, "default", deep=False)


async def test_a_request_during_a_dream_is_answered_first(mind):
    """The dream stands still between two steps until nobody waits, then ends its work."""
    lines = "".join(f"- Lesson: rule {n:03d} alpha beta\n- Lesson: rule {n:03d} alpha beta gamma\n" for n in range(60))
    await mind.note("memory/2026-02-10.md", "# Writing\n" + lines)
    order, begun = [], asyncio.Event()
    undisturbed = mind.memory.asking.undisturbed

    async def next_step():
        order.append("step")
        if len(order) == 10:
            begun.set()
            await asyncio.sleep(0)  # the request comes in between two steps
        return await undisturbed()

    async def ask():
        await begun.wait()
        with mind.memory.asking.answering():
            for _ in range(30):
                await mind.memory.thread.call(lambda store: store.rev, priority=Priority.READ)
            order.append("answered")

    mind.memory.asking.undisturbed = next_step
    reply, _ = await asyncio.gather(mind.ask("dream"), ask())

    assert order.index("answered") == 10
    assert reply["paused"] == 1
    assert reply["merged"] == 60
    assert len(order) > 60


def lessons(numbers):
    """A note in which each lesson stands twice, the second time in fuller words."""
    return "# Writing\n" + "".join(
        f"- Lesson: rule {n:03d} alpha beta\n- Lesson: rule {n:03d} alpha beta gamma\n" for n in numbers
    )


async def test_the_steps_of_dreams_do_not_push_out_what_a_person_did(mind):
    """The log of changes keeps both kinds apart, and an undo without a number takes back what a person did."""
    await mind.ask("hot", update=("lesson", json.dumps({"text": "Mine", "category": "x", "importance": 0.9})))
    await mind.note("memory/2026-02-10.md", lessons(range(210)))
    await mind.ask("dream")

    changes = (await mind.ask("undo", list=True))["changes"]

    assert len(changes) == 201
    assert changes[-1]["what"] == "hot --update lesson"
    assert (await mind.ask("undo"))["what"] == "hot --update lesson"
    with pytest.raises(NoInputError):
        await mind.ask("undo")


async def test_a_large_dream_goes_back_whole_and_exactly(mind, monkeypatch):
    """More steps than are kept of earlier dreams: one undo, every row as it was, and nothing is done again."""
    monkeypatch.setattr("memoryd.operations.dream_undo.KEPT_STEPS", 50)
    monkeypatch.setattr("memoryd.operations.dream_undo.STEPS_AT_ONCE", 40)
    monkeypatch.setattr("memoryd.operations.dream_log.KEPT", 50)
    await mind.note("memory/2026-02-10.md", lessons(range(230)))
    before = await rows(mind)
    assert (await mind.ask("dream"))["merged"] == 230
    assert await mind.sql("SELECT count(*) FROM dream_log") == [(230,)]

    reply = await mind.ask("undo", dream=True)

    assert (reply["what"], reply["rows"], reply["changed_since"]) == ("dream", 230, 0)
    assert await rows(mind) == before
    assert (await mind.ask("dream"))["steps"] == []
    with pytest.raises(NoInputError):
        await mind.ask("undo", dream=True)
    with pytest.raises(UsageError):
        await mind.ask("undo", dream=True, n=1)


async def test_dreams_are_kept_and_undone_one_by_one(mind, monkeypatch):
    """The last one first; beyond the number of steps the oldest is let go of whole, with its log."""
    monkeypatch.setattr("memoryd.operations.dream_undo.KEPT_STEPS", 12)
    monkeypatch.setattr("memoryd.operations.dream_log.KEPT", 12)
    for day in (10, 11, 12):
        await mind.note(f"memory/2026-02-{day}.md", lessons(range(5 * day, 5 * day + 5)))
        await mind.ask("dream")

    backs = [await mind.ask("undo", dream=True) for _ in range(2)]

    assert [each["rows"] for each in backs] == [5, 5]
    assert backs[0]["undone"] > backs[1]["undone"]
    assert list((await mind.states()).values()).count("merged") == 5
    assert await mind.sql("SELECT count(*) FROM undo_log") == [(10,)]
    with pytest.raises(NoInputError):
        await mind.ask("undo", dream=True)


async def test_what_was_changed_since_a_dream_stands_when_it_goes_back(mind):
    """A step that somebody took back and one that was overwritten are left; the rest goes back, then the dream before.

    What was left can still be taken back alone, once its facts are again as the dream made them.
    """
    await mind.note("memory/2026-02-09.md", lessons(range(10, 12)))
    await mind.ask("dream")
    await mind.note("memory/2026-02-10.md", lessons(range(3)))
    steps = (await mind.ask("dream"))["steps"]
    await mind.ask("undo", n=steps[0]["change"])
    other = steps[2]["fact"]

    def overwrite(store, whole):
        with store.transaction() as tx:
            set_edit(tx, "default", steps[1]["parts"][0]["id"], "merged_into", whole)

    await mind.memory.thread.call(partial(overwrite, whole=other))

    backs = [await mind.ask("undo", dream=True) for _ in range(2)]

    assert [(each["rows"], each["changed_since"]) for each in backs] == [(1, 1), (2, 0)]
    assert len(await mind.sql("SELECT 1 FROM edits WHERE value = ?", other)) == 1
    with pytest.raises(NoInputError):
        await mind.ask("undo", dream=True)
    changes = {each["n"]: each["undone"] for each in (await mind.ask("undo", list=True))["changes"]}
    assert [number for number, undone in changes.items() if not undone] == [steps[1]["change"]]
    log = (await mind.ask("dream", log=True))["log"]
    assert {each["change"] for each in log if not each["undone"]} == {steps[1]["change"]}
    await mind.memory.thread.call(partial(overwrite, whole=steps[1]["fact"]))
    assert (await mind.ask("undo", n=steps[1]["change"]))["rows"] == 1


async def test_dreams_whose_beginnings_are_not_known_go_back_together_and_once(mind):
    """A store of before beginnings were kept: what is left of them is not chosen for ever."""
    for day in (10, 11):
        await mind.note(f"memory/2026-02-{day}.md", lessons(range(5 * day, 5 * day + 2)))
        steps = (await mind.ask("dream"))["steps"]

    def forget_beginnings(store):
        with store.transaction() as tx:
            keep(tx, "default", LastDream())
            set_edit(tx, "default", steps[0]["parts"][0]["id"], "merged_into", steps[1]["fact"])

    await mind.memory.thread.call(forget_beginnings)

    reply = await mind.ask("undo", dream=True)

    assert (reply["rows"], reply["changed_since"]) == (3, 1)
    with pytest.raises(NoInputError):
        await mind.ask("undo", dream=True)


async def test_an_undo_is_refused_while_a_dream_goes_on_and_the_dream_ends(mind):
    """The dream waits for whoever asks: a request that waited for the dream would keep both for ever."""
    await mind.note("memory/2026-02-10.md", lessons(range(3)))
    undisturbed, refused = mind.memory.asking.undisturbed, []

    async def next_step():
        if not refused:
            asked = asyncio.create_task(mind.ask("undo", dream=True))
            await asyncio.sleep(0)
            refused.append(asked)
        return await undisturbed()

    mind.memory.asking.undisturbed = next_step
    reply = await asyncio.wait_for(mind.ask("dream"), 20)

    with pytest.raises(TryLaterError, match="going on"):
        await refused[0]
    assert reply["merged"] == 3
    assert (await mind.ask("undo", dream=True))["rows"] == 3


async def test_a_turn_is_taken_while_it_goes_from_one_to_the_next():
    """Whoever does not wait would otherwise be queued behind the next one."""
    turn, seen = Turn(), []

    async def take():
        async with turn:
            await asyncio.sleep(0)

    first, second, given_up = (asyncio.create_task(take()) for _ in range(3))
    await asyncio.sleep(0)
    given_up.cancel()
    first.add_done_callback(lambda _: seen.append(turn.is_taken))
    await asyncio.gather(first, second, given_up, return_exceptions=True)

    assert given_up.cancelled()
    assert (seen, turn.is_taken) == ([True], False)


WORDS = ["alpha", "beta", "gamma", "not", "delta"]
SENTENCE = st.lists(st.sampled_from(WORDS), min_size=2, max_size=6).map(lambda words: "Rule one " + " ".join(words))


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(SENTENCE, st.integers(1, 12), st.sampled_from([0.5, 0.8])), min_size=2, max_size=12))
async def test_a_dream_of_anything_loses_nothing_and_goes_back_to_the_row(new_mind, said):
    """Balance and index hold after it, every live fact is found, a second dream has nothing to do, undo restores."""
    mind = await new_mind()
    for day in range(1, 13):
        lines = [f"- {text} (importance: {weight})\n" for text, on, weight in said if on == day]
        if lines:
            path = mind.workspace / f"memory/2026-02-{day:02d}.md"
            path.write_text("# Lessons\n" + "".join(lines), "utf-8")
    await mind.memory.rescan()
    before = await rows(mind)

    reply = await mind.ask("dream")

    audit = await mind.ask("audit")
    assert audit["ok"], audit["problems"]
    assert (await mind.ask("dream"))["steps"] == []
    for step in reversed(reply["steps"]):
        await mind.ask("undo", n=step["change"])
    assert await rows(mind) == before


async def test_undoing_what_was_not_done_says_so(mind):
    """A dry run has no number to undo."""
    await store(mind, SHORT, LONG)
    (step,) = (await mind.ask("dream", dry_run=True))["steps"]

    with pytest.raises(NoInputError):
        await mind.ask("undo", n=step["change"] + 1_000)


async def test_two_devices_that_both_dream_come_to_the_same_memory(new_mind, sqld):
    """Each decides by what it knows; after an exchange both hold the same, and neither dreams of more."""
    cloud = {"url": sqld.url, "token": sqld.token()}
    one, two = await new_mind(**cloud), await new_mind(**cloud)
    await store(one, SHORT, LONG, "Prefers tea over coffee", "I love night trains")
    await one.ask("sync", wait=True)
    await store(two, LONG + " and mails", "prefers tea over coffee at home")
    await one.ask("dream")
    await two.ask("dream")
    await store(two, "I hate night trains")
    for each in (one, two, one, two):
        await each.ask("sync", wait=True)

    for _ in range(2):
        for each in (one, two):
            await each.ask("dream")
            await each.ask("sync", wait=True)
    await one.ask("sync", wait=True)

    assert await one.states() == await two.states()
    assert sorted(set((await one.states()).values())) == ["live", "merged", "superseded"]
    for each in (one, two):
        assert (await each.ask("dream"))["steps"] == []
        assert (await each.outcome("audit")).exit_code == 0
    links = "SELECT fact_id, field, value FROM edits WHERE field IN ('merged_into', 'superseded_by') ORDER BY 1, 2"
    assert await one.sql(links) == await two.sql(links)
