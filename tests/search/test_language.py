"""The language process: its words and cosines, its cache, its end, and what happens without it or a library."""

import asyncio
import os
import shutil
import signal
import stat
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from memoryd.search import language as language_module
from memoryd.search import language_process, language_worker, query_tokens
from memoryd.search.cosine import Documents
from memoryd.search.language import Language
from memoryd.search.tokens import with_words

KETTLE = Documents(["the blue kettle", "a red door"], [[(1, 1.0)], [(0, 1.0)]], "where is the kettle")


@pytest.fixture(scope="module")
def packed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache that is there already: making one takes a second."""
    import jieba

    cache = tmp_path_factory.mktemp("packed")
    language_worker.packed(cache, Path(jieba.__file__).with_name(jieba.DEFAULT_DICT_NAME))
    return cache


@pytest.fixture
async def language(tmp_path: Path, packed: Path) -> AsyncIterator[Language]:
    shutil.copytree(packed, tmp_path / "cache")
    one = Language(tmp_path / "cache", tmp_path / "custom_dict.txt")
    yield one
    await one.close()


@pytest.fixture
async def new_language(tmp_path: Path) -> AsyncIterator[Language]:
    one = Language(tmp_path / "cache", tmp_path / "custom_dict.txt")
    yield one
    await one.close()


@pytest.fixture
def without(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes the next process one of an installation that lacks a module."""

    def lack(module: str) -> None:
        script = tmp_path / "worker.py"
        worker = language_worker.__file__
        script.write_text(
            f"import runpy, sys\nsys.modules[{module!r}] = None\nrunpy.run_path({worker!r}, run_name='__main__')\n"
        )
        monkeypatch.setattr(language_module, "_WORKER", script)

    return lack


async def patiently(language: Language, ask: Callable[[], Awaitable[Any]]) -> Any:
    """The answer once the process is there; a loaded machine may take several tries."""
    for _ in range(500):
        if (found := await ask()) is not None:
            return found
        assert await language.ready()
        await asyncio.sleep(0.02)
    return None


async def words(language: Language, text: str) -> list[str] | None:
    found: list[str] | None = await patiently(language, lambda: language.words(text))
    return found


async def cosines(language: Language, documents: Documents = KETTLE) -> list[float] | None:
    found: list[float] | None = await patiently(language, lambda: language.cosines(documents))
    return found


async def test_first_question_does_not_wait(language: Language) -> None:
    """The first Chinese question starts the process and goes on without words."""
    assert await language.words("我们的数据库升级了") is None
    assert await words(language, "我们的数据库升级了") == ["我们", "的", "数据库", "升级", "了"]


async def test_first_english_question_starts_it_without_the_dictionary(language: Language) -> None:
    """Scikit-learn alone is loaded, jieba with the first Chinese question, and one process holds both."""
    assert await language.words("who moved the server") is None
    assert language.pid is None
    assert await language.cosines(KETTLE) is None

    far, near = await cosines(language) or ()
    assert 0 == far < near < 1
    pid = language.pid
    assert await language.loaded(5) == ["scikit-learn"]

    assert await words(language, "浏览器") == ["浏览器"]
    assert await language.loaded(5) == ["jieba", "scikit-learn"]
    assert language.pid == pid


async def test_nothing_to_compare_is_an_answer_at_once(language: Language) -> None:
    """No documents have no cosines; whether the process is there is all that is asked then, and that it starts."""
    nothing = Documents([], [], "")
    assert await language.cosines(nothing) is None
    assert await language.ready()
    assert await language.cosines(nothing) == []


