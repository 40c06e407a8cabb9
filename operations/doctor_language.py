"""What `doctor` asks of a language process of its own: whether it cuts Chinese, and whether it orders texts."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import TypeVar

from ..search.cosine import Documents
from ..search.language import AGAIN, Language
from ..search.language_worker import JIEBA, SCIKIT
from .doctor_replies import Check, failed, forbidden, good, warned
from .memory import Memory

_SENTENCE = "今天天气很好"
_TEXTS = Documents(["the blue kettle", "a red door"], [[(1, 1.0)], [(0, 1.0)]], "where is the kettle")
_PATIENCE = 400
_PAUSE_S = 0.05

Answer = TypeVar("Answer")


async def check_language(memory: Memory) -> AsyncIterator[Check]:
    """Both checks."""
    own_file = memory.workspace / "memory" / "custom_dict.txt"
    language = Language(memory.places.state / "language", own_file)
    try:
        for name, check in (("chinese", _chinese), ("ranking", _ranking)):
            try:
                yield await check(language, own_file)
            except OSError as error:
                yield forbidden(name, error)
    finally:
        await language.close()


async def _chinese(language: Language, own_file: Path) -> Check:
    """Cuts a sentence, and one with the first word of one's own dictionary."""
    own = _own_word(own_file)
    words = await _patiently(language, lambda: language.words(_SENTENCE), JIEBA)
    cut = await _patiently(language, lambda: language.words(f"这是{own}吗"), JIEBA) if own else None
    if language.failed or JIEBA in language.missing:
        return failed("chinese", f"The dictionary does not load{_why(language, JIEBA)}.", AGAIN)
    if not any(len(word) > 1 for word in words or ()):
        return failed("chinese", "The dictionary cuts wrongly.", f"Look at {own_file}: a word there may be wrong.")
    if not _is_text(own_file):
        return warned("chinese", "custom_dict.txt is no UTF-8 text.", "Save it as UTF-8, one word a line.")
    if own and own not in (cut or ()):
        return warned(
            "chinese", "The first word of custom_dict.txt is not cut as one.", "One word a line, without blanks."
        )
    return good("chinese", "The dictionary loads and cuts" + (", custom_dict.txt too." if own else "."))


async def _ranking(language: Language, _own_file: Path) -> Check:
    """Compares two texts with a question."""
    cosines = await _patiently(language, lambda: language.cosines(_TEXTS), SCIKIT)
    if language.failed or SCIKIT in language.missing:
        return failed("ranking", f"scikit-learn does not load{_why(language, SCIKIT)}.", AGAIN)
    if cosines is None or not cosines[0] < cosines[1]:
        return failed("ranking", "scikit-learn compares texts wrongly, or too slowly.", AGAIN)
    return good("ranking", "scikit-learn loads and compares texts.")


def _why(language: Language, library: str) -> str:
    why = language.missing.get(library)
    return f": {why}" if why else ""


async def _patiently(language: Language, ask: Callable[[], Awaitable[Answer | None]], library: str) -> Answer | None:
    """The answer of a process that may have to start first, and may be slower than a question's patience allows."""
    for _ in range(_PATIENCE):
        if (answer := await ask()) is not None:
            return answer
        if not await language.ready() or library in language.missing:
            return None
        await asyncio.sleep(_PAUSE_S)
    return None


def _is_text(file: Path) -> bool:
    """Whether it is UTF-8 without NUL, or not there."""
    if not file.is_file():
        return True
    try:
        return "\0" not in file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        return False


def _own_word(file: Path) -> str:
    """The first Chinese word of one's own dictionary, '' where there is none."""
    text = file.read_text("utf-8-sig", "replace") if file.is_file() else ""
    lines = (line.split() for line in text.splitlines() if line.strip() and not line.startswith("#"))
    return next((words[0] for words in lines if any("\u4e00" <= sign <= "\u9fff" for sign in words[0])), "")
