"""Makes notes in every shape that real notes have, in the shares that were measured.

`made_notes(count)` is the same for the same arguments. All words are invented.
"""

import random
import unicodedata
from collections.abc import Callable, Iterator
from typing import NamedTuple

_KINDS = {"agent en": 344, "agent zh": 276, "agent ja": 25, "journal zh": 173, "outliner zh": 246, "outliner en": 724}
_SHARES: dict[str, tuple[float, ...]] = {  # agent en, agent zh, agent ja, journal zh, outliner zh, outliner en
    "same heading": (24, 12, 4, 0, 0, 0),
    "bullet": (96, 97, 96, 100, 96, 100),
    "key bullet": (71, 64, 80, 0, 0, 0),
    "bold line": (38, 55, 12, 0, 0, 0),
    "label bullet": (24, 24, 44, 0, 0, 4),
    "numbered": (56, 70, 32, 0, 0, 0),
    "checkbox": (9, 20, 4, 100, 0, 0),
    "prose": (85, 94, 52, 92, 69, 9),
    "fence": (24, 47, 8, 0, 11, 0),
    "inline code": (76, 54, 64, 0, 5, 2),
    "table": (22, 49, 4, 0, 0, 0),
    "url": (26, 34, 24, 0, 37, 97),
    "path": (38, 25, 12, 0, 7, 26),
    "quote": (6, 28, 0, 0, 0, 1),
    "rule": (25, 87, 40, 0, 0, 0),
    "tag": (22, 1, 36, 0, 22, 98),
    "wikilink": (1, 0, 0, 1, 48, 77),
    "emoji": (64, 87, 52, 0, 0, 1),
    "html": (17, 8, 4, 0, 0, 0),
    "talk": (28, 3, 0, 0, 0, 0),
    "marks": (0, 0, 0, 0, 30, 20),
    "timed heading": (58, 28, 16, 0, 0, 0),
    "timed bullet": (6, 3, 28, 0, 0, 0),
    "short item": (2, 30, 10, 30, 5, 0),
    "callout": (1, 1, 0, 0, 0, 0),
    "front matter": (3, 3, 0, 0, 0, 5),
    "property": (0, 0, 0, 0, 10, 20),
    "empty bullet": (1, 1, 0, 5, 10, 10),
    "link definition": (1, 1, 0, 0, 0, 0),
    "comment": (1, 0, 0, 0, 0, 0),
    "secret": (3, 3, 0, 0, 1, 1),
    "nested": (15, 15, 10, 0, 60, 55),
    "open fence": (0.2, 0.2, 0, 0, 0, 0),
    "setext": (1, 1, 0, 0, 0, 0),
    "continuation": (8, 4, 2, 0, 2, 2),
    "repeat": (40, 20, 10, 0, 0, 0),
    "unfilled": (2, 3, 2, 5, 2, 1),
    "long line": (2, 1, 0, 0, 1, 1),
}
_ENDLESS = {"agent en": 2, "agent zh": 1, "agent ja": 0, "journal zh": 88, "outliner zh": 100, "outliner en": 100}
"""Of a hundred files so many have no newline at the end."""  # fmt: skip
_WORDS = {
    "en": "pump garden server backup invoice chapter recipe ticket window sensor parser branch meeting river boat",
    "zh": "水泵 花园 服务器 备份 发票 章节 菜谱 车票 窗户 传感器 解析器 分支 会议 河边 小船",
    "ja": "ポンプ 庭 サーバー 予備 請求書 章 料理 切符 窓 解析 会議 川 船",
}
_VERBS = {
    "en": "moved fixed ordered checked drew",
    "zh": "移动了 修好了 订购了 检查了 画了",
    "ja": "直した 見た 注文した",
}
_PARTS = ("凌晨", "早上", "上午", "中午", "下午", "傍晚", "晚上", "深夜")


class MadeNote(NamedTuple):
    """One note: its path, bytes, and the kind of writer it is like."""

    path: str
    data: bytes
    kind: str
    shapes: frozenset[str] = frozenset()
    """Which of the measured shapes it has; a page, a copy and an empty file are drawn apart."""


