"""Cues find what their patterns find, only sooner."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.ingest import classify, findings, traits
from memoryd.ingest.cues import Cue, lowered

_MODULES = (classify, findings, traits)
_CUES = [each for module in _MODULES for each in vars(module).values() if isinstance(each, Cue)]
_SENTENCES = [
    "We decided to use raw JSON-RPC to avoid the dependency", "Deployed the release and fixed the build",
    "Maybe lunch, perhaps coffee; the weather is fine", "Never again on a Friday, lesson learned the hard way",
    "Mira prefers tea and can't stand coffee", "The deadline is due by Monday, meeting at ten", "FAILED AGAIN: CRASHED",
    "It finally works, phew", "She likes it, he loves it, they enjoy it", "We settled on the blue paint",
    "决定采用新方案", "学到一个教训：以后不要周五发版",
    "米拉喜欢喝绿茶", "明天下午开会，截止周五", "部署到测试服务器失败了",
    "终于修好了，松了一口气", "我们大家最终敲定预算", "不吃香菜，过敏", "还没决定用哪个", "重要：务必备份",
]  # fmt: skip
_WORDS = sorted({word for sentence in _SENTENCES for word in sentence.split()})


def _plain(cue: Cue, text: str) -> bool:
    """Whether one of the cue's halves matches, asked without looking at the words first."""
    text = lowered(text) if cue._ignores else text
    return any(half is not None and half.search(text) is not None for half in (cue._english, cue._han))


@pytest.mark.parametrize("text", _SENTENCES)
def test_the_quick_look_rules_out_nothing_that_matches(text: str) -> None:
    """For each cue the quick way and the pattern alone agree."""
    for cue in _CUES:
        assert (cue.search(text) is not None) == _plain(cue, text), cue._english


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(_WORDS), min_size=1, max_size=12).map(" ".join))
def test_the_quick_look_agrees_on_shuffled_words(text: str) -> None:
    """The same holds for the words in any order."""
    assert all((cue.search(text) is not None) == _plain(cue, text) for cue in _CUES)


@given(st.text(max_size=60))
def test_lower_case_keeps_places(text: str) -> None:
    """A match in the lowered text has the same place in the text itself."""
    assert len(lowered(text)) == len(text)


def test_there_are_cues_to_test() -> None:
    """The modules hold the cues, and each pattern compiles to at least one half."""
    assert len(_CUES) >= 12
    assert all(isinstance(cue._english or cue._han, re.Pattern) for cue in _CUES)
