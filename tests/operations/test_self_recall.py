"""Self-recall: the memory finds its own words, and says so when it does not."""

import random
import sys
from types import SimpleNamespace

import pytest
from memoryd.operations.replies import SelfRecall
from memoryd.operations.self_recall import is_low, probe, probe_words
from memoryd.operations.status import build_status

LINES = "".join(f"- Reading number {n} of the {word} boiler 锅炉读数很稳定\n" for n, word in enumerate("abcdefgh"))


async def test_memory_finds_its_own_words(new_mind):
    """Probes of a sound memory are found, and count as nobody's reading."""
    mind = await new_mind()
    await mind.note("memory/2026-02-13.md", f"# 2026-02-13\n\n{LINES}- 今天玩成语接龙游戏\n- The garden needs water\n")
    chance = random.Random(3)

    for _ in range(4):
        found = await probe(mind.memory, chance)

    assert found.asked > 10
    assert found.rate == 1.0
    assert not is_low(found)
    assert build_status(mind.memory).self_recall == found
    assert await mind.sql("SELECT count(*) FROM access") == [(0,)]


async def test_a_broken_index_shows(new_mind):
    """Where entries are missing from the index the rate falls and names what was not found."""
    mind = await new_mind()
    await mind.note("memory/2026-02-13.md", f"# 2026-02-13\n\n{LINES}- The garden needs water\n")
    await mind.sql("DELETE FROM search_index")

    found = await probe(mind.memory, random.Random(3))

    assert found.rate == 0.0
    assert found.missed


async def test_probes_are_asked_as_a_person_asks(mind):
    """With the aliases, and with the dictionary's words while its process is there; a probe does not start it."""
    await mind.note("memory/2026-02-13.md", "- 锅炉读数很稳定\n")
    await mind.note("memory/aliases.txt", "锅炉, boiler\n")
    asked = []

    async def words(text):
        asked.append(text)
        return [text]

    mind.memory.language.words = words
    await probe(mind.memory, random.Random(3))
    assert asked == []

    mind.memory.language._process = SimpleNamespace(pid=1)
    found = await probe(mind.memory, random.Random(3))
    mind.memory.language._process = None

    assert len(asked) == 20
    assert found.rate == 1.0


async def test_a_dictionary_that_does_not_load_is_a_warning(mind, monkeypatch):
    """Status says that Chinese is found without it; that is nothing against the memory's freshness."""
    monkeypatch.setattr(sys, "executable", "/bin/false")
    await mind.memory.rescan()
    before = build_status(mind.memory).state

    await mind.memory.language.words("锅炉")
    assert not await mind.memory.language.ready()

    assert [each.code for each in build_status(mind.memory).warnings if each.code == "language"] == ["language"]
    assert build_status(mind.memory).state == before


async def test_a_library_that_does_not_load_is_a_warning(mind):
    """It is named with the reason and with what goes without it."""
    await mind.memory.rescan()
    before = build_status(mind.memory).state

    mind.memory.language.missing["scikit-learn"] = "ImportError: libgomp.so.1"

    (found,) = [each for each in build_status(mind.memory).warnings if each.code == "language"]
    assert (
        found.message == "scikit-learn cannot be loaded (ImportError: libgomp.so.1): hits are ordered without cosines."
    )
    assert build_status(mind.memory).state == before


async def test_a_low_rate_is_a_warning(mind):
    """Status warns when too many probes are missed, and names some."""
    mind.memory.recall = SelfRecall(100, 90, 0.9, ["成语"])

    warning = next(each for each in build_status(mind.memory).warnings if each.code == "self_recall")

    assert "90.0%" in warning.message
    assert "成语" in warning.message


async def test_an_empty_memory_has_no_rate(new_mind):
    """Nothing to ask is no fault."""
    mind = await new_mind()

    assert (await probe(mind.memory, random.Random(3))).rate is None


@pytest.mark.parametrize(("asked", "found", "low"), [(49, 0, False), (100, 98, True), (100, 99, False), (0, 0, False)])
def test_warning_under_ninety_nine(asked, found, low):
    """A warning is due under 99 % of at least fifty probes."""
    assert is_low(SelfRecall(asked, found, None, [])) is low


@pytest.mark.parametrize(
    ("text", "possible"),
    [("The garden", {"The garden"}), ("水", {"水"}), ("1 2 3", {""}), ("成语", {"成", "语", "成语"})],
)
def test_probe_is_a_piece_of_the_text(text, possible):
    """One to four Chinese characters, or two neighbouring words."""
    assert probe_words(text, random.Random(1)) in possible
