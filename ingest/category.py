"""Where a fact belongs: a path of lower-case segments, at most four deep (docs/memory.md, 2)."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache

from .cues import word_set
from .dates import first_date

GENERAL = "general"
DEPTH = 4
_SEGMENT = 40

_ROLE_WORDS = word_set(
    """
    notes note done todo todos to-do tasks task plan plans planning summary overview log logs daily journal diary
    today tomorrow yesterday status checks check next next-steps steps action-items actions references reference
    links misc other others general decisions decision lessons lesson lessons-learned learned learnings learning
    insight insights events event highlights progress updates update work work-log activity activities details
    context background results result conclusion conclusions questions question issues issue problems problem
    open-questions blockers session conversation conversation-summary memory long-term-memory memory-md raw-notes
    ideas thoughts reflection reflections retro morning afternoon evening night monday tuesday wednesday thursday
    friday saturday sunday mon tue wed thu fri sat sun user assistant round plan-for-tomorrow what-i-did
    key-points important reminders completed pending in-progress week weekly 工作记录 记录 今日 今天 明天 昨天
    日记 笔记 日志 总结 小结 摘要 概述 概览 完成 已完成 待办 待办事项 任务 计划 明日计划 下一步 进展 进度 状态
    检查 参考 链接 其他 其它 备注 问题 决定 决策 教训 经验 经验教训 反思 学到 心得 想法 事件 要点 重点 背景 结果
    结论 上午 下午 早上 中午 晚上 凌晨 傍晚 深夜 星期一 星期二 星期三 星期四 星期五 星期六 星期日 星期天 周一 周二
    周三 周四 周五 周六 周日 今日总结 今日工作 今日记录 今日待办 工作日志 长期记忆 记忆 偏好 preferences
    preference
    """
)
_TIME = re.compile(
    r"(?:(?:凌晨|早上|上午|中午|下午|傍晚|晚上|深夜)\s*+)?[~约]?\d{1,2}(?:[:：]\d{2}(?::\d{2})?|\s*点(?:半"
    r"|\d{1,2}分?)?)\s*(?:[AaPp][Mm])?"
    r"(?:\s*[-–—~至到]\s*\d{1,2}[:：]\d{2})?(?:\s*(?:UTC|GMT|[A-Z]{2,4}T)\b)?|\b\d{1,2}\s?[AaPp][Mm]\b"
)
_DATE = re.compile(
    r"\d{4}[-_./年]\d{1,2}(?:[-_./月]\d{1,2}日?)?|\d{1,2}月\d{1,2}日|\(?\b(?:mon|tues?|wed(?:nes)?|thu(?:rs)?"
    r"|fri|sat(?:ur)?|sun)(?:day)?\b\)?"
    r"|\b(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.? \d{1,2}(?:st|nd|rd|th)?(?:,? \d{4})?"
    r"|(?:星期|周)[一二三四五六日天]",
    re.IGNORECASE,
)
_COUNT = re.compile(r"[(（\[]\s*\d+(?:\s*/\s*\d+)?\s*[)）\]]|^\s*\d+[.)、]\s*")
_SPLIT = re.compile(r"/|›|»|::")


def slug(text: str) -> str:
    """One category segment: lower case, Chinese kept, anything else a hyphen, at most 40 characters."""
    text = unicodedata.normalize("NFC", text).lower()
    joined = "".join(char if char.isalnum() else "-" for char in text)
    return re.sub(r"-+", "-", joined).strip("-")[:_SEGMENT].strip("-")


def normalised(category: str, depth: int | None = DEPTH) -> str:
    """A category as somebody wrote it, as a path of at most `depth` segments (None = all); '' if none is left."""
    return "/".join([part for raw in category.split("/") if (part := slug(raw))][:depth])


@lru_cache(maxsize=4096)
def heading_segment(heading: str) -> str:
    """The category segment of a heading; '' for dates, times and role words (`Notes`, `工作记录`)."""
    bare = _COUNT.sub(" ", heading)
    bare = _TIME.sub(" ", _DATE.sub(" ", bare))
    segment = slug(bare)
    if not segment or segment in _ROLE_WORDS or segment.replace("-", "").isdigit() or first_date(bare):
        return ""
    parts = [part for part in segment.split("-") if part]
    return "" if all(part in _ROLE_WORDS or part.isdigit() for part in parts) else segment


def from_headings(headings: Iterable[str]) -> str:
    """The path that the headings above a block make; '' if none of them names a matter."""
    return "/".join([segment for heading in headings if (segment := heading_segment(heading))][:DEPTH])


def tree_path(headings: Iterable[str], tree_paths: frozenset[str]) -> str:
    """The existing tree path that the nearest heading writes out, or ''."""
    if not tree_paths:
        return ""
    for heading in reversed(list(headings)):
        path = "/".join(slug(part) for part in _SPLIT.split(heading))
        if path in tree_paths:
            return path
    return ""


def by_words(text: str, tree_paths: frozenset[str]) -> str:
    """The existing path whose last segment's words all stand in `text`: the deepest, then the longest; '' if none."""
    if not tree_paths:
        return ""
    low = text[:2_000].lower()
    words = frozenset(re.findall(r"\w+", low))
    by_first, han = _words_of(tree_paths)
    fitting = [path for first in words & by_first.keys() for path, rest in by_first[first] if words >= rest]
    if not text.isascii():
        fitting += [path for path, parts in han if all(part in low for part in parts)]
    return max(fitting, key=lambda path: (path.count("/"), len(path), path), default="")


@lru_cache(maxsize=8)
def _words_of(
    tree_paths: frozenset[str],
) -> tuple[dict[str, list[tuple[str, frozenset[str]]]], list[tuple[str, list[str]]]]:
    """Paths by the first word of their last segment; those with Chinese in it apart, as words cannot be told there."""
    by_first: dict[str, list[tuple[str, frozenset[str]]]] = {}
    han: list[tuple[str, list[str]]] = []
    for path in sorted(tree_paths - {GENERAL}):
        parts = path.rsplit("/", 1)[-1].split("-")
        if not all(len(part) >= 2 for part in parts):
            continue
        if path.rsplit("/", 1)[-1].isascii():
            by_first.setdefault(parts[0], []).append((path, frozenset(parts)))
        else:
            han.append((path, parts))
    return by_first, han
