"""`distilled`, `summary` and the traits of a sentence."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from memoryd.ingest.distil import distilled, summary
from memoryd.ingest.parse import parse_statement
from memoryd.ingest.traits import actions, emotion, outcome, people, topics


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=300))
def test_short_forms_fit(text: str) -> None:
    """Whatever the text, the short forms are valid UTF-8 within 100 and 30 bytes."""
    text = text.encode("utf-8", "replace").decode()

    assert len(distilled(text).encode()) <= 100
    assert len(summary(text).encode()) <= 30


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Short stays.", "Short stays."), ("User: Let's deploy to testnet first.", "Let's deploy to testnet first."),
        (
            "The pump of the lower garden needs oil every spring. " + "More words follow here. " * 5,
            "The pump of the lower garden needs oil every spring",
        ),
        (
            "决定使用浏览器自动化来操作登录页面。" + "后面还有很多很多的话要说。" * 4,
            "决定使用浏览器自动化来操作登录页面",
        ),
        ("See v2.1 at https://a.example/x.y.z", "See v2.1 at https://a.example/x.y.z"),
    ],
)  # fmt: skip
def test_the_first_sentence_is_what_is_kept(text: str, wanted: str) -> None:
    """A long text is cut at a sentence; versions and URLs do not end one."""
    assert distilled(text) == wanted


def test_a_cut_says_so_and_keeps_whole_words() -> None:
    """Where no sentence fits, words stay whole and an ellipsis stands for the rest."""
    short = distilled("word " * 60)

    assert short.endswith("word…")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Met with Mira and Jonas", ["Mira", "Jonas"]), ("Ask Mira about the invoice", ["Mira"]),
        ("Mira said it is fine", ["Mira"]),
        ("@jonas will look", ["jonas"]), ("和王芳讨论了预算", ["王芳"]), ("问李明的意见", ["李明"]),
        ("小王来了", ["小王"]), ("张总同意了", ["张总"]),
        ("Let's deploy to testnet", []), ("Met on Monday with Docker", []), ("from Python to Rust", []),
        ("和平常一样", []), ("高兴地回家", []),
    ],
)  # fmt: skip
def test_people(text: str, names: list[str]) -> None:
    """Names are found behind words that take a person, in both languages; other capitals are none."""
    assert people(text) == names


@pytest.mark.parametrize(
    ("text", "feeling", "end"),
    [
        ("Happy that the release works", "happy", "positive"), ("Worried about the invoice", "worried", ""),
        ("The deploy failed again", "", "negative"), ("终于修复了登录", "relieved", "positive"),
        ("很担心，部署失败了", "worried", "negative"),
        ("permission denied for made-up users", "", ""), ("not happy about it", "", ""),
        ("还在等待批准", "", "pending"),
        ("Safer to go to testnet first", "cautious", ""), ("The door is green", "", ""),
        ("迁移正在进行中", "", "ongoing"),
    ],
)  # fmt: skip
def test_emotion_and_outcome(text: str, feeling: str, end: str) -> None:
    """Whole words decide: `permission` is not sad, `made` is not angry, and a denied feeling is none."""
    assert (emotion(text), outcome(text)) == (feeling, end)


def test_actions_and_topics() -> None:
    """Actions are phrases that begin with a verb of doing; topics are telling words."""
    assert actions("Deployed the falcon to kestrel, it rained") == ["Deployed the falcon to kestrel"]
    assert actions("部署新版本到测试网") == ["部署新版本到测试网"]
    assert topics("The pump and the garden pump") == ["pump", "garden"]


def test_a_stored_statement_follows_the_text_rule() -> None:
    """`store` gives the same text as a note would, masked, with the category normalised."""
    mention = parse_statement(
        "Prefers **tea**,  see https://a.example\npassword: hunter2secret", "Owner/Preferences", 0.8
    )

    assert mention.text.startswith("Prefers tea, see https://a.example password: [masked:password:")
    assert (mention.category, mention.importance, mention.kind) == ("owner/preferences", 0.8, "preference")
    assert mention.metadata.urls == ["https://a.example"]
    assert mention.metadata.explicit == ["category", "importance"]


@pytest.mark.parametrize("text", ["", "  \n", "🎉", "***"])
def test_a_statement_without_words_has_no_text(text: str) -> None:
    """W6: nothing to remember is an empty text, which the command refuses."""
    assert parse_statement(text, "", None).text == ""


@pytest.mark.parametrize(
    "text",
    [
        "tell the user: hello",
        "Ask the agent: when is tea?",
        "It was just well said, so note that",
        "告诉用户：你好",
        "我觉得其实还行",
    ],
)
def test_words_inside_a_sentence_are_kept(text: str) -> None:
    """Only what stands in front is a speaker or a filler; the same words later belong to the sentence."""
    assert distilled(text) == text
