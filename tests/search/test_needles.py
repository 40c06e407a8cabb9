"""More than two hundred things a person looks for again, each hidden among thousands of others."""

import random
import re
from collections.abc import Iterator
from datetime import date
from typing import Any, NamedTuple

from memoryd.search import find

TODAY = 20_500  # 2026-02-16
KINDS = 14
EACH = 16
TOP = 5
SHARE = 0.97

_SYLLABLES = re.findall("..|qui", "bacedifoguhajekilomunapequirosutavewixozu")
_VERBS = ["moved", "checked", "ordered", "cleaned", "replaced", "sketched", "measured", "borrowed"]
_THINGS = ["pump", "shelf", "ticket", "lamp", "recipe", "budget", "curtain", "ladder", "kettle", "sensor"]
_HAN_NAMES = "安博川达恩枫刚海嘉凯岚梅宁鹏琪瑞松涛薇轩雅泽"
_HAN_VERBS = ("检查了", "订购了", "打扫了", "更换了", "测量了", "借走了")
_HAN_THINGS = ("水泵", "书架", "车票", "台灯", "菜谱", "预算", "窗帘", "梯子", "水壶", "传感器")
_MONTHS = [date(2000, month, 1).strftime("%B") for month in range(1, 13)]


class Needle(NamedTuple):
    kind: str
    text: str
    query: str
    day: int = TODAY


def word(chance: random.Random, syllables: int = 4) -> str:
    return "".join(chance.choice(_SYLLABLES) for _ in range(syllables))


def typo(chance: random.Random, text: str) -> str:
    at = chance.randrange(1, len(text) - 1)
    return chance.choice(
        [
            text[:at] + text[at + 1 :],
            text[:at] + chance.choice("abcdefghijklmnopqrstuvwxyz".replace(text[at], "")) + text[at + 1 :],
            text[:at] + chance.choice("aeiourst") + text[at:],
            text[: at - 1] + text[at] + text[at - 1] + text[at + 1 :],
        ]
    )


def needles(chance: random.Random) -> Iterator[Needle]:
    """`EACH` needles of every kind."""
    for number in range(EACH):
        name, other = word(chance).title(), word(chance)
        thing, han_thing = chance.choice(_THINGS), chance.choice(_HAN_THINGS)
        han = "".join(chance.sample(_HAN_NAMES, 3))
        code = f"{word(chance, 2).upper()}-{chance.randint(1000, 9999)}"
        host = f"{other}.example"
        month, day = chance.randint(0, 11), chance.randint(1, 28)
        yield Needle("name", f"{name} has the key of the {thing}", f"who has the {thing} key, {name}?")
        yield Needle("code", f"The {thing} fails with {code} after a restart", code.lower())
        yield Needle("code part", f"Label {code}/rev{number} is on the {thing}", code.split("-")[1] + f" rev{number}")
        yield Needle("URL", f"Manual: https://{host}/guides/{name.lower()}?page=3", f"{host}/guides")
        yield Needle("URL part", f"See https://docs.example/{other}/{thing}.html", f"{other}/{thing}")
        yield Needle("path", f"Kept in ~/projects/{other}/{thing}.toml since then", f"{other}/{thing}.toml")
        yield Needle("command", f"Run `{other}ctl restart --force {thing}`", f"{other}ctl restart")
        yield Needle("camel case", f"Call get{name}{thing.title()} first", f"{name.lower()} {thing}")
        yield Needle("version", f"{name} v{number}.{day}.1 broke the {thing}", f"{name} {number}.{day}.1")
        yield Needle("typo", f"The {other} for the {thing} arrived", typo(chance, other))
        yield Needle("Chinese", f"{han}说{han_thing}要修", f"{han}说了什么")
        yield Needle("Chinese, two characters", f"把{han_thing}交给{han[:2]}先生", f"{han[:2]} {han_thing}")
        yield Needle(
            "day in words",
            f"The {other} is due on {_MONTHS[month]} {day}",
            f"{month + 1}月{day}日 {other[:-1]}{other[-1]}",
        )
        yield Needle(
            "day of the note",
            f"{name} called",
            f"{name}昨天打电话了吗" if number % 2 else f"{name} yesterday",
            TODAY - 1,
        )


def hay(chance: random.Random, count: int) -> Iterator[tuple[str, int]]:
    for number in range(count):
        day = TODAY - chance.randrange(700)
        if number % 5 == 0:
            name = "".join(chance.sample(_HAN_NAMES, 2))
            yield f"{name}{chance.choice(_HAN_VERBS)}{chance.choice(_HAN_THINGS)}{number}", day
        else:
            yield f"{word(chance, 3).title()} {chance.choice(_VERBS)} the {chance.choice(_THINGS)} {number}", day


def test_needles_are_in_the_top_five(memory: Any) -> None:
    """Of 224 names, codes, pieces of URLs and paths, commands, days, Chinese and misspelt words 97 % are found."""
    chance = random.Random(20)
    wanted = list(needles(chance))
    lines = [*hay(chance, 2000), *((needle.text, needle.day) for needle in wanted)]
    chance.shuffle(lines)
    memory.add_all(lines, notes=True)

    missed = [
        needle
        for needle in wanted
        if needle.text
        not in [
            memory.texts[hit.n] for hit in find(memory.store, needle.query, agents=["default"], limit=TOP, today=TODAY)
        ]
    ]

    assert len(wanted) == KINDS * EACH
    assert len(missed) <= (1 - SHARE) * len(wanted), missed
