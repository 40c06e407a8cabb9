"""The language process: cuts Chinese into words (jieba) and says how close texts are to a question (scikit-learn).

Run as a script of its own, it imports nothing of memoryd:

    python -I language_worker.py CACHE_FOLDER CUSTOM_DICT [LIBRARY …]

It loads the libraries that are named, says `ready`, and answers each line of JSON with one, in order:

    {"ask": "words", "text": …}                                      [word, …]; CUSTOM_DICT is read anew when it changed
    {"ask": "cosines", "texts": …, "documents": …, "question": …}    [cosine, …], one a document
    {"ask": "loaded"}                                                [library, …]

as `{"reply": …}` or `{"missing": library, "why": …}`. A library that was not named is loaded when it is first needed.
"""

import gc
import json
import logging
import os
import re
import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

READY = "ready"
JIEBA, SCIKIT = "jieba", "scikit-learn"

_PACK = "--pack"
_COUNT = "<I"
_COUNTED = re.compile("[0-9]{1,9}")
"""A count of one's own dictionary that is one: no `²`, and none beyond what jieba's sums can hold."""
_TOTAL = "\n"
"""The key under which the sum of all counts stands; no word holds it."""


class Library:
    """What is loaded with its first use; after a failure it is not tried again."""

    def __init__(self, name: str, load: Callable[[], Any]) -> None:
        self._name = name
        self._load = load
        self._use: Any = None
        self._why = ""

    @property
    def is_loaded(self) -> bool:
        """Whether it was needed yet, and is there."""
        return self._use is not None

    def use(self, *arguments: Any) -> dict[str, Any]:
        """The reply to one request."""
        if self._use is None and not self._why:
            try:
                self._use = self._load()
                gc.collect()
                gc.freeze()  # to look through a library's objects again takes 50 ms, as long as an answer may
            except Exception as error:  # noqa: BLE001 - a broken installation may raise anything
                self._why = f"{type(error).__name__}: {error}"[:300]
        if self._why:
            return {"missing": self._name, "why": self._why}
        return {"reply": self._use(*arguments)}


def main(cache_folder: str, custom_dict: str, *wanted: str) -> None:
    """Answer until stdin ends."""
    warnings.simplefilter("ignore")
    libraries = {
        JIEBA: Library(JIEBA, lambda: Cutter(Path(cache_folder), custom_dict).words),
        SCIKIT: Library(SCIKIT, load_cosines),
    }
    for name in wanted:
        libraries[name].use(*(("",) if name == JIEBA else (["a"], [[(0, 1.0)]], "a")))
    _say(READY)
    for line in sys.stdin.buffer:
        asked = json.loads(line)
        if asked["ask"] == "words":
            _say(libraries[JIEBA].use(asked["text"]))
        elif asked["ask"] == "cosines":
            _say(libraries[SCIKIT].use(asked["texts"], asked["documents"], asked["question"]))
        else:
            _say({"reply": [name for name, library in libraries.items() if library.is_loaded]})


def _say(value: Any) -> None:
    sys.stdout.write(json.dumps(value) + "\n")
    sys.stdout.flush()


# ---- closeness -----------------------------------------------------------------------------------------------


def load_cosines() -> Callable[[list[str], list[Any], str], list[float]]:
    """The function `cosines`, its library at hand."""
    # More threads than one only cost memory with vectors as short as these.
    os.environ |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    from scipy.sparse import csr_matrix
    from sklearn import set_config
    from sklearn.feature_extraction.text import TfidfTransformer

    # What is compared comes from our own counting; to look it over takes half of the time.
    set_config(assume_finite=True, skip_parameter_validation=True)
    return partial(cosines, csr_matrix, TfidfTransformer)


def cosines(
    matrix: Any, transformer: Any, texts: Sequence[str], documents: Sequence[Sequence[Sequence[Any]]], question: str
) -> list[float]:
    """The TF-IDF cosine of each document with the question, 0 to 1. Tokens stand between blanks.

    A document is a weighted sum of some of the texts, as pairs of a text's number and its weight. How rare a token is
    is counted among these documents.
    """
    if not documents:
        return []
    numbers: dict[str, int] = {}
    tokens = [[numbers.setdefault(token, len(numbers)) for token in text.split()] for text in (*texts, question)]
    weights: list[float] = []
    columns: list[int] = []
    ends = [0]
    for document in (*documents, [(len(texts), 1.0)]):
        for text, weight in document:
            columns += tokens[text]
            weights += [weight] * len(tokens[text])
        ends.append(len(columns))
    counts = matrix((weights, columns, ends), shape=(len(ends) - 1, max(len(numbers), 1)))
    counts.sum_duplicates()
    vectors = transformer().fit_transform(counts.log1p())
    found: list[float] = (vectors @ vectors[-1].toarray().ravel()).tolist()
    return found[:-1]


# ---- words ---------------------------------------------------------------------------------------------------


