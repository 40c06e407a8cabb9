"""The original's `config.json` in the workspace: each of its keys has the effect that docs/configuration.md tells."""

import json

import pytest
from memoryd.cloud_config import cloud_url
from memoryd.config import Settings, load_settings, settings_sources
from memoryd.errors import ConfigError, UsageError
from memoryd.places import Places

SEED = {
    "_comment": "as the original ships it",
    "agent_id": "default",
    "hot": {"max_bytes": 5120, "max_lessons": 20, "max_events": 10, "max_tasks": 10},
    "warm": {"max_kb": 50, "retention_days": 30, "eviction_threshold": 0.3},
    "cold": {"backend": "turso", "retention_years": 10},
    "scoring": {"half_life_days": 30, "reinforcement_boost": 0.1},
    "tree": {"max_nodes": 50, "max_depth": 4, "max_size_bytes": 2048},
    "distillation": {"aggression": 0.7, "max_distilled_bytes": 100, "mode": "rule"},
    "consolidation": {"warm_eviction": "hourly", "tree_prune": "daily", "tree_rebuild": "monthly"},
}
YEAR = 366 * 86_400


@pytest.fixture
def settings_of(tmp_path):
    """The settings that a config.json of this text or these values gives."""
    workspace = tmp_path / "configured"
    workspace.mkdir()
    places = Places("default", tmp_path, tmp_path, tmp_path / "s", tmp_path / "none.toml", workspace)

    def load(values):
        text = values if isinstance(values, str) else json.dumps(values)
        (workspace / "config.json").write_text(text, "utf-8")
        return load_settings(places)

    load.places = places
    return load


async def lessons(mind, count):
    for n in range(count):
        lesson = json.dumps({"text": f"Lesson number {n} of the long list", "importance": 0.5 + n / 100})
        await mind.ask("hot", update=["lesson", lesson])


def test_the_file_that_the_original_ships_changes_only_how_often_quick_runs(settings_of):
    """The seed's own example is taken as it is, its comment ignored."""
    expected = Settings()
    expected.consolidation.warm_eviction = "hourly"

    assert settings_of(SEED) == expected


@pytest.mark.parametrize(
    "text",
    ["{", "[]", "", "\0", '{"hot": 5}', '{"hot": {"max_bytes": "many"}}', '{"cold": {"backend": "s3"}}',
     '{"distillation": {"aggression": 2}}', '{"consolidation": {"tree_prune": "sometimes"}}', '{"agent_id": "a/b"}',
     '{"agent_id": 7}', "[" * 100_000],
)  # fmt: skip
def test_a_broken_file_is_an_error_and_no_silent_default(settings_of, text):
    """Not JSON, of the wrong type or out of range: a sentence that names the file."""
    with pytest.raises((ConfigError, UsageError)) as refused:
        settings_of(text)

    assert "config.json" in refused.value.message


def test_unknown_keys_are_ignored_and_a_mark_at_the_start_too(settings_of):
    """Other programs keep their own keys there."""
    assert settings_of('\ufeff{"_comment": "x", "gpu": {"a": 1}, "hot": {"colour": "red"}}') == Settings()


def test_the_source_of_each_setting_is_known(settings_of):
    """What doctor prints: the file that said it."""
    settings_of({"hot": {"max_bytes": 4000, "colour": "red"}, "agent_id": "robin"})
    settings_of.places.config.write_text("[hot]\nmax_tasks = 3\nmax_bytes = 4500\n")

    seed, toml = str(settings_of.places.workspace / "config.json"), str(settings_of.places.config)
    assert settings_sources(settings_of.places) == {"agent_id": seed, "hot.max_bytes": toml, "hot.max_tasks": toml}
    assert load_settings(settings_of.places).hot.max_bytes == 4500


async def test_agent_id_is_whose_memory_an_unnamed_command_means(new_mind, settings_of):
    """`agent_id`."""
    mind = await new_mind(settings_of({"agent_id": "robin"}))

    await mind.ask("store", text="The kettle is blue", category="home")

    assert await mind.hits("kettle", agent_id="robin") == ["The kettle is blue"]
    assert await mind.hits("kettle", agent_id="default") == []


async def test_hot_limits_hold(new_mind, settings_of):
    """`hot.max_lessons`, `max_events`, `max_tasks`, `max_bytes`."""
    mind = await new_mind(settings_of({"hot": {"max_lessons": 3, "max_events": 2, "max_tasks": 1, "max_bytes": 600}}))
    await lessons(mind, 6)
    for n in range(4):
        await mind.ask("hot", update=["event", json.dumps({"text": f"Event number {n}"})])
        await mind.ask("hot", update=["task", json.dumps({"text": f"Task number {n}"})])

    state = await mind.ask("hot")
    rebuilt = await mind.ask("hot", rebuild=True)

    assert len(state["critical_lessons"]) <= 3
    assert len(state["active_context"]["events"]) <= 2
    assert len(state["active_context"]["tasks"]) <= 1
    assert rebuilt["max_bytes"] == 600
    assert rebuilt["size_bytes"] <= 600


