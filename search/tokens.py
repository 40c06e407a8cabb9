"""One tokeniser for the index and for questions, so that what was indexed can be asked for.

Scripts that write words apart (Latin, Greek, Cyrillic, Arabic, the scripts of India …) give stems and
whole identifiers; scripts that do not (Chinese, Japanese, Korean, Thai …) give pairs of neighbouring
characters, Chinese also each character. No token holds a blank or upper case.
"""

import re
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

import msgspec
import Stemmer

from .forms import BASE_FORMS
from .simplified import simplified

MAX_TOKEN = 100
"""Characters; a longer run (base64, a data URL) is cut, a longer identifier is known by its parts only."""
MAX_TERMS = 64
"""How many different terms of one question are looked at; the rest of a pasted page is ignored."""

HAN = "\u3005\u3007\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U000323af"
_PAIRED = (
    HAN
    + "\u3041-\u3096\u30a1-\u30fa\u30fc-\u30ff\u31f0-\u31ff"  # Japanese
    + "\u1100-\u11ff\u3131-\u318e\uac00-\ud7a3"  # Korean
    + "\u0e01-\u0e3a\u0e40-\u0e4e\u0e81-\u0edf\u1000-\u1049\u1050-\u109f\u1780-\u17d3"  # Thai, Lao, Burmese, Khmer
)
# Python's \w leaves out combining vowels, without which the scripts of India fall to pieces.
_MARKS = "\u0300-\u036f\u0483-\u0487\u0591-\u05bd\u0610-\u061a\u064b-\u065f\u0670\u0900-\u0963\u0966-\u0dff"
_LETTER = rf"(?:[^\W_{_PAIRED}]|[{_MARKS}])"
_JOINT = r"[._\-/:@+#&=?%~\\'’]"
_RUNS = re.compile(rf"([{_PAIRED}]+)|({_LETTER}+(?:{_JOINT}{{1,3}}{_LETTER}+)*(?:\+\+|#(?!\w))?)")
# The same for ASCII alone, where it takes a third of the time.
_ASCII_RUNS = re.compile(r"[A-Za-z0-9]+(?:[._\-/:@+#&=?%~\\']{1,3}[A-Za-z0-9]+)*(?:\+\+|#(?!\w))?", re.ASCII)
_IS_HAN = re.compile(rf"[{HAN}]")
_UNSEEN = re.compile(r"[\u00ad\u200b-\u200f\u2060-\u2064\ufeff\ufe00-\ufe0f\ud800-\udfff]")

_APOSTROPHE_S = re.compile(r"['’]s\b", re.IGNORECASE)
_OUTER = re.compile(r"[/\\?&=#:@'’~%+]+")
_INNER = re.compile(r"[._\-]+")
_VERSION = re.compile(r"v\d[\w.\-]*", re.IGNORECASE)
_CASE_PARTS = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|[0-9]+")
_MAX_CASE_PARTS = 6  # a hash falls into dozens of letters and digits, a name does not
_ACCENTS = re.compile(r"[\u0300-\u036f]")

_stemmed = Stemmer.Stemmer("english").stemWord

_STOP = (
    "a about after again all also am an and any are as at be because been before being but by can could did do "
    "does doing done down during each ever few for from further had has have having he her here hers him his "
    "how i if in into is it its itself just me more most my myself no nor not now of off on once only or other "
    "our ours out over own please same she should so some such tell than that the their theirs them then there "
    "these they this those through to too under until up us very was we were what when where which while who "
    "whom whose why will with would you your yours don't doesn't didn't isn't aren't wasn't weren't won't "
    "can't couldn't wouldn't shouldn't hasn't haven't i'm i've i'd i'll you're they're what's that's he's "
    "she's it's who's where's how's let's "
)
STOP_WORDS = frozenset(_STOP.split())
"""English words without a subject of their own: dropped from a question, never from the index."""

_WORD = re.compile(
    rf"(?<![\w.\-/@:{_MARKS}])(?<!\w{_JOINT})(?<!\w{_JOINT}{{2}})(?<!\w{_JOINT}{{3}})"
    rf"[A-Za-z]+(?:['’][a-z]+)?(?![\w\-/@:{_MARKS}]|{_JOINT}{{1,3}}\w)"
)
_PLAIN = re.compile(r"[A-Za-z]+")
_STOP_PHRASES = re.compile(
    "什么时候|为什么|怎么样|什么|怎么|怎样|如何|哪个|哪些|哪里|哪儿|多少|是否|有没有|是不是|请问|告诉我|我们|你们|他们|吗|呢|吧|啊|的"
)
"""Chinese question words and particles: they count for little when they match."""


_PAIR = 0.6
"""What a pair of Chinese characters is worth beside each of the two, which count by themselves too."""
_ACROSS_WORDS = 0.7


class Term(msgspec.Struct, frozen=True):
    """One token that a question asks for. `weight` 0..1 says how much of the asked word it stands for."""

    text: str
    weight: float
    prefix: bool = False
    """Whether tokens that only begin with it match too: a single Japanese, Korean or Thai character."""
    word: str = ""
    """The word as it was asked, lower case, where it is plain English letters: it may be misspelt."""
    alone: bool = False
    """Whether it is one character and all that is asked: found in a fact's words and headings only."""


class QueryTokens(msgspec.Struct, frozen=True):
    """A question, ready to be looked up. `phrase` is its text, folded, for whole-phrase matches."""

    terms: list[Term]
    phrase: str