class _Writer:
    def __init__(self, drawn: random.Random, kind: str) -> None:
        self.drawn = drawn
        self.kind = kind
        self.tongue = kind.split()[1]

    def word(self) -> str:
        return self.drawn.choice(_WORDS[self.tongue].split())

    def sentence(self) -> str:
        number = self.drawn.randrange(10_000)
        words = [self.word(), self.drawn.choice(_VERBS[self.tongue].split()), self.word(), str(number)]
        return (" " if self.tongue == "en" else "").join(words)

    def clock(self) -> str:
        return f"{self.drawn.randrange(24):02}:{self.drawn.randrange(60):02}"


def _indent(writer: _Writer) -> str:
    return "\t" if writer.kind.startswith("outliner") else "  "


def _nested(writer: _Writer) -> str:
    step = _indent(writer)
    return "".join(f"{step * depth}- {writer.sentence()}\n" for depth in range(writer.drawn.randint(2, 5)))


def _table(writer: _Writer) -> str:
    rows = "".join(f"| {writer.word()} | {writer.sentence()} |\n" for _ in range(writer.drawn.randint(1, 8)))
    return f"\n| {writer.word()} | {writer.word()} |\n|---|---|\n{rows}\n"


def _fence(writer: _Writer) -> str:
    info, body = writer.drawn.choice((
        ("", f"result {writer.drawn.random()}"), ("json", '{"a": 1}'), ("bash", "git clone https://a.example/x.git"),
        ("python", "print('x')"), ("markdown", "# no heading\n- no fact"),
    ))  # fmt: skip
    return f"- {writer.sentence()}\n\n```{info}\n{body}\n```\n\n"


def _talk(writer: _Writer) -> str:
    if writer.drawn.random() < 0.05:  # a session without a word
        return "# Session: 2026-05-07 11:02:45 UTC\n\n- **Session Key**: agent:main\n"
    json = writer.drawn.choices(('{"message_id": "1", "sender": "x"}', '{"message_id": "1", sender}'), (95, 5))[0]
    sender = 'Sender (untrusted metadata):\n```json\n{"label": "x", "id": "2"}\n```\n'
    meta = (
        f"user: Conversation info (untrusted metadata):\n```json\n{json}\n```\n"
        f"{writer.drawn.choice(('', sender))}\n{writer.sentence()}\n"
    )
    return (
        f"# Session: 2026-05-07 11:02:45 UTC\n\n- **Session Key**: agent:main\n- **Session ID**: 1-2\n\n"
        f"## Conversation Summary\n\nassistant: {writer.sentence()}\n- {writer.sentence()}\n{meta}"
        f"assistant: NO_REPLY\nuser: [Chat id:1 +10m 2026-05-07 08:31 UTC] mira: {writer.sentence()}\n[message_id: 9]\n"
    )


def _timed_heading(writer: _Writer) -> str:
    forms = (
        f"## {writer.clock()} UTC — Round\n", f"## {writer.drawn.choice(_PARTS)} {writer.clock()} - {writer.word()}\n",
        f"### {writer.clock()}\n", "## 8:15 PM\n", f"## {writer.clock()}-23:59 {writer.word()}\n",
        f"## 2026-05-07 14:45 ET {writer.word()}\n", f"### 5 点 {writer.word()}\n", "## ~19:40\n", "## 7 AM\n",
    )  # fmt: skip
    return "\n" + writer.drawn.choice(forms) + f"\n- {writer.sentence()}\n"