async def test_warm_limits_hold(new_mind, settings_of):
    """`warm.max_kb`: what does not fit is cold; `retention_days` and `eviction_threshold`: what is old and weak."""
    small = await new_mind(settings_of({"warm": {"max_kb": 1}}))
    strict = await new_mind(settings_of({"warm": {"retention_days": 5, "eviction_threshold": 0.9}}))
    for n in range(30):
        await small.ask("store", text=f"A fact of some length about the {n}. shelf of the cellar", category="x")
    await strict.ask("store", text="The kettle is blue", category="home", importance=0.5)
    strict.clock.advance(7 * 86_400)
    await strict.ask("consolidate")

    sizes = [len(text.encode()) for text, (_, tier) in (await small.facts()).items() if tier == "warm"]
    assert 0 < sum(sizes) <= 1000
    assert "cold" in {tier for _, tier in (await small.facts()).values()}
    assert await strict.facts() == {"The kettle is blue": ("live", "cold")}


async def test_scoring_is_the_configured_one_and_audit_agrees(new_mind, settings_of):
    """`scoring.half_life_days` and `reinforcement_boost`; the audit goes by the same settings."""
    mind = await new_mind(settings_of({"scoring": {"half_life_days": 10, "reinforcement_boost": 0.5}}))
    await mind.ask("store", text="The kettle is blue", category="home", importance=0.4)
    mind.clock.advance(10 * 86_400)
    await mind.ask("consolidate")
    await mind.hits("kettle")
    await mind.memory.settle()

    (hit,) = await mind.ask("retrieve", query="kettle")

    assert hit["score"] == pytest.approx(0.4 * 0.36788 * 1.5, abs=0.001)
    assert (await mind.ask("audit"))["problems"] == []


async def test_tree_limits_hold(new_mind, settings_of):
    """`tree.max_nodes`, `max_depth`, `max_size_bytes`."""
    mind = await new_mind(settings_of({"tree": {"max_nodes": 6, "max_depth": 2, "max_size_bytes": 120}}))
    for n in range(12):
        await mind.ask("store", text=f"Fact number {n}", category=f"area{n}/part/deeper")

    found = await mind.ask("tree")

    assert len(found["nodes"]) <= 6
    assert max(node["path"].count("/") for node in found["nodes"]) < 2
    assert found["size_bytes"] <= 120


async def test_a_backend_that_is_off_keeps_everything_here(settings_of):
    """`cold.backend`: no URL of the environment or a flag is used."""
    url = "libsql://mine.example"

    assert cloud_url(settings_of({"cold": {"backend": "off"}}), url, {"TURSO_DATABASE_URL": url}) == ""
    assert cloud_url(settings_of({"cold": {"backend": "turso"}}), None, {"TURSO_URL": url}) == "https://mine.example"


async def test_retention_years_say_when_facts_expire_and_come_back(new_mind, settings_of):
    """`cold.retention_years`: a frozen stored fact leaves search after so long; a longer retention brings it back."""
    mind = await new_mind(settings_of({"cold": {"retention_years": 2}}))
    await mind.ask("store", text="The kettle is blue", category="home", importance=0.1)
    mind.clock.advance(YEAR)
    await mind.ask("consolidate", mode="monthly")
    assert await mind.facts() == {"The kettle is blue": ("live", "frozen")}
    mind.clock.advance(YEAR + 2 * 86_400)
    reply = await mind.ask("consolidate", mode="monthly")
    assert reply["expired"] == 1
    assert await mind.hits("kettle") == []
    assert (await mind.ask("audit"))["problems"] == []

    mind.memory.settings.cold.retention_years = 10
    mind.clock.advance(86_400)
    await mind.ask("consolidate", mode="monthly")

    assert await mind.hits("kettle") == ["The kettle is blue"]


async def test_distillation_is_as_long_and_as_sparing_as_configured(new_mind, settings_of):
    """`distillation.max_distilled_bytes` and `aggression`: more of it, less text; below the usual, more sentences."""
    talk = "We decided to move the server to Oslo. The move takes two days. Nobody will notice it."
    facts = []
    for aggression in (0, 0.3, 0.7, 0.9, 1):
        mind = await new_mind(settings_of({"distillation": {"aggression": aggression, "max_distilled_bytes": 90}}))
        facts.append((await mind.ask("distill", text=talk))["distilled"]["fact"])

    assert facts[0] == talk
    assert facts[2] == "We decided to move the server to Oslo."
    assert [len(each.encode()) for each in facts] == sorted((len(each.encode()) for each in facts), reverse=True)
    assert len(facts[4].encode()) <= 30 < len(facts[2].encode())
