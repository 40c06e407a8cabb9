"""The language process: its words, its cache, its end, and what happens without it."""

import asyncio
import os
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from memoryd.search import query_tokens
from memoryd.search.language import Language
from memoryd.search.tokens import with_words


@pytest.fixture
async def language(tmp_path: Path) -> AsyncIterator[Language]:
    one = Language(tmp_path / "cache", tmp_path / "custom_dict.txt")
    yield one
    await one.close()


async def asked(language: Language, text: str) -> list[str] | None:
    """The words once the process is there; a loaded machine may take several tries."""
    for _ in range(100):
        if (found := await language.words(text)) is not None:
            return found
        assert await language.ready()
        await asyncio.sleep(0.02)
    return None


async def test_first_question_does_not_wait(language: Language) -> None:
    """The first Chinese question starts the process and goes on without words."""
    assert await language.words("我们的数据库升级了") is None
    assert await asked(language, "我们的数据库升级了") == ["我们", "的", "数据库", "升级", "了"]


async def test_english_never_starts_it(language: Language) -> None:
    """A question without Chinese starts nothing."""
    assert await language.words("who moved the server") is None
    assert language.pid is None
    assert not await language.ready()


async def test_se4_cache_is_ours_and_nothing_is_said(
    language: Language, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """SE-4: jieba's cache stands in our own folder, whatever the temporary folder holds, and stderr stays empty."""
    await asked(language, "浏览器")

    assert (tmp_path / "cache" / "jieba.cache").stat().st_size > 1_000_000
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    assert capfd.readouterr().err == ""


async def test_custom_dictionary_is_read_anew(language: Language, tmp_path: Path) -> None:
    """A word of custom_dict.txt is one word, from the next question after the file changed."""
    assert "五元组" not in (await asked(language, "五元组审查") or [])

    (tmp_path / "custom_dict.txt").write_text("五元组 100\n", "utf-8")
    await asyncio.sleep(0.01)
    found = await asked(language, "五元组审查")
    assert found is None or found  # the reload may be on its way
    for _ in range(200):
        if found == ["五元组", "审查"]:
            break
        await asyncio.sleep(0.02)
        found = await asked(language, "五元组审查")
    assert found == ["五元组", "审查"]


async def test_unused_process_ends(tmp_path: Path) -> None:
    """After its time without a question the process ends, and a later question starts it again."""
    language = Language(tmp_path / "cache", tmp_path / "none", unused_s=0.2)
    await asked(language, "浏览器")
    pid = language.pid

    await asyncio.sleep(0.4)

    assert language.pid is None
    assert not _runs(pid)
    await language.close()


async def test_broken_process_is_no_error(language: Language) -> None:
    """A process that was killed costs one question its words, no more."""
    await asked(language, "浏览器")
    assert language.pid is not None

    os.kill(language.pid, 9)
    await asyncio.sleep(0.05)

    assert await language.words("浏览器") is None
    assert await asked(language, "浏览器") == ["浏览器"]


async def test_without_jieba_nothing_starts(
    language: Language, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the process cannot start, questions go on, and the log says it once."""
    monkeypatch.setattr(sys, "executable", "/bin/false")

    assert await language.words("浏览器") is None
    assert not await language.ready()
    assert await language.words("浏览器") is None
    assert not await language.ready()
    assert language.failed
    assert [each.message for each in caplog.records if "language process" in each.message] != []


def test_pairs_across_words_count_less() -> None:
    """Once the words are known, a pair that lies across two of them is worth less than one within."""
    cut = with_words(query_tokens("数据库升级"), ["数据库", "升级"])

    weights = {term.text: term.weight for term in cut.terms}
    assert weights["库升"] < weights["据库"] == weights["升级"] < weights["据"] == 1.0


def _runs(pid: int | None) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
