"""Hot state holds what was written and what is important and fresh, within its limits (docs/memory.md, 3)."""

import msgspec
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.config import HotSettings, Settings
from memoryd.errors import NoInputError, UsageError
from memoryd.model import Metadata, ParsedMention, fact_id
from memoryd.store.forget import forget_fact
from memoryd.store.versions import is_forgotten
from memoryd.tiers.changes import Words, change_hot, finish_item, remove_item
from memoryd.tiers.hot import HotItem, _within_bytes, hot_state, size_of, state_of


def statement(text, category, importance):
    words = " ".join(text.split()).replace("hunter2", "[masked:x:00]")
    return ParsedMention(words if any(map(str.isalnum, words)) else "", 0, 0, "", [], category, importance, "fact", "",
                         Metadata())  # fmt: skip


def says_forgotten(tx, agent_id, value):
    return isinstance(value, list) and is_forgotten(tx, agent_id, fact_id(agent_id, value[0]))


WORDS = Words(statement, lambda text: text.replace("hunter2", "[masked:x:00]"), says_forgotten)


def change(world, key, value):
    with world.store.transaction() as tx:
        done = change_hot(
            tx, world.agent, key, value if isinstance(value, str) else msgspec.json.encode(value).decode(), WORDS
        )
    world.settle()
    return done


def hot(world):
    return hot_state(world.store, world.agent, world.today, world.settings)


def test_an_empty_memory_has_an_empty_hot_state_of_the_originals_shape(world):
    """Nothing written, nothing promoted: every part is there and empty."""
    state = hot(world)

    assert state.empty
    assert state.state == {
        "identity": {}, "owner_profile": {}, "active_context": {"projects": [], "events": [], "tasks": []},
        "critical_lessons": [], "_schema_version": "2.0",
    }  # fmt: skip
    assert state.size_bytes == len(msgspec.json.encode(state.state))


def test_the_seeds_own_updates_give_its_shape(world):
    """Each KEY lands where the original puts it."""
    change(world, "identity", {"agent_name": "Agent", "trust_level": 0.95})
    change(world, "owner_profile", {"timezone": "Australia/Sydney", "family": ["Sarah"]})
    change(world, "project", {"name": "EvoClaw", "status": "Active", "description": "Framework"})
    change(world, "lesson", {"text": "Always test on testnet first", "category": "blockchain", "importance": 0.9})
    change(world, "event", {"text": "Hackathon deadline Feb 15", "timestamp": 1707350400})
    change(world, "task", {"text": "Deploy to BSC testnet", "status": "pending", "timestamp": 1707350400})

    now = world.clock.now_ms() // 1000
    assert hot(world).state == {
        "identity": {"agent_name": "Agent", "trust_level": 0.95},
        "owner_profile": {"family": ["Sarah"], "timezone": "Australia/Sydney"},
        "active_context": {
            "projects": [{"description": "Framework", "name": "EvoClaw", "status": "Active"}],
            "events": [{"text": "Hackathon deadline Feb 15", "timestamp": 1707350400}],
            "tasks": [{"text": "Deploy to BSC testnet", "status": "pending", "timestamp": 1707350400}],
        },
        "critical_lessons": [
            {"text": "Always test on testnet first", "category": "blockchain", "importance": 0.9, "timestamp": now}
        ],
        "_schema_version": "2.0",
    }


def test_lessons_events_and_tasks_are_facts_too(world):
    """What is written into hot state is a live fact whose tier is hot."""
    for key, text in (("lesson", "Measure twice"), ("event", "Moved house"), ("task", "Call the bank")):
        change(world, key, {"text": text})

    assert world.tiers() == {"Measure twice": "hot", "Moved house": "hot", "Call the bank": "hot"}


@pytest.mark.parametrize(
    ("key", "value"),
    [("colour", "{}"), ("lesson", "{"), ("lesson", "[1]"), ("lesson", '{"text": ""}'), ("lesson", '{"text": "--"}'),
     ("lesson", '{"text": "x", "importance": 5}'), ("lesson", '{"text": "x", "importance": NaN}'),
     ("lesson", '{"text": "x", "importance": true}'), ("lesson", '{"text": "x", "colour": 1}'),
     ("lesson", '{"text": "x", "category": 3}'), ("task", '{"text": "x", "status": "maybe"}'),
     ("event", '{"text": "x", "timestamp": -1}'), ("project", '{"status": "x"}'), ("identity", "[]"),
     ("identity", "{}"), ("owner_profile", '{" ": 1}')],
)  # fmt: skip
def test_wrong_updates_are_refused_with_a_hint(world, key, value):
    """Unknown keys, bad JSON and wrong shapes raise a usage error and change nothing."""
    with pytest.raises(UsageError) as caught:
        change(world, key, value)

    assert caught.value.hint
    assert world.store.execute("SELECT count(*) FROM hot_items") == [(0,)]


def test_fields_change_one_by_one_and_null_takes_one_out(world):
    """An update of one field leaves the others alone."""
    change(world, "identity", {"a": 1, "b": 2})
    change(world, "identity", {"a": None, "c": 3})

    assert hot(world).state["identity"] == {"b": 2, "c": 3}