def index_tokens(text: str) -> list[str]:
    """The tokens of `text` in the order of the text, repeats kept."""
    if text.isascii():
        return [token for word in _ASCII_RUNS.findall(text) for token, _ in _words(word)]
    return [token for token, _ in _tokens(text)]


def query_tokens(text: str) -> QueryTokens:
    """The terms of a question, each once, at most `MAX_TERMS`. Never fails, whatever the text holds.

    English stop words are left out unless nothing else stands there.
    """
    clean = _clean(text)
    asked = list(_tokens(_WORD.sub(_without_stop_word, clean))) or list(_tokens(clean))
    weak = "".join(_STOP_PHRASES.findall(clean))
    words = {_stem(word): word for word in map(str.lower, _PLAIN.findall(clean))}
    terms: dict[str, Term] = {}
    for token, weight in asked:
        if token not in terms:
            share = 0.2 if weak and token in weak and len(weak) < len(clean) else 1.0
            terms[token] = Term(token, weight * share, _is_lone(token), words.get(token, ""))
        if len(terms) == MAX_TERMS:
            break
    if len(terms) == 1 and re.fullmatch(f"[{_PAIRED}]", token):
        terms[token] = msgspec.structs.replace(terms[token], weight=1.0, alone=True)
    return QueryTokens(list(terms.values()), folded(clean))


def with_words(asked: QueryTokens, words: Sequence[str]) -> QueryTokens:
    """The same question, cut into Chinese words: pairs across two words count for less."""
    inside = {pair for word in map(_clean, words) for pair in map("".join, pairwise(word))}
    terms = [
        msgspec.structs.replace(term, weight=term.weight * _ACROSS_WORDS)
        if len(term.text) == 2 and _IS_HAN.match(term.text) and term.text not in inside
        else term
        for term in asked.terms
    ]
    return QueryTokens(terms, asked.phrase)


def _without_stop_word(match: re.Match[str]) -> str:
    word = match.group()
    # Capitals mean a name: IT, US, WHO.
    is_name = len(word) > 1 and word.isupper()
    return word if is_name or word.replace("’", "'").lower() not in STOP_WORDS else " "


def stems(words: Iterable[str]) -> list[str]:
    """The token of each lower-case English word."""
    return [_stem(word) for word in words]


def folded(text: str) -> str:
    """`text` as two spellings of the same words are compared: NFKC, case folded, white space to one blank."""
    return " ".join(_clean(text).casefold().split())


def _clean(text: str) -> str:
    if text.isascii():
        return text
    return simplified(_UNSEEN.sub("", unicodedata.normalize("NFKC", _UNSEEN.sub("", text))))


def _is_lone(token: str) -> bool:
    return len(token) == 1 and bool(re.match(f"[{_PAIRED}]", token)) and not _IS_HAN.match(token)


def _tokens(text: str) -> Iterator[tuple[str, float]]:
    for paired, word in _RUNS.findall(_clean(text)):
        yield from _paired(paired) if paired else _words(word)


def _paired(run: str) -> Iterator[tuple[str, float]]:
    """Each Chinese character, each pair, and the last character of any run, so that one character can be asked for."""
    for here, after in pairwise(run):
        if _IS_HAN.match(here):
            yield here, 1.0
            yield here + after, _PAIR
        else:
            yield here + after, 1.0
    yield run[-1], 1.0 if len(run) == 1 or _IS_HAN.match(run[-1]) else 0.3


@lru_cache(maxsize=8192)
def _words(run: str) -> tuple[tuple[str, float], ...]:
    """A word's stem, or an identifier whole and in parts; from `memoryd.service`: that, `memoryd` and `servic`."""
    run = _APOSTROPHE_S.sub("", run)
    pieces = [piece for piece in _OUTER.split(run) if piece]
    if "'" in run or "’" in run:
        pieces = [piece for piece in pieces if len(piece) > 2] or pieces
    if len(pieces) == 1 and run.isascii() and run.isalpha() and (run.islower() or run.istitle()):
        return ((_stem(run.lower()[:MAX_TOKEN]), 1.0),)
    found: dict[str, float] = {}
    if run != pieces[0]:
        _keep(found, run.replace("’", "'"), 1.0)
    share = 1.0 if len(pieces) == 1 else 0.7
    for piece in pieces:
        _add_piece(found, piece, share)
    return tuple(found.items())


def _add_piece(found: dict[str, float], piece: str, share: float) -> None:
    parts = [part for part in _INNER.split(piece) if part]
    if len(parts) > 1:
        _keep(found, piece, share)
    if _VERSION.fullmatch(piece):
        _keep(found, piece[1:], share)
    for part in parts:
        part_share = share if len(parts) == 1 else share * 0.7
        _add_word(found, part, part_share)
        split = _CASE_PARTS.findall(part) if part.isascii() else []
        if 1 < len(split) <= _MAX_CASE_PARTS:
            for each in split:
                if len(each) > 1:
                    _add_word(found, each, part_share * 0.7)


def _add_word(found: dict[str, float], word: str, share: float) -> None:
    """The stem of a word; one with accents also without them."""
    for start in range(0, len(word), MAX_TOKEN):
        cut = word[start : start + MAX_TOKEN].casefold()
        plain = unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFD", cut)))
        for form in {cut: None, plain: None}:
            if form:
                found.setdefault(_stem(form) if form.isascii() and form.isalpha() else form, share)


def _stem(word: str) -> str:
    return str(_stemmed(BASE_FORMS.get(word, word)))


def _keep(found: dict[str, float], whole: str, share: float) -> None:
    if len(whole) <= MAX_TOKEN:
        found.setdefault(whole.casefold(), share)
