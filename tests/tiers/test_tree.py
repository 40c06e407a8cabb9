"""The tree always keeps its limits, and never rewrites a fact's category (docs/memory.md, 3)."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.config import Settings, TreeSettings
from memoryd.errors import NoInputError, UsageError
from memoryd.store.versions import record_access, set_tree_node
from memoryd.tiers.tree import Category, as_file, build, nearest, show, size_bytes, tree
from memoryd.tiers.tree_edits import add_node, is_below, prune, remove_node

LIMITS = TreeSettings()


def nodes(world):
    return tree(world.store, world.agent, world.settings)


def paths(world):
    return [each.path for each in nodes(world)]


def add(world, path, description="what it is"):
    with world.store.transaction() as tx:
        return add_node(tx, world.agent, path, description, world.settings, str)


def assert_within_limits(found, limits=LIMITS):
    assert len(found) <= limits.max_nodes
    assert size_bytes(found) <= limits.max_size_bytes
    by_path = {each.path: each for each in found}
    for each in found:
        assert len(each.children) <= limits.max_children
        assert len([part for part in each.path.split("/") if part]) <= limits.max_depth
        assert all(child in by_path for child in each.children)


def test_an_empty_memory_has_a_root_alone(world):
    """Without facts and nodes there is the root."""
    assert paths(world) == [""]


def test_categories_become_nodes_with_the_counts_below_them(world):
    """Counts of a node hold what is below; activity is the latest mention."""
    world.say("a", category="projects/evoclaw/bsc")
    world.say("b", category="projects/evoclaw", date=world.day(40))
    world.say("c", category="projects", date=world.day(500))
    world.say("d", category="owner")
    world.settle()

    found = {each.path: each for each in nodes(world)}

    assert list(found) == ["", "owner", "projects", "projects/evoclaw", "projects/evoclaw/bsc"]
    assert (found[""].warm_count, found[""].cold_count) == (2, 2)
    assert (found["projects/evoclaw"].warm_count, found["projects/evoclaw"].cold_count) == (1, 1)
    assert found["projects"].children == ["projects/evoclaw"]
    assert found["projects"].description == "Projects"
    assert found["owner"].last_access == world.today * 86_400


def test_only_live_facts_count(world):
    """A retracted fact is in no node."""
    world.say("a", category="x")
    world.unsay("a")
    world.settle()

    assert paths(world) == [""]


def test_a_deep_category_shows_at_depth_four_and_stays_on_the_fact(world):
    """The fifth level is cut off in the tree only."""
    world.say("a", category="a/b/c/d/e/f")
    world.settle()

    assert paths(world)[-1] == "a/b/c/d"
    assert nearest(nodes(world), "a/b/c/d/e/f") == "a/b/c/d"
    assert world.store.execute("SELECT category FROM derived") == [("a/b/c/d/e/f",)]


def test_a_thousand_random_categories_keep_every_limit(world):
    """1,000 categories: nodes, depth, children and bytes hold, and no fact is lost from the counts."""
    chance = random.Random(6)
    words = [f"{chance.choice('abcdefgh')}{n}_topic" for n in range(60)]
    made: set[str] = set()
    while len(made) < 1000:
        made.add("/".join(chance.choices(words, k=chance.randint(1, 6))))
    with world.store.transaction() as tx:
        for n, category in enumerate(sorted(made), 1):
            tx.run(
                "INSERT INTO derived VALUES"
                " (?, 'default', ?, 'live', 'cold', 0.1, ?, 0.5, 'fact', '', 1, ?, 0, 0, 'x', 'x', 0)",
                (n, f"{n:016x}", category, chance.randint(1, 20_000)),
            )

    found = nodes(world)

    assert_within_limits(found)
    assert found[0].cold_count == 1000
    assert len(found) > 5
    assert {row[0] for row in world.store.execute("SELECT category FROM derived")} == made


def test_the_least_active_node_is_folded_first():
    """Of eleven top nodes the one with the oldest activity goes; its facts count at the root."""
    facts = [Category(f"c{n:02d}", warm=1, last_day=100 + n) for n in range(11)]
    facts[4].last_day = 7

    found = build(facts, {}, LIMITS)

    assert [each.path for each in found[1:]] == [f"c{n:02d}" for n in range(11) if n != 4]
    assert found[0].warm_count == 11
    assert nearest(found, "c04/deeper") == ""


def test_a_fresh_node_is_not_folded_for_being_empty(world):
    """Adding a node is activity: it shows, although ten older ones with facts are there."""
    for n in range(10):
        world.say(f"f{n}", category=f"old{n}", date=world.day(100 + n))
    world.settle()

    add(world, "fresh", "just added")

    assert "fresh" in paths(world)
    assert "old9" not in paths(world)


def test_reading_is_activity(world):
    """A category whose fact was read lately outlives one that was mentioned later."""
    for n in range(11):
        world.say(f"f{n}", category=f"c{n:02d}", date=world.day(100 - n))
    with world.store.transaction() as tx:
        record_access(tx, world.agent, [world.id("f0")], world.today)
    world.settle()

    assert "c00" in paths(world)
    assert "c01" not in paths(world)


CATEGORY = st.lists(st.text(st.characters(codec="utf-8", exclude_characters="/"), max_size=40), max_size=6).map(
    "/".join
)


@settings(max_examples=150, deadline=None)
@given(
    facts=st.lists(st.builds(Category, CATEGORY, st.integers(0, 3), st.integers(0, 3), st.integers(0, 5)), max_size=80),
    described=st.dictionaries(CATEGORY, st.tuples(st.text(max_size=100), st.integers(0, 5)), max_size=10),
    limits=st.builds(TreeSettings, st.integers(1, 60), st.integers(1, 5), st.integers(1, 12), st.integers(0, 3000)),
)
def test_limits_hold_for_any_categories(facts, described, limits):
    """Whatever the categories: every limit holds, the root counts every fact, and the same rows give the same tree."""
    found = build(facts, described, limits)

    assert_within_limits(found, limits)
    assert found[0].warm_count == sum(each.warm for each in facts)
    assert found[0].cold_count == sum(each.cold for each in facts)
    assert found == build(list(reversed(facts)), described, limits)


def test_show_is_the_seeds_text(world):
    """Title, 50 signs, nodes with counts, then nodes and size of their limits."""
    world.say("a", category="owner")
    world.settle()
    add(world, "owner", "Owner profile and preferences")

    assert show(nodes(world), LIMITS) == (
        "Memory Tree Index\n"
        "==================================================\n"
        "📂 Root (warm:1, cold:0)\n"
        "  📁 owner — Owner profile and preferences\n"
        "     Memories: warm=1, cold=0\n"
        "\n"
        "Nodes: 2/50\n"
        "Size: 40 / 2048 bytes"
    )


def test_the_file_has_the_originals_shape(world):
    """A flat object by full path, with the root and the schema version (docs/original.md)."""
    world.say("a", category="projects/evoclaw")
    world.say("b", category="root/general")
    world.settle()

    stamp = float(world.today * 86_400)
    node = {"warm_count": 1, "cold_count": 0, "last_access": stamp}
    assert as_file(nodes(world)) == {
        "root": {"desc": "Root", "children": ["general", "projects"], **node, "warm_count": 2},
        "general": {"desc": "General", "children": [], **node},
        "projects": {"desc": "Projects", "children": ["projects/evoclaw"], **node},
        "projects/evoclaw": {"desc": "Evoclaw", "children": [], **node},
        "_schema_version": "2.0",
    }


def test_adding_a_known_path_changes_its_description(world):
    """The second description counts; the path is cleaned."""
    add(world, "projects/x", "one")
    assert add(world, " projects / x ", "two  words") == "projects/x"

    assert {each.path: each.description for each in nodes(world)}["projects/x"] == "two words"


@pytest.mark.parametrize("path", ["", " / ", "a/b/c/d/e", "a\nb"])
def test_paths_that_are_none_are_refused(world, path):
    """An empty, too deep or unprintable path raises a usage error."""
    with pytest.raises(UsageError):
        add(world, path)


def test_a_node_in_use_is_not_removed(world):
    """Nodes with facts or with nodes below are refused, unknown ones too; an empty one goes."""
    world.say("a", category="used/deep", date=world.day(900))
    world.settle()
    add(world, "parent/child")
    add(world, "parent")
    for path, kind in (
        ("used", UsageError),
        ("used/deep", UsageError),
        ("parent", UsageError),
        ("nowhere", NoInputError),
    ):
        with world.store.transaction() as tx, pytest.raises(kind):
            remove_node(tx, world.agent, path, world.settings)
    with world.store.transaction() as tx:
        remove_node(tx, world.agent, "parent/child", world.settings)
        remove_node(tx, world.agent, "parent", world.settings)

    assert paths(world) == ["", "used", "used/deep"]


def test_prune_takes_old_empty_nodes_only(world):
    """No facts here or below, nothing below added lately, nothing for 60 days (docs/original.md, D7)."""
    world.say("a", category="busy/deep")
    world.settle()
    for path in ("busy", "empty", "parent", "parent/fresh"):
        add(world, path)
    world.clock.advance(60 * 86_400)
    add(world, "parent/fresh")
    add(world, "new")

    with world.store.transaction() as tx:
        pruned = prune(tx, world.agent, world.today)

    assert pruned == ["empty"]
    assert set(paths(world)) == {"", "busy", "busy/deep", "parent", "parent/fresh", "new"}


def test_a_removed_node_comes_back_with_a_later_row(world):
    """Removing is a version like any other."""
    add(world, "x")
    with world.store.transaction() as tx:
        remove_node(tx, world.agent, "x", world.settings)
        set_tree_node(tx, world.agent, "x", "again")

    assert paths(world) == ["", "x"]


def test_below_goes_by_whole_segments():
    """`projects/evo` is not above `projects/evoclaw`."""
    assert is_below("projects/evo/x", "projects/evo")
    assert not is_below("projects/evoclaw", "projects/evo")


def test_an_agents_tree_is_its_own(world):
    """Another agent's categories and nodes do not show."""
    world.say("a", category="mine")
    add(world, "mine too")
    world.settle()
    world.agent = "robin"

    assert paths(world) == [""]
    assert Settings().tree == LIMITS