def test_a_project_is_added_once_and_updated(world):
    """A second update of a project keeps the fields it does not name."""
    change(world, "project", {"name": "X", "status": "new", "description": "d"})
    change(world, "project", {"name": " X ", "status": "old"})

    assert hot(world).state["active_context"]["projects"] == [{"name": "X", "status": "old", "description": "d"}]


def test_secrets_are_masked_before_anything_is_stored(world):
    """Neither facts nor free JSON keep a secret, whatever depth it stands at."""
    change(world, "lesson", {"text": "the key is hunter2"})
    change(world, "identity", {"notes": [{"hunter2": "say hunter2"}]})

    dump = str([world.store.execute(f"SELECT * FROM {table}") for table in ("facts", "hot_items", "mentions")])
    assert "hunter2" not in dump
    assert "[masked:x:00]" in dump


def test_stating_a_lesson_again_changes_nothing_but_what_is_new(world):
    """The same lesson keeps its time; a new importance counts."""
    change(world, "lesson", {"text": "Measure twice", "importance": 0.5})
    first = hot(world).state["critical_lessons"][0]
    world.clock.advance(5000)
    change(world, "lesson", {"text": "Measure  twice", "importance": 0.8})

    assert hot(world).state["critical_lessons"] == [first | {"importance": 0.8}]


def test_promotion_takes_decisions_open_tasks_and_events_only(world):
    """Important and fresh facts of the right kinds enter; others do not, nor do lines of MEMORY.md."""
    world.say("decided", kind="decision", importance=0.8)
    world.say("weak", kind="decision", importance=0.6)
    world.say("stale", kind="lesson", importance=0.8, date=world.day(20))
    world.say("open", kind="task", task_state="open", importance=0.8)
    world.say("ticked", kind="task", task_state="done", importance=0.8)
    world.say("happened", kind="event", importance=0.8)
    world.say("plain", kind="fact", importance=1)
    world.say("on the page", kind="lesson", importance=1)
    world.say("on the page", date="", path="MEMORY.md", kind="lesson", importance=1)
    world.settle()

    assert {text for text, tier in world.tiers().items() if tier == "hot"} == {"decided", "open", "happened"}


def test_promotion_ends_when_the_score_falls(world):
    """A promoted fact leaves by itself, a written one stays."""
    world.say("decided", kind="decision", importance=0.8)
    change(world, "lesson", {"text": "written", "importance": 0.1})
    world.clock.advance(20 * 86_400)
    world.settle()

    assert [each["text"] for each in hot(world).state["critical_lessons"]] == ["written"]


def test_the_least_important_lesson_leaves_first(world):
    """Of 25 lessons the five least important are left out, and listed."""
    for n in range(25):
        change(world, "lesson", {"text": f"lesson {n:02d}", "importance": round(0.3 + ((n * 7) % 25) / 50, 2)})

    state = hot(world)
    shown = {each["text"] for each in state.state["critical_lessons"]}
    assert len(shown) == 20
    assert {each["text"] for each in state.left_out} == {f"lesson {n:02d}" for n in range(25) if (n * 7) % 25 < 5}
    assert {each["reason"] for each in state.left_out} == {"limit"}


def test_promoted_facts_fill_what_written_ones_leave_free(world):
    """Written items are never pushed out by promoted ones."""
    for n in range(19):
        change(world, "lesson", {"text": f"mine {n:02d}", "importance": 0.1})
    world.say("strongest", kind="decision", importance=1)
    world.say("strong", kind="decision", importance=0.9)
    world.settle()

    texts = [each["text"] for each in hot(world).state["critical_lessons"]]
    assert len(texts) == 20
    assert "strongest" in texts
    assert "strong" not in texts


def test_the_last_events_and_ten_tasks_stay(world):
    """Events keep the latest ten; tasks the ten most important, then the latest."""
    for n in range(12):
        change(world, "event", {"text": f"event {n:02d}", "timestamp": 1000 + n})
        change(world, "task", {"text": f"task {n:02d}", "timestamp": 1000 + n, "importance": 0.9 if n == 0 else 0.5})

    active = hot(world).state["active_context"]
    assert [each["text"] for each in active["events"]] == [f"event {n:02d}" for n in range(2, 12)]
    assert [each["text"] for each in active["tasks"]] == ["task 00", *(f"task {n:02d}" for n in range(3, 12))]


def test_tasks_can_be_finished_and_anything_removed(world):
    """A finished task leaves hot state, a removed lesson too; both stay facts."""
    change(world, "task", {"text": "Call the bank"})
    change(world, "lesson", {"text": "Measure twice"})
    change(world, "identity", {"name": "A"})
    world.say("decided", kind="decision", importance=0.9)
    world.settle()
    with world.store.transaction() as tx:
        finish_item(tx, world.agent, hot(world), "Call the bank")
        for which in (world.id("Measure twice"), "name", "decided"):
            remove_item(tx, world.agent, hot(world), which)
    world.settle()

    assert hot(world).empty
    assert set(world.tiers()) == {"Call the bank", "Measure twice", "decided"}