async def test_questions_at_the_same_time_are_each_answered(
    language: Language, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Answers come in the order of the questions, and each gets its own."""
    monkeypatch.setattr(language_module, "WORDS_S", 5)
    await words(language, "浏览器")

    found = await asyncio.gather(*(language.words(text) for text in ("浏览器", "数据库", "升级", "我们")))

    assert found == [["浏览器"], ["数据库"], ["升级"], ["我们"]]


async def test_se4_cache_is_ours_and_nothing_is_said(
    new_language: Language, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """SE-4: the cache stands in our own folder, whatever the temporary folder holds, and stderr stays empty."""
    await words(new_language, "浏览器")

    (file,) = (tmp_path / "cache").iterdir()
    assert file.stat().st_size > 1_000_000
    assert stat.S_IMODE((tmp_path / "cache").stat().st_mode) == 0o700
    assert capfd.readouterr().err == ""


async def test_packed_dictionary_cuts_as_jieba_does(language: Language, tmp_path: Path) -> None:
    """Words by the packed dictionary are jieba's own, names it does not know and mixed texts included."""
    import jieba

    jieba.setLogLevel(60)
    own = jieba.Tokenizer()
    own.tmp_dir = str(tmp_path)
    texts = [
        "小明硕士毕业于中国科学院计算所",
        "用 Docker 部署 v2.1 的服务器，重启三次",
        "他来到了网易杭研大厦",
        "𠮷野家",
        "服务\0器重启\n三次",
    ]

    assert [await words(language, text) for text in texts] == [list(own.cut(text)) for text in texts]


def test_broken_cache_is_made_anew(tmp_path: Path) -> None:
    """A file of the cache that was cut short, or is none of ours, is written again."""
    dictionary = tmp_path / "dict.txt"
    dictionary.write_text("数据库 5 n\n升级 3 v\n数据 2\n", "utf-8")
    words = language_worker.packed(tmp_path, dictionary)
    assert {word: words[word] for word in words} == {
        "数": [(0,)], "数据": [(2,)], "数据库": [(5,)], "升": [(0,)], "升级": [(3,)], "\n": [(10,)],
    }  # fmt: skip
    (file,) = tmp_path.glob("*.marisa")
    whole = file.read_bytes()

    for broken in (whole[:100], b"x" * 100, b""):
        file.write_bytes(broken)
        assert language_worker.packed(tmp_path, dictionary)["升级"] == [(3,)]
        assert file.read_bytes() == whole


async def test_dictionary_that_cannot_be_kept_says_why(language: Language, tmp_path: Path) -> None:
    """A full disk or a folder that is not ours: the reason is named, not only that a process failed."""
    (file,) = (tmp_path / "cache").iterdir()
    file.unlink()
    file.mkdir()

    for _ in range(500):
        await language.words("浏览器")
        assert await language.ready()
        if language.missing:
            break
        await asyncio.sleep(0.02)

    assert "cannot be kept in" in language.missing["jieba"]
    assert "Is a directory" in language.missing["jieba"]


async def test_custom_dictionary_is_read_anew(language: Language, tmp_path: Path) -> None:
    """A word of custom_dict.txt is one word, from the next question after the file changed, and no longer after."""
    assert "五元组" not in (await words(language, "五元组审查") or [])

    for text, cut in (("五元组 100\n", ["五元组", "审查"]), ("元组审查\n", ["五", "元组审查"])):
        (tmp_path / "custom_dict.txt").write_text(text, "utf-8")
        await asyncio.sleep(0.01)
        for _ in range(200):
            if (found := await words(language, "五元组审查")) == cut:
                break
        assert found == cut


@pytest.mark.parametrize("count", ["²", "1" + "0" * 400, "9" * 5_000, "-3", "many"])
async def test_a_count_that_is_none_ends_no_process(language: Language, tmp_path: Path, count: str) -> None:
    """A word of custom_dict.txt with an absurd count behind it is a word like one without a count."""
    (tmp_path / "custom_dict.txt").write_text(f"五元组 {count}\n元组审\n", "utf-8")

    assert await words(language, "五元组") == ["五元组"]


async def test_unused_process_ends(tmp_path: Path) -> None:
    """After its time without a question the process ends, and a later question starts it again."""
    language = Language(tmp_path / "cache", tmp_path / "none", unused_s=0.2)
    await cosines(language)
    pid = language.pid

    await asyncio.sleep(0.4)

    assert language.pid is None
    assert not _runs(pid)
    await language.close()


async def test_broken_process_is_no_error(language: Language, caplog: pytest.LogCaptureFixture) -> None:
    """A process that was killed costs questions its answers until the next one is there, no more."""
    await cosines(language)
    pid = language.pid
    assert pid is not None

    os.kill(pid, 9)
    await asyncio.sleep(0.05)

    assert await language.cosines(KETTLE) is None
    assert await cosines(language)
    assert language.pid not in (None, pid)
    assert "The language process ended; it is started anew." in caplog.messages


async def test_process_that_ends_again_soon_is_let_be(
    language: Language, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """A text that it dies of does not cost every question a start: after the second end it waits ten minutes."""
    for _ in range(2):
        await cosines(language)
        assert language.pid is not None
        os.kill(language.pid, 9)
        await asyncio.sleep(0.05)
        assert await language.cosines(KETTLE) is None

    assert not await language.ready()
    assert language.failed
    assert "The language process ended again; it is started anew in 10 min." in caplog.messages
    monkeypatch.setattr(language_module, "RETRY_S", 0)
    assert await language.cosines(KETTLE) is None
    assert await cosines(language)
    assert not language.failed


async def test_closed_one_starts_nothing(language: Language) -> None:
    """Not even for a question that was under way; nor does a start that was under way come to its end."""
    assert await language.cosines(KETTLE) is None
    await language.close()

    assert await language.cosines(KETTLE) is None
    assert language.pid is None


async def test_start_that_hangs_is_given_up(
    language: Language, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would keep `doctor` waiting, and every later start."""
    script = tmp_path / "worker.py"
    script.write_text("import time; time.sleep(60)")
    monkeypatch.setattr(language_module, "_WORKER", script)
    monkeypatch.setattr(language_process, "START_S", 0.2)
    hanging = Language(tmp_path / "cache", tmp_path / "none")

    assert await hanging.cosines(KETTLE) is None
    assert not await hanging.ready()
    assert hanging.failed
    await hanging.close()


async def test_request_that_is_no_text_takes_no_others_answer(language: Language) -> None:
    """Half a character cannot be sent; the next question gets its own answer."""
    await words(language, "浏览器")
    with pytest.raises(UnicodeEncodeError):
        await language.words("浏览器\ud800")

    assert await words(language, "数据库") == ["数据库"]


async def test_slow_process_keeps_nobody_waiting(language: Language, monkeypatch: pytest.MonkeyPatch) -> None:
    """A question goes on at its limit, one more than may wait at once; what answers again is used again."""
    await words(language, "浏览器")
    pid = language.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)

    started = time.monotonic()
    for _ in range(3):
        assert await language.words("浏览器") is None
        assert await language.cosines(KETTLE) is None
    assert time.monotonic() - started < 1
    monkeypatch.setattr(language_process, "QUEUE", 1)
    monkeypatch.setattr(language_module, "COSINES_S", 60)
    assert await language.cosines(KETTLE) is None

    os.kill(pid, signal.SIGCONT)
    assert await words(language, "数据库") == ["数据库"]
    assert language.pid == pid


async def test_process_that_hangs_is_started_anew(
    language: Language, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What owes an answer for too long is ended, and another one takes its place."""
    await cosines(language)
    pid = language.pid
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)
    monkeypatch.setattr(language_process, "HANGS_S", 0)

    assert await language.cosines(KETTLE) is None
    monkeypatch.undo()

    assert await cosines(language)
    assert language.pid != pid
    assert not _runs(pid)
    assert "The language process answers no more; it is started anew." in caplog.messages


async def test_process_that_does_not_start_is_no_error(
    language: Language, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """Where the process cannot start, questions go on, and the log says it once."""
    monkeypatch.setattr(sys, "executable", "/bin/false")

    for _ in range(2):
        assert await language.words("浏览器") is None
        assert await language.cosines(KETTLE) is None
        assert not await language.ready()
    assert language.failed
    assert len([message for message in caplog.messages if "language process" in message]) == 1


async def test_without_scikit_learn_words_are_cut(
    without: Callable[[str], None], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """A library that cannot be loaded takes the other one not away; it is named once, with the reason."""
    without("sklearn")
    language = Language(tmp_path / "cache", tmp_path / "none")

    assert await words(language, "浏览器") == ["浏览器"]
    assert [await language.cosines(KETTLE) for _ in range(2)] == [None, None]
    assert await language.cosines(Documents([], [], "")) is None
    assert list(language.missing) == ["scikit-learn"]
    assert "sklearn" in language.missing["scikit-learn"]
    assert len([message for message in caplog.messages if "hits are ordered without cosines" in message]) == 1
    await language.close()


async def test_without_jieba_texts_are_compared(
    without: Callable[[str], None], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same the other way round."""
    monkeypatch.setattr(language_module, "WORDS_S", 5)
    without("jieba")
    language = Language(tmp_path / "cache", tmp_path / "none")

    assert await cosines(language)
    assert await language.words("浏览器") is None
    assert list(language.missing) == ["jieba"]
    assert await cosines(language)
    await language.close()


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
