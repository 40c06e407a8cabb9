"""What kind of thing a block says, and how much it matters: small bilingual rules, no model."""

from functools import lru_cache
from typing import Literal, TypeAlias, cast

from .cues import Cue, CueGroup

Kind: TypeAlias = Literal["fact", "decision", "lesson", "preference", "task", "event", "quote", "code", "row"]
"""The closed list of mention kinds. `row` = table row, `quote` = said by somebody else, `code` = a fence of its own."""

_DECISION = Cue(
    r"\b(?:decided|decision|we(?:'ll| will) (?:use|go with|adopt|drop)|(?:chose|chosen) (?:to|the|a|\w+ (?:over"
    r"|instead|as|for|because))"
    r"|opted (?:for|to)|agreed (?:to|on|that)|settled on|going with|switch(?:ed|ing) (?:to|from)|adopted|approved)\b"
    r"|决定|选定|选择了|决策|拍板|采用|改用|敲定|定下来|达成一致|一致同意|最终方案"
)
_LESSON = Cue(
    r"\b(?:lessons?(?: learn(?:ed|t))?|learn(?:ed|t) (?:that|to|the hard way|how)|never (?:again|\w+)|always \w+"
    r"|don'?t ever|root cause"
    r"|turn(?:s|ed) out|next time|best practice|pitfall|gotcha|remember to|takeaway|insight|mistake)\b"
    r"|教训|经验[:：是]|学到|学会|切记|千万|以后要|以后不要|下次(?:要|不要|记得|别)|永远不要|一定要|绝不|原来是"
    r"|根本原因|踩坑|避坑|最佳实践|注意[:：]|反思"
)
_PREFERENCE = Cue(
    r"\b(?:prefers?|preferred|preferences?|favou?rites?|(?:he|she|i|they|we|user"
    r"|owner)\s+(?:really\s+)?(?:likes?|loves?|hates?|dislikes?|enjoys?)"
    r"|would rather|can'?t stand|allergic to|vegetarian|vegan)\b"
    r"|喜欢|偏好|不喜欢|讨厌|最爱|更爱|习惯(?:用|了|于|在|先)|倾向于|爱吃|爱喝|不吃|过敏|宁愿|更愿意"
)
_EVENT = Cue(
    r"\b(?:deadline|due (?:on|by)|meeting|met with|appointment|launch(?:ed|es)?|released?|shipped|deployed"
    r"|birthday|anniversary|conference"
    r"|interview|flight|arrived|departed|visited|moved to|went live|merged|published|completed|finished|incident"
    r"|outage|hackathon)\b"
    r"|截止|会议|开会|见面|上线|发布|部署(?:了|完成|到)|生日|纪念日|面试|航班|出发|到达|拜访|搬到|完成了|故障"
    r"|事故|聚会|婚礼|旅行|约了|预约"
)
_CASUAL = Cue(
    r"\b(?:maybe|perhaps|lol|haha|hmm|btw|just (?:chatting|browsing|saying)|random|weather|lunch|dinner"
    r"|breakfast|coffee|nap|bored|tired|small talk)\b"
    r"|哈哈|随便|也许|可能吧|闲聊|天气|午饭|晚饭|早饭|吃饭|吃了|午睡|无聊|散步|好困|奶茶|下雨|晴天"
)
_WEIGHTY = Cue(
    r"\b(?:critical|important|must not|do not|security|production|architecture|identity|urgent)\b|重要|关键|紧急"
    r"|务必|必须|安全|架构|生产环境"
)
_HEADINGS: CueGroup[Kind] = CueGroup(
    (
        ("decision", Cue(r"\bdecisions?\b|决定|决策")),
        (
            "lesson",
            Cue(
                r"\b(?:lessons?|learn(?:ed|ings?|t)|insights?|takeaways?|retro(?:spective)?)\b|教训|经验|反思|学到"
                r"|心得|复盘"
            ),
        ),
        ("preference", Cue(r"\bpreferences?\b|偏好|喜好|习惯")),
    )
)
_WORDS: CueGroup[Kind] = CueGroup((("decision", _DECISION), ("preference", _PREFERENCE), ("lesson", _LESSON)))
_IMPORTANCE: dict[Kind, float] = {
    "fact": 0.5, "decision": 0.75, "lesson": 0.8, "preference": 0.7, "task": 0.7, "event": 0.6, "quote": 0.5,
    "code": 0.5, "row": 0.5,
}  # fmt: skip
_DONE_TASK = 0.5
_CASUAL_IMPORTANCE = 0.35


def kind_of(text: str, headings: list[str], *, task_state: str = "", shape: str = "") -> Kind:
    """The kind of a block: what its shape says, then its own words, then the nearest heading."""
    if task_state:
        return "task"
    if shape in ("quote", "code", "row"):
        return cast(Kind, shape)
    if (kind := _WORDS.first(text)) is not None:
        return kind
    for heading in reversed(headings[-2:]):
        if (kind := _kind_of_heading(heading)) is not None:
            return kind
    return "event" if _EVENT.search(text) else "fact"


@lru_cache(maxsize=4096)
def _kind_of_heading(heading: str) -> Kind | None:
    return _HEADINGS.first(heading)


def importance_of(text: str, kind: Kind, task_state: str = "") -> float:
    """Importance by the seed's guide: decisions, lessons, preferences 0.7 to 0.8, facts 0.5 to 0.6, casual 0.35."""
    if kind == "task":
        return _DONE_TASK if task_state == "done" else _IMPORTANCE["task"]
    base = _IMPORTANCE[kind]
    if kind in ("fact", "quote", "event") and _CASUAL.search(text):
        return _CASUAL_IMPORTANCE
    if _WEIGHTY.search(text):
        return min(0.8, round(base + 0.1, 2)) if base >= 0.7 else 0.6
    return base