_BLOCKS: dict[str, Callable[[_Writer], str]] = {
    "same heading": lambda w: f"\n## Status\n\n- {w.sentence()}\n\n## Status\n\n- {w.sentence()}\n",
    "bullet": lambda w: "".join(f"- {w.sentence()}\n" for _ in range(w.drawn.randint(2, 9))),
    "key bullet": lambda w: f"- **{w.word()}**: {w.sentence()}\n- **{w.word()}：** {w.sentence()}\n",
    "bold line": lambda w: f"\n**{w.word()} {w.word()}**\n\n- {w.sentence()}\n",
    "label bullet": lambda w: f"- {w.word()}:\n{_indent(w)}- {w.sentence()}\n{_indent(w)}- {w.sentence()}\n",
    "numbered": lambda w: f"\n1. {w.sentence()}\n2. {w.sentence()}\n",
    "checkbox": lambda w: f"- [x] {w.sentence()}\n- [ ] {w.word()}\n- [x] 浇花\n",
    "prose": lambda w: f"\n{w.sentence()}. {w.sentence()}\n- {w.sentence()}\n",
    "fence": _fence, "table": _table, "nested": _nested, "talk": _talk, "timed heading": _timed_heading,
    "inline code": lambda w: f"- {w.sentence()} `make {w.drawn.randrange(99)}` and `x = 1`\n",
    "url": lambda w: f"- {w.word()} https://a.example/{w.drawn.randrange(999)}_(b)\n  https://b.example\n",
    "path": lambda w: f"- {w.sentence()} ~/notes/{w.drawn.randrange(99)}.md and C:\\x\\y.txt\n",
    "quote": lambda w: f"\n> {w.sentence()}\n> {w.sentence()}\n\n",
    "rule": lambda w: "\n---\n\n", "tag": lambda w: f"- {w.sentence()} #{w.word()} #a/b\n",
    "wikilink": lambda w: f"- [[{w.word()}]] {w.sentence()} [[a|b]]\n",
    "emoji": lambda w: f"- ✅ {w.sentence()}\n\n## 🎯 {w.word()} (3)\n\n",
    "html": lambda w: f"\n<details><summary>{w.word()}</summary>\n\n{w.sentence()}\n\n</details>\n\n<br>\n\n",
    "marks": lambda w: f"- TODO {w.sentence()}\n- DONE {w.word()}\n- LATER {w.sentence()}\n",
    "timed bullet": lambda w: f"- {w.clock()} {w.sentence()}\n- ~{w.clock()} {w.word()}\n",
    "short item": lambda w: "- 茶\n- [x] 浇花\n- 吃\n",
    "callout": lambda w: f"\n> [!warning] {w.word()}\n> {w.sentence()}\n\n",
    "property": lambda w: f"- {w.sentence()}\n  id:: 6543-21\n  key:: {w.word()}\n- ((6543abcd-21)) {{{{query x}}}}\n",
    "empty bullet": lambda w: "-\n- \n",
    "link definition": lambda w: f"\n[r]: https://c.example\n\nsee [x][r] {w.word()}\n",
    "comment": lambda w: f"\n<!-- {w.sentence()} -->\n\n",
    "setext": lambda w: f"\n{w.word()}\n=====\n\n{w.sentence()}\n---\n",
    "secret": lambda w: f"- password: hunter{w.drawn.randrange(10, 99)}x\n- 密码：kd83jf{w.drawn.randrange(10, 99)}\n",
    "continuation": lambda w: f"- {w.sentence()}\n  {w.sentence()}\n",
    "repeat": lambda w: f"- {w.word()} {w.word()}\n" * 2,
    "unfilled": lambda w: f"- [ ] \n- **{w.word()}**:\n-\n",
    "long line": lambda w: f"- {' '.join(w.sentence() for _ in range(60))}\n",
}  # fmt: skip


def made_notes(count: int, seed: int = 7) -> Iterator[MadeNote]:
    """`count` notes, each like one of the six kinds of writers, with names, sizes and encodings as measured.

    Three of a hundred are byte copies of the one before, one of a hundred is a MEMORY.md of an agent.
    """
    drawn = random.Random(seed)
    before = b""
    for number in range(count):
        kind = drawn.choices(list(_KINDS), list(_KINDS.values()))[0]
        writer, path = _Writer(drawn, kind), _path(drawn, number, kind)
        shapes: frozenset[str] = frozenset()
        if kind.startswith("agent") and drawn.random() < 0.03:
            path, text = f"MEMORY-a{number}.md", _page(writer)
        else:
            text, shapes = _text(writer, number)
        data = _encoded(drawn, text, kind)
        if before and drawn.random() < 0.03:
            data, shapes = before, frozenset()
        yield MadeNote(path, data, kind, shapes)
        before = data


