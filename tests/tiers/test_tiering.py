"""Every live fact has exactly one tier, and warm never grows over its limit (docs/memory.md, 3)."""

import math

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.config import ScoringSettings, Settings, WarmSettings
from memoryd.model import Metadata
from memoryd.store.versions import record_access, set_edit, set_hot_item, state_fact
from memoryd.tiers.hot import hot_state
from memoryd.tiers.score import days_above, potential, promoted, score
from memoryd.tiers.tiering import retier, retier_rest, tier_counts

SCORING = ScoringSettings()


def small(max_kb=1):
    """Settings with a warm tier of `max_kb` × 1,000 bytes."""
    return Settings(warm=WarmSettings(max_kb=max_kb))


def walk_day(world):
    """The whole day change, as operations does it."""
    after = 0
    while after is not None:
        with world.store.transaction() as tx:
            after = retier_rest(tx, world.agent, world.today, world.settings, after=after, limit=7)
    world.settle()


def test_the_score_is_the_formula():
    """Importance × exp(−age / 30) × (1 + 0.1 × access days), capped at 1."""
    assert score(0.8, 15, 3, SCORING) == pytest.approx(0.8 * math.exp(-0.5) * 1.3)
    assert score(0.9, 0, 50, SCORING) == 1.0
    assert potential(0.5, 4, SCORING) == pytest.approx(0.7)


@pytest.mark.parametrize(
    ("importance", "age", "access", "expected"),
    [
        (0.7, 0, 0, True),
        (0.69, 0, 0, False),
        (0.5, 0, 4, True),
        (0.7, 11, 0, False),
        (1.0, 20, 0, True),
        (1.0, 21, 0, False),
    ],
)
def test_promotion_needs_importance_and_freshness(importance, age, access, expected):
    """A fact is promoted while its potential is 0.7 or more and its score 0.5 or more."""
    assert promoted(importance, age, access, SCORING) is expected


def test_the_window_of_candidates_misses_nobody():
    """No unread fact older than the window reaches the score."""
    days = days_above(0.3, SCORING)

    assert score(1.0, days, 0, SCORING) >= 0.3 > score(1.0, days + 1, 0, SCORING)


def test_recent_facts_are_warm_and_old_ones_cold_or_frozen(world):
    """Thirty days keep a weak fact warm, a score of 0.3 an older one; below 0.05 it is frozen."""
    world.say("new and weak", importance=0.1)
    world.say("thirty days", date=world.day(30), importance=0.2)
    world.say("strong", date=world.day(35), importance=1.0)
    world.say("thirty-one days", date=world.day(31), importance=0.5)
    world.say("ancient", date=world.day(400), importance=0.9)
    world.settle()

    assert world.tiers() == {
        "new and weak": "warm", "thirty days": "warm", "strong": "warm", "thirty-one days": "cold", "ancient": "frozen",
    }  # fmt: skip


def test_reading_keeps_an_old_fact_warm(world):
    """Access days raise the score of a fact that no note mentions any more."""
    world.say("old friend", date=world.day(60), importance=0.9)
    for day in range(15):
        with world.store.transaction() as tx:
            record_access(tx, world.agent, [world.id("old friend")], world.today - 20 + day)
    world.settle()

    assert world.tiers() == {"old friend": "warm"}


def test_lines_of_the_page_do_not_age(world):
    """A fact on MEMORY.md is warm however old it is, and is not promoted: it stands on the page already."""
    world.say("standing rule", date="", path="MEMORY.md", importance=0.9, kind="lesson", first_seen=1)
    world.settle()

    assert world.tiers() == {"standing rule": "warm"}


def test_what_hot_state_holds_is_hot_and_takes_no_room_in_warm(world):
    """A written lesson and a promoted decision are hot."""
    world.settings = small()
    with world.store.transaction() as tx:
        fact = state_fact(tx, world.agent, "Measure twice", "craft", 0.2, Metadata(), kind="lesson", date=world.day())
        set_hot_item(tx, world.agent, "lessons", fact, "{}")
    world.say("We go with SQLite", importance=0.8, kind="decision")
    for n in range(20):
        world.say(f"{n:02d} " + "x" * 47)
    world.settle()

    tiers = world.tiers()
    assert tiers["Measure twice"] == tiers["We go with SQLite"] == "hot"
    assert list(tiers.values()).count("warm") == 20


def test_leaving_warm_means_arriving_in_cold(world):
    """400 facts of equal importance: none lost, warm within its limit, the rest cold (docs/original.md, D5, D6)."""
    world.settings = small(max_kb=5)
    for n in range(400):
        world.say(f"fact number {n:03d} " + "y" * 60)
    world.settle()

    counts = tier_counts(world.store, world.agent)
    assert counts["warm"] == 65
    assert counts["warm_bytes"] == 65 * 76
    assert counts["warm"] + counts["cold"] == 400


def test_a_new_day_moves_what_aged(world):
    """The day change alone turns warm into cold, and cold into frozen."""
    world.say("fades", importance=0.5)
    world.say("sinks", date=world.day(60), importance=0.5)
    world.settle()
    before = world.tiers()

    world.clock.advance(40 * 86_400)
    walk_day(world)

    assert before == {"fades": "warm", "sinks": "cold"}
    assert world.tiers() == {"fades": "cold", "sinks": "frozen"}


def test_the_day_change_writes_scores_that_moved(world):
    """After the walk every stored score is today's, to four digits."""
    world.say("x", importance=0.8)
    world.say("y", importance=0.8, path="MEMORY.md", date="")
    world.settle()
    world.clock.advance(3 * 86_400)
    walk_day(world)

    rows = dict(world.store.execute("SELECT fact_id, score FROM derived"))
    assert rows == {world.id("x"): round(0.8 * math.exp(-0.1), 4), world.id("y"): 0.8}


