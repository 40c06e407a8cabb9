"""The tokeniser: what is indexed can be asked for, in every script."""

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from memoryd.search import index_tokens, query_tokens
from memoryd.search.tokens import MAX_TERMS, MAX_TOKEN


def terms(query: str) -> set[str]:
    return {term.text for term in query_tokens(query).terms}


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("Deadline is Friday", "deadline?"),
        ("The services were restarted", "service"),
        ("see memoryd.service", "memoryd"),
        ("see memoryd.service", "memoryd.service"),
        ("run huggingface-cli login", "huggingface"),
        ("run huggingface-cli login", "huggingface-cli"),
        ("call getUserName first", "user name"),
        ("call getUserName first", "getUserName"),
        ("HTTPServer is up", "server"),
        ("shipped v2.1 today", "2.1"),
        ("shipped v2.1 today", "v2.1"),
        ("https://github.com/foo/bar-baz?x=1", "bar-baz"),
        ("https://github.com/foo/bar-baz?x=1", "github.com"),
        ("in /etc/nginx/sites.conf", "nginx"),
        ("in /etc/nginx/sites.conf", "sites.conf"),
        ("le café de Zoë", "cafe zoe"),
        ("le cafe de Zoe", "café zoë"),
        ("written in C++ and C#", "c++"),
        ("Straße", "STRASSE"),
        ("ＡＢＣ　１２３", "abc 123"),
        ("Alice’s notes", "alice"),
        ("今天玩成语接龙游戏", "成语"),
        ("今天玩成语接龙游戏", "戏"),
        ("打开浏览器", "浏览器"),
        ("食べるのが好き", "食べる"),
        ("안녕하세요", "안녕"),
        ("ภาษาไทยง่าย", "ไทย"),
        ("हिन्दी भाषा सीखना", "भाषा"),
        ("تعلم اللغة", "اللغة"),
        ("Привет мир", "привет"),
    ],
)
def test_word_of_text_is_asked_for(text: str, query: str) -> None:
    """Some term of the question is a token of the text."""
    assert terms(query) & set(index_tokens(text))


def test_stop_words_are_dropped_from_the_question_only() -> None:
    """The index keeps every word, the question loses the ones without a subject."""
    assert "what" in index_tokens("What is the deadline")
    assert terms("What is the deadline") == {"deadlin"}


def test_question_of_stop_words_keeps_them_all() -> None:
    """A question never loses all of its words."""
    assert terms("to be or not to be") == {"to", "be", "or", "not"}


def test_capitals_are_a_name() -> None:
    """IT and WHO are names, it and who are not."""
    assert terms("what did the WHO tell IT") == {"who", "it"}


def test_chinese_gives_characters_and_pairs() -> None:
    """A Chinese run gives each character and each pair of neighbours, in order."""
    assert index_tokens("数据库") == ["数", "数据", "据", "据库", "库"]


def test_chinese_question_words_weigh_little() -> None:
    """A question word counts for less than a word of the matter."""
    weights = {term.text: term.weight for term in query_tokens("数据库什么时候升级").terms}

    assert weights["什么"] < weights["升级"]


def test_hash_is_not_cut_into_letters_and_digits() -> None:
    """A hash is one token."""
    assert index_tokens("3fa9c1d2b4e5") == ["3fa9c1d2b4e5"]


def test_long_question_is_bounded() -> None:
    """A pasted page asks for no more than the limit of terms."""
    assert len(query_tokens(" ".join(f"word{n}" for n in range(5000))).terms) == MAX_TERMS


@given(st.text(max_size=300))
def test_tokens_hold_no_blank_and_are_bounded(text: str) -> None:
    """Whatever the text, a token is not empty, holds no blank and no NUL, and has a bounded length."""
    for token in index_tokens(text):
        assert token
        assert token.split() == [token]
        assert "\0" not in token
        assert len(token) <= 4 * MAX_TOKEN  # folding may lengthen a character


@given(st.text(max_size=200) | st.text("aA1 ._-/:@+#&=?%~\\'", max_size=12))
@example("0#A")
@example("x~~the")
def test_text_finds_itself(text: str) -> None:
    """Every term of a question is a token of the same text in the index."""
    assert terms(text) <= set(index_tokens(text))


@given(st.text(st.characters(max_codepoint=127)) | st.text("ab1 Z_.-/:@+#&=?%~\\'(!,", max_size=20))
def test_a_text_in_ascii_has_the_same_tokens_beside_another_script(text: str) -> None:
    """The short way for plain English finds what the long one finds."""
    assert [*index_tokens(text), "雪"] == index_tokens(f"{text} 雪")