def _page(writer: _Writer) -> str:
    """A MEMORY.md: sections by topic, a budget of its own in a quote, a table now and then."""
    sections = "".join(
        f"\n## {writer.word()}\n\n- {writer.sentence()}\n- **{writer.word()}**: {writer.sentence()}\n"
        for _ in range(writer.drawn.randint(1, 8))
    )
    table = _table(writer) if writer.drawn.random() < 0.28 else ""
    return f"# MEMORY.md\n\n> at most 100 lines\n{sections}{table}- [x](notes/{writer.drawn.randrange(99)}.md)\n"


_FRONT = (
    "---\ntags: [a, b]\ndate: 2026-02-13\n---\n",
    "---\ncreated: 2026-02-13T10:00:00Z\nstatus: open\n---\n",
    "---\nname: pump\ndescription: 'a: b'\npriority: 2\ntopic: garden\n---\n",
    "---\nplugin:\n  folders:\n    - a\n    - b\nupdated: 2026-02-30\n---\n",
    "---\ntitle: [broken\n---\n",
)


def _text(writer: _Writer, number: int) -> tuple[str, frozenset[str]]:
    drawn, column = writer.drawn, list(_KINDS).index(writer.kind)
    wanted = [name for name, shares in _SHARES.items() if drawn.random() * 100 < shares[column]]
    if drawn.random() < 0.003:
        return "\n" * drawn.choice((0, 0, 500)), frozenset()
    day = f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}"
    head = drawn.choice(_FRONT) if "front matter" in wanted else ""
    titles = (f"# {day}\n\n", f"# {writer.word()}\n\n", "", "# 2025-01-02\n\n", "---\n\n")
    title = drawn.choices(titles, (417, 43, 16, 2, 2))[0]
    title = "" if writer.kind.startswith("outliner") or "talk" in wanted else title
    tail = f"\n```\n{writer.sentence()}\n" if "open fence" in wanted else ""
    blocks = [name for name in wanted if name in _BLOCKS]
    drawn.shuffle(blocks)
    blocks.sort(key=lambda name: name != "talk")
    rounds = drawn.choices((1, 2, 5, 20), (70, 20, 8, 2))[0] if writer.kind.startswith("agent") else 1
    body = "".join(_BLOCKS[name](writer) for _ in range(rounds) for name in blocks)
    return head + title + body + tail, frozenset(wanted)


def _path(drawn: random.Random, number: int, kind: str) -> str:
    day = f"2026-{1 + number // 28 % 12:02}-{1 + number % 28:02}"
    forms = (f"{day}", f"{day}-connection-refused-by-the-prox", f"{day}-0219", f"{day}-学习 记录", f"{day}-{number}")
    forms += (f"{day}-09-30", f"{day}-05", f"{day}_topic-news", f"slug-{day}", f"{day[:7]}_weekly")
    name = drawn.choices(forms, (247, 211, 20, 5, 60, 2, 2, 2, 46, 2))[0]
    return f"memory/{name}.md" if not kind.startswith("outliner") else f"memory/{day.replace('-', '_')}.md"


def _encoded(drawn: random.Random, text: str, kind: str) -> bytes:
    """No last line end, as often as measured; the rare encodings: CRLF, a mark, odd blanks, NUL, NFD, UTF-16."""
    if drawn.random() * 100 < _ENDLESS[kind]:
        text = text.rstrip("\n")
    odd = drawn.random()
    if odd < 0.016:
        return text.replace("\n", "\r\n").encode()
    if odd < 0.018:
        return b"\xef\xbb\xbf" + text.encode()
    if odd < 0.022:
        return text.replace(" ", "\u00a0", 3).replace("a", "a\u200b", 1).encode()
    if odd < 0.024:
        return text.encode() + b"- bad \xff\xfe bytes \0 here\n"
    if odd < 0.026:
        return text.replace("\n", "\r\n", 3).encode()
    if odd < 0.027:
        return unicodedata.normalize("NFD", text).encode()
    return text.encode("utf-16") if odd < 0.028 else text.encode()
