"""Makes believable day notes of any number, English and Chinese, always the same for the same seed.

    python benchmarks/notes.py FOLDER --notes 1000 [--chinese 0.15] [--seed 7]

Words come from our own short lists and from made-up names, drawn so that few are common and most are
rare (Zipf). Each 200th note hides a needle: a sentence with words that stand nowhere else.
"""

import argparse
import random
from collections.abc import Iterator
from datetime import date, timedelta
from itertools import accumulate
from pathlib import Path
from typing import NamedTuple

BLOCKS_A_NOTE = 20
NEEDLE_EVERY = 200
FIRST_DAY = date(1999, 1, 1)


def _list(words: str, between: str = " ") -> list[str]:
    return words.split(between)


_ACTORS = _list("Mira Tomas Ines Pavel Wen Oksana Bram Leila Joao Petra Idris Sanna")
_THINGS = _list(
    "build release branch invoice contract backup server queue token schema index cache proxy budget roadmap "
    "sprint ticket customer interview draft chapter garden bicycle kitchen recipe flight hotel passport "
    "meeting agenda slide report test deployment cluster container network router firewall certificate domain "
    "library parser compiler editor keyboard monitor camera battery charger notebook sensor thermostat window "
    "door neighbour teacher school course exam"
)
_DEEDS = _list(
    "moved renamed fixed reviewed postponed cancelled ordered measured compared replaced documented shipped "
    "tested rewrote merged reverted upgraded migrated cleaned sketched booked paid returned repaired "
    "calibrated"
)
_WHY = _list(
    "because the old one was too slow|after a long talk|before the holidays|as agreed with the team|for the "
    "second time|although nobody asked|to save money|until the supplier answers|while the others waited|so "
    "that Monday is free",
    "|",
)
_HAN_THINGS = _list(
    "服务器 合同 发票 预算 路线图 会议 报告 数据库 索引 缓存 证书 域名 花园 "
    "厨房 菜谱 机票 酒店 护照 键盘 电池 传感器 窗户 学校 课程 考试"
)
_HAN_DEEDS = _list(
    "迁移 修复 评审 推迟 取消 订购 测量 比较 替换 记录 发布 测试 重写 合并 回滚 升级 清理 预订 支付 归还"
)
_HAN_WHY = _list("因为旧的太慢 经过长时间讨论 在假期之前 按团队约定 第二次 为了省钱 等供应商答复 这样周一就空出来了")
_HAN_ACTORS = _list("小林 老周 阿梅 陈工 吴姐 何老师")
_HAN_SOUNDS = "安柏川岱恩丰谷浩嘉凯澜铭诺鹏清睿松泰维轩雅泽"
_ONSETS = _list("b br c d dr f g gl h k l m n p pr qu r s st t tr v w z")
_CORES = _list("a e i o u ai ea io or an el um ir")


class Needle(NamedTuple):
    """A sentence to be found again: the note's name, a question for it, and words of it that stand nowhere else."""

    file: str
    question: str
    mark: str


class Note(NamedTuple):
    """One note: its file name, its text, and the needle in it, if any."""

    file: str
    text: str
    needle: Needle | None


class Writer:
    """Writes sentences; one writer for each seed."""

    def __init__(self, seed: int, chinese: float, names: int = 20_000) -> None:
        self._random = random.Random(seed)
        self._chinese = chinese
        self._names = [self._name() for _ in range(names)]
        self._han_names = ["".join(self._random.choices(_HAN_SOUNDS, k=3)) for _ in range(names // 4)]
        self._weights = list(accumulate(1 / rank for rank in range(1, names + 1)))
        self._few_weights = list(accumulate(1 / rank for rank in range(1, len(_THINGS) + 1)))

    def sentence(self) -> str:
        """One sentence, Chinese with the given chance; most hold a made-up name."""
        pick = self._random.choice
        if self._random.random() < self._chinese:
            return f"{pick(_HAN_ACTORS)}{pick(_HAN_DEEDS)}了{self._han_name()}的{pick(_HAN_THINGS)},{pick(_HAN_WHY)}"
        things = self._random.choices(_THINGS, cum_weights=self._few_weights, k=2)
        return f"{pick(_ACTORS)} {pick(_DEEDS)} the {self.name()} {things[0]} and the {things[1]} {pick(_WHY)}"

    def name(self) -> str:
        """A made-up name; the first are common, the last are rare."""
        return self._random.choices(self._names, cum_weights=self._weights)[0]

    def note(self, number: int) -> Note:
        """Note number `number` (from 0), its needle included."""
        day = (FIRST_DAY + timedelta(number % 9_900)).isoformat()
        file = f"{day}.md" if number < 9_900 else f"{day}-{number // 9_900}.md"
        lines = [f"# {day}", ""]
        for block in range(BLOCKS_A_NOTE):
            if block % 7 == 0:
                lines += ["", f"## {self._random.choice(_THINGS).title()}", ""]
            lines.append(f"- {self._prefix(block)}{self.sentence()}")
        needle = self._needle(file, number) if number % NEEDLE_EVERY == NEEDLE_EVERY // 2 else None
        if needle:
            lines.append(f"- {needle.question}: {needle.mark}")
        return Note(file, "\n".join(lines) + "\n", needle)

    def _prefix(self, block: int) -> str:
        if block % 5 == 1:
            return f"{self._random.randint(7, 21):02}:{self._random.randint(0, 59):02} "
        if block % 9 == 4:
            return self._random.choice(("[ ] ", "[x] ", "Decision: ", "see https://example.org/{0} ")).format(
                self.name()
            )
        return ""

    def _needle(self, file: str, number: int) -> Needle:
        if self._random.random() < max(self._chinese, 0.2):
            rare = "".join(chr(0x4E00 + self._random.randrange(0x3000)) for _ in range(4))
            return Needle(file, f"{rare}的门禁口令", f"号码{number}")
        return Needle(file, f"the locker code of {self._name()}{self._name()}", f"number {number}")

    def _name(self) -> str:
        syllables = self._random.randint(2, 4)
        return "".join(self._random.choice(_ONSETS) + self._random.choice(_CORES) for _ in range(syllables))

    def _han_name(self) -> str:
        return self._random.choices(self._han_names, cum_weights=self._weights[: len(self._han_names)])[0]


def make_notes(count: int, *, chinese: float = 0.15, seed: int = 7) -> Iterator[Note]:
    """`count` notes, the same for the same arguments."""
    writer = Writer(seed, chinese)
    return (writer.note(number) for number in range(count))


def write_notes(folder: Path, count: int, *, chinese: float = 0.15, seed: int = 7) -> list[Needle]:
    """Write `count` notes into `folder` and return their needles."""
    folder.mkdir(parents=True, exist_ok=True)
    needles = []
    for note in make_notes(count, chinese=chinese, seed=seed):
        (folder / note.file).write_text(note.text, "utf-8")
        if note.needle:
            needles.append(note.needle)
    return needles


def main() -> None:
    """Write notes as the command line asks."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--notes", type=int, default=1000)
    parser.add_argument("--chinese", type=float, default=0.15)
    parser.add_argument("--seed", type=int, default=7)
    asked = parser.parse_args()
    needles = write_notes(asked.folder, asked.notes, chinese=asked.chinese, seed=asked.seed)
    print(f"{asked.notes} notes in {asked.folder}, {len(needles)} needles")


if __name__ == "__main__":
    main()