def test_a_finished_task_that_is_written_again_is_open_again(world):
    """Writing a task anew withdraws that it was done."""
    change(world, "task", {"text": "Call the bank"})
    with world.store.transaction() as tx:
        finish_item(tx, world.agent, hot(world), "Call the bank")
    world.settle()
    change(world, "task", {"text": "Call the bank"})

    assert len(hot(world).state["active_context"]["tasks"]) == 1


def test_what_is_not_there_cannot_be_finished(world):
    """An unknown name is no input; a lesson is no task."""
    change(world, "lesson", {"text": "Measure twice"})
    with world.store.transaction() as tx, pytest.raises(NoInputError):
        finish_item(tx, world.agent, hot(world), "nothing")
    with world.store.transaction() as tx, pytest.raises(UsageError):
        finish_item(tx, world.agent, hot(world), "Measure twice")


def test_a_forgotten_sentence_is_not_taken_in_again(world):
    """A tombstone beats a hot update."""
    change(world, "lesson", {"text": "our secret"})
    with world.store.transaction() as tx:
        forget_fact(tx, world.agent, world.id("our secret"))

    with pytest.raises(UsageError):
        change(world, "lesson", {"text": "our secret"})
    assert hot(world).empty


def test_a_value_too_large_for_hot_state_goes_before_any_lesson(world):
    """One huge free value cannot push the lessons out."""
    change(world, "lesson", {"text": "Measure twice"})
    change(world, "owner_profile", {"essay": "x" * 5000, "timezone": "UTC"})

    state = hot(world)
    assert [each["key"] for each in state.left_out] == ["essay"]
    assert state.state["owner_profile"] == {"timezone": "UTC"}
    assert len(state.state["critical_lessons"]) == 1


def test_nearly_full_is_said_from_85_percent_on(world):
    """The warning has its threshold at 85 % of the limit."""
    base = hot(world).size_bytes
    change(world, "identity", {"a": "x" * 200})
    world.settings = Settings(hot=HotSettings(max_bytes=(base + 206) * 100 // 85))
    assert hot(world).nearly_full
    world.settings = Settings(hot=HotSettings(max_bytes=(base + 206) * 100 // 85 + 10))
    assert not hot(world).nearly_full


ITEMS = st.lists(
    st.builds(
        HotItem,
        section=st.sampled_from(["lessons", "events", "tasks"]),
        key=st.uuids().map(str),
        value=st.fixed_dictionaries({"text": st.text(max_size=300), "timestamp": st.integers(0, 10)}),
        importance=st.sampled_from([0.1, 0.5, 0.7, 0.9]),
        at=st.integers(0, 5),
        written=st.booleans(),
    ),
    max_size=40,
    unique_by=lambda one: one.key,
)


@settings(max_examples=100, deadline=None)
@given(items=ITEMS, max_bytes=st.integers(160, 6000))
def test_the_byte_limit_is_always_met_and_the_least_important_leaves_first(items, max_bytes):
    """Whatever is in hot state, it fits; nothing that stays is less important than what left of its own sort."""
    kept, cut = _within_bytes(items, max_bytes)

    assert size_of(state_of(kept)) <= max_bytes
    assert len(kept) + len(cut) == len(items)
    for written in (True, False):
        left = [each.importance for each in cut if each.written is written]
        stays = [each.importance for each in kept if each.written is written]
        assert not left or not stays or max(left) <= min(stays)
    assert not any(each.written for each in cut) or all(each.written for each in kept)
    if cut:
        assert size_of(state_of([*kept, cut[-1]])) > max_bytes


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    steps=st.lists(
        st.tuples(
            st.sampled_from(["lesson", "event", "task", "done", "remove", "day"]),
            st.integers(0, 25),
            st.sampled_from([0.1, 0.5, 0.9]),
        ),
        max_size=30,
    )
)
def test_sizes_hold_after_every_step_of_a_random_history(new_world, steps):
    """Counts and bytes hold whatever happens, and every hot fact's tier is hot."""
    world = new_world()
    world.settings = Settings(hot=HotSettings(max_bytes=900, max_lessons=3, max_events=2, max_tasks=2))
    for what, n, importance in steps:
        if what in ("lesson", "event", "task"):
            change(world, what, {"text": f"{what} {n} " + "é" * n, "importance": importance})
        elif what == "day":
            world.clock.advance(n * 86_400)
            world.settle()
        elif items := hot(world).items:
            item = items[n % len(items)]
            with world.store.transaction() as tx:
                if what == "done" and item.section == "tasks":
                    finish_item(tx, world.agent, hot(world), item.key)
                else:
                    remove_item(tx, world.agent, hot(world), item.key)
            world.settle()
        state = hot(world)
        assert state.size_bytes <= 900
        assert len(state.state["critical_lessons"]) <= 3
        assert len(state.state["active_context"]["events"]) <= 2
        assert len(state.state["active_context"]["tasks"]) <= 2
        tiers = dict(world.store.execute("SELECT fact_id, tier FROM derived WHERE state = 'live'"))
        assert {fact for fact, tier in tiers.items() if tier == "hot"} == state.fact_ids
        assert "" not in tiers.values()
