"""Distilling a conversation by rules (seed, "Distillation Engine")."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from memoryd.ingest.distil import distilled
from memoryd.ingest.talk import distil_talk, turns_of

SEED = "User: Let's deploy to testnet first. Agent: Good idea, safer that way."


def test_the_seeds_own_example_gives_its_documented_result():
    """Cautious, positive, nobody named Let, the topics and the action of the document, a fact within 100 bytes."""
    found = distil_talk(SEED)

    assert found.fact == "Decided to deploy to testnet first"
    assert (found.emotion, found.outcome) == ("cautious", "positive")
    assert found.people == []
    assert found.topics == ["deployment", "testnet", "safety"]
    assert found.actions == ["deploy to testnet"]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("用户：我们先部署到测试网吧。助手：好主意，这样更稳妥。", "决定先部署到测试网"),
        ("Alice: We should book the small room.\nBob: Sounds good.", "Decided to book the small room"),
        ("User: Let's deploy now. Agent: No, the tests fail.", "No, the tests fail."),
        ("User: Hi! How are you? I prefer tea over coffee. Agent: Noted.", "I prefer tea over coffee."),
        ("Version v2.1 is out at https://a.example/x.y?z=1", "Version v2.1 is out at https://a.example/x.y?z=1"),
        ("The permission was made for the whole team.", "The permission was made for the whole team."),
    ],
)
def test_the_fact_is_the_weightiest_sentence_without_its_speaker(text, fact):
    """Agreed proposals become decisions, refused ones do not; no label stays."""
    assert distil_talk(text).fact == fact


def test_words_inside_of_words_are_no_feelings():
    """docs/original.md: `permission` is not sad, `made` is not angry."""
    assert distil_talk("The permission was made for the whole team.").emotion == "neutral"


def test_named_speakers_are_people_and_roles_are_not():
    """`Alice:` at a line's start is a person, `User:` and `Agent:` are roles."""
    assert distil_talk("Alice: The port is 8125.\nBob: Noted.").people == ["Alice", "Bob"]
    assert distil_talk(SEED).people == []


def test_urls_are_no_topics():
    """The words of a link say nothing about what was talked about."""
    assert "https" not in distil_talk("Read the manual at https://docs.example/guide today").topics


@given(st.text(max_size=400))
def test_any_text_gives_a_short_fact(text):
    """No text breaks the rules; the fact never exceeds 100 bytes and is empty only where nothing was said."""
    found = distil_talk(text)

    assert len(found.fact.encode()) <= 100
    assert bool(found.fact) == bool(turns_of(text))


def test_words_are_never_cut_out_of_the_middle():
    """Only a beginning is filler: `book the room` keeps its `ok `, `the user: …` its words."""
    assert distilled("Please book the small room") == "Please book the small room"
    assert distilled("What the user: field holds") == "What the user: field holds"
    assert distilled("Well, so the port is 8125") == "the port is 8125"
    assert distilled("User: the port is 8125") == "the port is 8125"
