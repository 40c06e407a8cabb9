"""From a block's Markdown to its words: the text rule of docs/data.md, 1, and what the markup hid beside them."""

import re
import unicodedata
from collections.abc import Callable

import msgspec
from markdown_it import MarkdownIt
from markdown_it.token import Token

from .dates import leading_time
from .marks import split_mark
from .mask import MASK

MARKDOWN = MarkdownIt("commonmark", {"maxNesting": 60}).enable(["table", "strikethrough"]).disable(["code", "lheading"])
"""CommonMark with tables. Indented code is off: in notes an indented line is a nested thought; so are
underlined headings, which would swallow the sentence above a `---` rule (`blocks` brings back `===`)."""
MARKDOWN.validateLink = lambda url: True  # type: ignore[method-assign]  # noqa: ARG005 - a library's signature
MARKDOWN.normalizeLink = lambda url: url  # type: ignore[method-assign]

LONG = 20_000
"""A block with more characters is taken as plain text: its markup is not worth the parser's time."""

_MARKED = re.compile(r"[\\`]|(?<!\s)\*|\*(?!\s)|(?<!\w)_|_(?!\w)|<[A-Za-z/!?]|~~|&[#\w]+;")
_SIMPLE_BOLD = re.compile(r"(?<!\S)\*\*([^\W_](?:[^*\\`<\[\]\n]*[^\W_])?[:：]?)\*\*(?=[\s:：,，.。]|\Z)")
_TAG = re.compile(r"(?<![\w/&#:])#(?P<tag>[^\s#.,;:!?()\[\]{}\"'`<>|\\，。；：！？、（）【】《》“”\ufdd0-\ufdef]+)")
_COLOUR = re.compile(r"(?=.*\d)[0-9a-fA-F]{3,8}\Z")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|\n]+)(?:\|([^\[\]\n]+))?\]\]")
_BLOCK_REF = re.compile(r"\(\([0-9a-f-]{8,40}\)\)|(?<=\s)\^[0-9a-zA-Z-]{4,}\s*\Z")
_CALLOUT = re.compile(r"\A\[!(\w+)\][+-]?\s*")
_IMPORTANCE = re.compile(
    r"[(（]\s*(?:importance|重要性|重要度)\s*[:：=]\s*(0(?:\.\d+)?|1(?:\.0+)?|\.\d+)\s*[)）]", re.IGNORECASE
)
_HIGHLIGHT = re.compile(r"==(\S(?:[^=\n]*\S)?)==")
_PROPERTY = re.compile(r"(?<=\w)::(?=\s)")
_ALNUM = re.compile(r"[^\W_]")
_INVISIBLE = re.compile("[\u200b\ufeff\u2060]")
_HTML_TAG = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|br|center|cite|code|dd|del|details|dfn|div|dl|dt|em|figure|figcaption|font"
    r"|h[1-6]|hr|i|img"
    r"|input|ins|kbd|label|li|mark|ol|p|pre|q|s|samp|section|small|span|strike|strong|sub|summary|sup|table"
    r"|tbody|td|tfoot|th"
    r"|thead|time|tr|tt|u|ul|var|wbr|iframe|video|audio|source|svg|path|button|form|article|aside|header|footer"
    r"|main|nav)\b[^<>]*>"
    r"|<[!?][^<>]*>",
    re.IGNORECASE,
)
_COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)


class Words(msgspec.Struct):
    """A block's words and what stood around them.

    `task_state` is 'open', 'done' or ''; `clock` is `HH:MM` or ''; `importance` is None unless written.
    `code` are its code spans, `links` the targets of its links and images.
    """

    text: str
    clock: str = ""
    task_state: str = ""
    importance: float | None = None
    tags: list[str] = []
    links: list[str] = []
    code: list[str] = []
    wikilinks: list[str] = []
    spoken: str = ""
    """The words before tags were taken out: where URLs and paths are looked for."""


def fact_text(raw: str, references: dict[str, object] | None = None) -> str:
    """The fact's text of one block's inline Markdown."""
    return read_words(raw, references).text


def read_words(raw: str, references: dict[str, object] | None = None, *, plain: bool = False) -> Words:
    """Apply the text rule to one block; `references` are the note's link definitions, `plain` = no Markdown inside."""
    state, body = ("", raw) if plain else split_mark(raw)
    words = Words("", task_state=state, tags=[], links=[], code=[], wikilinks=[])
    shown = _clean(_shown(body, references or {}, words) if not plain else _guarded(body))
    if shown.startswith("[!"):
        shown = _CALLOUT.sub("", shown)
    words.spoken = _restore(shown, words)
    rest = _take_importance(shown, words)
    if (time := leading_time(rest)) is not None:
        words.clock, rest = time.clock, time.rest
    rest = _take_wikilinks(rest, words)
    bare = _TAG.sub(lambda match: _take_tag(match, words), rest) if "#" in rest else rest
    words.text = fold(_restore(bare, words))
    if not has_words(words.text) and has_words(shown):
        words.text = fold(_restore(rest, words)).lstrip("#")  # a line of tags only still says something
    return words