class Cutter:
    """Cuts texts into words, with those of one's own dictionary as it stands at that moment."""

    def __init__(self, cache: Path, custom_dict: str) -> None:
        # jieba would load it only to find its own dictionary, for 12 MB; without it, it opens the file.
        sys.modules.setdefault("pkg_resources", None)  # type: ignore[arg-type]  # None is how Python is told so
        import jieba

        jieba.setLogLevel(logging.CRITICAL)
        self._jieba = jieba
        self._words = packed(cache, Path(jieba.__file__).with_name(jieba.DEFAULT_DICT_NAME))
        self._custom_dict = custom_dict
        self._stamp: tuple[int, int, int] | None = None
        self._tokenizer: Any = None

    def words(self, text: str) -> list[str]:
        """The words of a text, blanks and signs among them."""
        if (now := _stamp(self._custom_dict)) != self._stamp:
            self._stamp, self._tokenizer = now, self._new_tokenizer()
        return list(self._tokenizer.cut(text))

    def _new_tokenizer(self) -> Any:
        # Words cannot be taken out of a tokenizer again, so a changed dictionary means a new one.
        tokenizer = self._jieba.Tokenizer()
        tokenizer.FREQ, tokenizer.initialized = Frequencies(self._words), True
        tokenizer.total = self._words[_TOTAL][0][0]
        for line in _lines(self._custom_dict):
            word, *rest = line.split()
            tokenizer.add_word(word, int(rest[0]) if rest and _COUNTED.fullmatch(rest[0]) else None)
        return tokenizer


class Frequencies:
    """How often each word is met: what jieba asks of a dict, from a trie that takes 2 MB where the dict takes 70."""

    def __init__(self, words: Any) -> None:
        self._words = words
        self._own: dict[str, int] = {}

    def get(self, word: str, default: int | None = None) -> int | None:
        """The count of a word or of a word's beginning (0), else `default`."""
        if word in self._own:
            return self._own[word]
        found = self._words.get(word) if "\0" not in word else None  # at which the trie's key would end
        return found[0][0] if found else default

    def __contains__(self, word: str) -> bool:
        return self.get(word) is not None

    def __getitem__(self, word: str) -> int | None:
        return self.get(word)

    def __setitem__(self, word: str, count: int) -> None:
        self._own[word] = count


def packed(cache: Path, dictionary: Path) -> Any:
    """The words of `dictionary` and their beginnings with their counts: a `RecordTrie`, kept in a file of `cache`.

    Raises OSError where it cannot be made.
    """
    import marisa_trie

    found = dictionary.stat()
    file = cache / f"words-{found.st_size}-{found.st_mtime_ns}.marisa"
    try:
        return marisa_trie.RecordTrie(_COUNT).load(str(file))
    except (OSError, RuntimeError, ValueError):
        # A process of its own: it takes 60 MB, of which Python would not give all back.
        packing = [sys.executable, "-I", __file__, _PACK, str(file), str(dictionary)]
        made = subprocess.run(packing, check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if made.returncode:
            why = made.stderr.strip().splitlines() or [f"it ended with {made.returncode}"]
            raise OSError(f"its dictionary cannot be kept in {cache}: {why[-1]}") from None
        return marisa_trie.RecordTrie(_COUNT).load(str(file))


def pack(file: str, dictionary: str) -> None:
    """Write the file that `packed` reads."""
    import marisa_trie

    temporary = Path(f"{file}.{os.getpid()}")
    try:
        marisa_trie.RecordTrie(_COUNT, _counted(dictionary)).save(str(temporary))
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(file)
    finally:
        temporary.unlink(missing_ok=True)


def _counted(dictionary: str) -> Iterator[tuple[str, tuple[int]]]:
    """Each word with its count and each beginning that is no word with 0, as jieba has them in a dict of 60 MB more."""
    total, before = 0, ""
    for line in sorted(Path(dictionary).read_text("utf-8").splitlines()):
        word, count, *_ = line.split(" ")
        # In this order what a word shares with the one before was said with that one, shorter words too.
        for beginning in (word[:end] for end in range(1, len(word))):
            if not before.startswith(beginning):
                yield beginning, (0,)
        yield word, (int(count),)
        total, before = total + int(count), word
    yield _TOTAL, (total,)


def _lines(path: str) -> Iterable[str]:
    try:
        if not Path(path).is_file():  # opening a pipe never returns
            return []
        text = Path(path).read_text("utf-8-sig", "replace")
    except OSError:
        return []
    return [line for line in text.splitlines() if line.strip() and not line.startswith("#")]


def _stamp(path: str) -> tuple[int, int, int]:
    try:
        found = Path(path).stat()
    except OSError:
        return 0, 0, 0
    return found.st_mtime_ns, found.st_size, found.st_ino


if __name__ == "__main__":
    (pack if sys.argv[1] == _PACK else main)(*sys.argv[2 if sys.argv[1] == _PACK else 1 :])