def test_the_day_change_marks_what_may_have_expired(world):
    """Retracted facts and frozen stored ones of ten years are derived again; a note's fact is not."""
    long_ago = world.clock.now_ms() - 3652 * 86_400_000
    world.fact("retracted", first_seen=long_ago)
    world.say("stored", date="2016-03-01", path="", first_seen=long_ago)
    world.say("noted", date="2016-03-01", first_seen=long_ago)
    world.settle()
    world.clock.advance(86_400)

    with world.store.transaction() as tx:
        retier_rest(tx, world.agent, world.today, world.settings)

    waiting = {row[0] for row in world.store.execute("SELECT fact_id FROM dirty")}
    assert waiting == {world.id("retracted"), world.id("stored")}


def test_the_walk_ends_on_a_full_last_step(world):
    """A last step that is exactly full is followed by an empty one, which ends the walk."""
    for n in range(14):
        world.say(f"f{n}")
    world.settle()
    walk_day(world)

    assert set(world.tiers().values()) == {"warm"}


def test_a_day_is_walked_once(world):
    """A second walk of the same day reads nothing; another day, or another scoring, is walked again."""
    for n in range(14):
        world.say(f"f{n}")
    world.settle()
    walk_day(world)

    def first_step(today):
        with world.store.transaction() as tx:
            return retier_rest(tx, world.agent, today, world.settings, limit=7)

    assert first_step(world.today) is None
    assert first_step(world.today + 1) == 7
    world.settings.scoring.half_life_days = 10
    assert first_step(world.today) == 7


def test_large_moves_are_made_in_steps_that_keep_the_limit(world, monkeypatch):
    """A call moves no more than its share; warm is within its limit after every call."""
    monkeypatch.setattr("memoryd.tiers.tiering.MOVES", 5)
    world.settings = small()
    for n in range(40):
        world.say(f"{n:02d} " + "x" * 47, importance=0.3)
    world.settle()
    with world.store.transaction() as tx:
        tx.run("UPDATE derived SET importance = CASE WHEN tier = 'warm' THEN 0.2 ELSE 0.6 END")
    sizes, more = [], True
    while more:
        with world.store.transaction() as tx:
            more = retier(tx, world.agent, world.today, world.settings)
        sizes.append(tier_counts(world.store, world.agent)["warm_bytes"])

    assert len(sizes) == 8
    assert max(sizes) == sizes[-1] == 1000


def test_superseded_facts_have_no_tier(world):
    """A fact that is not live leaves its tier."""
    world.say("old view", importance=0.8)
    world.say("new view", importance=0.8)
    world.settle()
    with world.store.transaction() as tx:
        set_edit(tx, world.agent, world.id("old view"), "superseded_by", world.id("new view"))
    world.settle()

    assert world.store.execute("SELECT state, tier FROM derived ORDER BY state") == [
        ("live", "warm"),
        ("superseded", ""),
    ]


def test_an_agents_own_settings_beat_the_configuration(world):
    """Limits in the agent's rows hold on every device, whatever its configuration says."""
    with world.store.transaction() as tx:
        set_hot_item(tx, world.agent, "settings", "warm", '{"max_kb": 0, "unknown": 1, "retention_days": "x"}')
    world.say("x")
    world.settle()

    assert world.tiers() == {"x": "cold"}


FACTS = st.lists(
    st.tuples(
        st.integers(0, 90),  # age
        st.sampled_from([0, 0.1, 0.3, 0.5, 0.7, 0.9, 1]),
        st.sampled_from(["fact", "decision", "event", "task", "lesson"]),
        st.integers(0, 3),  # access days
        st.booleans(),  # also on the page
    ),
    max_size=40,
)


def expected_tiers(world, facts):
    """The rules of docs/data.md, 3, written down once more without any index."""
    hot = hot_state(world.store, world.agent, world.today, world.settings).fact_ids
    scored = []
    for n, (age, importance, _, access, on_page) in enumerate(facts):
        real_age = 0 if on_page else age
        scored.append((score(importance, real_age, access, SCORING), world.id(f"fact {n}"), real_age, f"fact {n}"))
    tiers, room = {}, world.settings.warm.max_kb * 1000
    full = False
    for points, fact, age, text in sorted(scored, key=lambda one: (-one[0], one[1])):
        wants_warm = points >= 0.3 or age <= 30
        if fact in hot:
            tiers[text] = "hot"
        elif wants_warm and not full and room >= len(text):
            room -= len(text)
            tiers[text] = "warm"
        else:
            full = full or wants_warm
            tiers[text] = "cold" if points >= 0.05 else "frozen"
    return tiers


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(facts=FACTS, max_kb=st.sampled_from([0, 1, 50]), later=st.integers(0, 40))
def test_random_memories_follow_the_rules(new_world, facts, max_kb, later):
    """Each live fact has exactly the tier that the rules give it, also after time has passed."""
    world = new_world()
    world.settings = small(max_kb)
    for n, (age, importance, kind, access, on_page) in enumerate(facts):
        fact = world.say(f"fact {n}", date=world.day(age), importance=importance, kind=kind, task_state="open")
        if on_page:
            world.say(f"fact {n}", date="", path="MEMORY.md", importance=0)
        with world.store.transaction() as tx:
            for day in range(access):
                record_access(tx, world.agent, [fact], day + 1)
    world.settle()
    assert world.tiers() == expected_tiers(world, facts)

    world.clock.advance(later * 86_400)
    walk_day(world)
    aged = [(age + later, *rest) for age, *rest in facts]
    assert world.tiers() == expected_tiers(world, aged)
    assert tier_counts(world.store, world.agent)["warm_bytes"] <= max_kb * 1000