def fold(text: str) -> str:
    """NFC, white space folded, invisible characters out."""
    if not text.isascii():
        text = unicodedata.normalize("NFC", _INVISIBLE.sub("", text))
    return " ".join(text.split())


def has_words(text: str) -> bool:
    """Whether `text` has a letter, a digit or an ideograph."""
    return _ALNUM.search(text) is not None


def strip_html(text: str) -> str:
    """`text` without HTML tags and comments; what only looks like a tag (`<name>`) stays."""
    return _HTML_TAG.sub(" ", without_comments(text, lambda match: " ")) if "<" in text else text  # noqa: ARG005


def without_comments(text: str, instead: Callable[[re.Match[str]], str]) -> str:
    """`text` with its closed comments replaced; where no end follows none is looked for, or time grows as a square."""
    end = text.rfind("-->") + 3
    return _COMMENT.sub(instead, text[:end]) + text[end:] if end > 2 and "<!--" in text else text


def _guarded(text: str) -> str:
    """Noncharacters are our own place holders; the note's are replaced, masks become one that no parser reads."""
    if not text.isascii():
        text = re.sub("[\ufdd0-\ufdd5]", "\ufffd", text)
    if "[masked:" in text:
        text = MASK.sub(lambda match: f"\ufdd0{match[0][1:-1]}\ufdd1", text)
    if "[forgotten]" in text:
        text = text.replace("[forgotten]", "\ufdd0forgotten\ufdd1")
    return text


def _shown(raw: str, references: dict[str, object], words: Words) -> str:
    text = _guarded(raw)
    if (simple := _simple(text, words, linked=bool(references))) is not None:
        return simple
    if len(text) > LONG:
        return strip_html(text)
    text = _WIKILINK.sub(lambda match: "\ufdd2" + match[0].lstrip("!")[2:-2] + "\ufdd3", text) if "[[" in text else text
    tokens: list[Token] = []
    MARKDOWN.inline.parse(text, MARKDOWN, {"references": references}, tokens)
    return "".join([_token_text(token, words) for token in tokens])


def _simple(text: str, words: Words, *, linked: bool) -> str | None:
    """The words of text that needs no parser: plain, `**Key**: value`, code spans. Most blocks are; None for others."""
    if "[" in text and (linked or "](" in text or "[[" in text):
        return None
    bare = _SIMPLE_BOLD.sub(r"\1", text) if "**" in text else text
    marked = _MARKED.search(bare)
    if marked is None:
        return bare
    parts = bare.split("`")
    if len(parts) % 2 == 0 or "``" in bare or any(_MARKED.search(part) for part in parts[::2]):
        return None
    if "**" in text and any("*" in part for part in parts[1::2]):
        return None
    for at in range(1, len(parts), 2):
        code = parts[at].replace("\n", " ")
        if code.startswith(" ") and code.endswith(" ") and code.strip():
            code = code[1:-1]
        words.code.append(_restore(code, words))
        parts[at] = f"\ufdd4{len(words.code) - 1}\ufdd5"
    return "".join(parts)


def _token_text(token: Token, words: Words) -> str:
    kind = token.type
    if kind == "code_inline":
        words.code.append(_restore(token.content, words))
        return f"\ufdd4{len(words.code) - 1}\ufdd5"
    if kind in ("softbreak", "hardbreak"):
        return "\n"
    if kind == "link_open":
        words.links.append(_restore(str(token.attrGet("href") or ""), words))
        return ""
    if kind == "image":
        words.links.append(_restore(str(token.attrGet("src") or ""), words))
        return token.content
    if kind == "html_inline":
        return strip_html(token.content)
    return token.content


def _clean(text: str) -> str:
    if "((" in text or "^" in text:
        text = _BLOCK_REF.sub("", text)
    if "==" in text:
        text = _HIGHLIGHT.sub(r"\1", text)
    if "::" in text:
        text = _PROPERTY.sub(":", text)
    return text.strip()


def _take_importance(text: str, words: Words) -> str:
    if "(" not in text and "（" not in text:
        return text
    match = _IMPORTANCE.search(text)
    if match is None:
        return text
    words.importance = float(match[1])
    return text[: match.start()] + text[match.end() :]


def _take_wikilinks(text: str, words: Words) -> str:
    def shown(match: re.Match[str]) -> str:
        page, _, alias = match[1].partition("|")
        words.wikilinks.append(_restore(page, words).strip())
        return alias or page

    return re.sub("\ufdd2([^\ufdd2\ufdd3]*)\ufdd3", shown, text) if "\ufdd2" in text else text


def _take_tag(match: re.Match[str], words: Words) -> str:
    tag = match["tag"].strip("-_/")
    if not any(char.isalpha() for char in tag) or _COLOUR.match(tag):
        return match[0]
    words.tags.append(unicodedata.normalize("NFC", tag))
    return ""


def _restore(text: str, words: Words) -> str:
    if "\ufdd4" in text:
        text = re.sub("\ufdd4(\\d+)\ufdd5", lambda match: words.code[int(match[1])], text)
    if "\ufdd0" in text:
        text = text.replace("\ufdd0", "[").replace("\ufdd1", "]")
    return text.replace("\ufdd2", "").replace("\ufdd3", "") if "\ufdd2" in text else text
