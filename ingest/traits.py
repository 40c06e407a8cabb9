"""People, topics, actions, emotion and outcome of a sentence: general rules for English and Chinese, no model."""

import re
from collections import Counter
from collections.abc import Iterator

from .cues import Cue, CueGroup, lowered, word_set
from .metadata import unique

_MENTION = re.compile(r"(?<![\w.@])@([A-Za-z\u3400-\u9fff][\w-]{0,30})")
_TITLE = r"(?:Mr|Mrs|Ms|Dr|Prof)\.?\s+"
_PERSON = re.compile(
    rf"(?:\b(?i:with|ask(?:ed|s)?|met|told|tells?|call(?:ed)?|email(?:ed)?|from|paired with|thank(?:ed|s)?"
    rf"|invite[ds]?|remind(?:ed)?)"
    rf"\s+|\b{_TITLE})"
    r"(?P<name>[A-Z][a-z]{1,20}(?:\s+[A-Z][a-z]{1,20})?)(?:\s*(?:,|and|&)\s+(?P<second>[A-Z][a-z]{1,20}))?\b"
)
_BEFORE_PERSON = (
    "with", "ask", "met", "tell", "told", "call", "email", "from", "thank", "invite", "remind", "mr", "ms", "dr", "prof"
)  # fmt: skip
"""One of these stands in every text that `_PERSON` matches, in lower case."""
_CAPITAL = re.compile("[A-Z]")
_SPEAKER = re.compile(
    r"^(?P<name>[A-Z][a-z]{2,15}(?: [A-Z][a-z]{2,15})?) (?:said|says|thinks|asked|wants|prefers|likes|joined"
    r"|left|suggested|agreed|proposed|told|will|reported)\b"
)
_SURNAMES = (
    "王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶阎"
    "余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段钱汤尹黎易常武乔贺赖龚文"
)
_HAN_PERSON = re.compile(
    rf"(?:(?<=[和跟与同问找请给对向约])|^)(?P<name>[{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?)(?=一起|讨论|说|见面"
    rf"|确认|开会|聊|吃|去|来|的|提|建议|认为|商量|联系|喜欢|决定|告诉|负责|，|。|、|$)"
    rf"|(?P<nick>[小老阿][{_SURNAMES}])(?![\u4e00-\u9fff]?(?:版|区|时))|(?P<title>[{_SURNAMES}](?:总|老师|先生"
    rf"|女士|经理|医生|教授|工|姐|哥))"
)
_NOT_PEOPLE = word_set(
    """
    The This That These Those Monday Tuesday Wednesday Thursday Friday Saturday Sunday January February March
    April May June July August September October November December Python Docker Linux Google Github Git Chrome
    Firefox Windows Apple Slack Telegram Discord Turso Postgres Redis Node React Rust Java English Chinese Europe
    America China Japan Let Then It He She They We You Our Your His Her Its Now New Old Server Client Support Team
    Production Staging Main Master Grandmother Grandfather Grandma Grandpa Mother Father Mom Dad Everyone Everybody
    Nobody Somebody Someone
    """
)
_VERBS = (
    "deploy|install|configure?|fix|build|write|ship|test|migrate?|update?|upgrade?|add|remove?|delete?|create?"
    "|renew|review|merge?|release?|refactor|publish|send|call|email|ask|book|buy|order|pay|schedule?|investigate?"
    "|debug|document|clean up|set up|back up|restart|rewrite|move?|switch|download|upload|register|prepare?|plan"
    "|check|verify|replace?|cancel"
)
_VERB = Cue(
    rf"\b(?:(?:{_VERBS})(?P<past>ed|ing|d|ped|ted|ged|led|ping|ting|ging|ling)?"
    r"|(?P<strong>built|wrote|rewrote|sent|bought|paid|verified|backed up|cleaned up))\b(?=\s)"
)
_OBJECT = re.compile(r"(?:\s+[\w./@#'-]+){1,6}")
_MAY_ACT = re.compile(
    r"(?:^\W*|\b(?:to|please|and|then|must|should|will|can|let's|i|we|you|they|not|also|just|first|next week|tomorrow"
    r"|today)\s+|[,;:]\s+)\Z",
    re.IGNORECASE,
)
"""What stands in front of a verb's base form; behind an article or a name the same letters are a noun."""
_NO_DEED = re.compile(r"\b(?:is|was|are|be|were|been|the|an?|my|our|his|her|their|its|this|that)\s\Z", re.IGNORECASE)
"""In front of a past form: a passive, or a quality as in `the replaced filter`."""
_STATED = re.compile(r"\s+(?:is|was|are|were|has|had|will|did)\b")
_HAN_ACTION = Cue(
    r"((?:部署|安装|配置|修复|编写|发布|测试|迁移|更新|升级|添加|删除|创建|续签|审查|合并|重构|发送|联系|预订"
    r"|购买|支付|安排|调查|调试|整理|备份|重启|下载|上传|注册|准备|检查|验证|完成|提交|设计|实现"
    r"|优化|取消|更换|替换)(?!时|之?后|之?前|已|正在|通过|失败|成功|完成|的|结果|[率量者员中费])(?:了)?[^，。；！？\s]{1,20})"
)
_PHRASE_END = re.compile(r"(?<!\s)\s++(?:because|so|and|but|then|since|which|that)\b|[,.;:]\s*$")
_EMOTIONS = CueGroup(
    (name, Cue(pattern))
    for name, pattern in (
        (
            "happy",
            (
                r"\b(?:happy|glad|delighted|excited|thrilled|great news|love it|awesome|proud)\b|开心|高兴|兴奋|激动"
                r"|太棒|自豪|快乐"
            ),
        ),
        ("grateful", r"\b(?:grateful|thankful|thanks to|appreciate[sd]?)\b|感谢|感激|谢谢|多亏"),
        ("relieved", r"\b(?:relieved|phew|finally works?|at last)\b|松了一口气|终于|总算"),
        ("worried", r"\b(?:worried|anxious|nervous|concerned|afraid|stressed)\b|担心|焦虑|紧张|害怕|压力大"),
        ("frustrated", r"\b(?:frustrat(?:ed|ing)|annoy(?:ed|ing)|fed up|stuck)\b|烦躁|沮丧|崩溃|卡住|郁闷"),
        ("angry", r"\b(?:angry|furious|mad at)\b|生气|愤怒|气死"),
        ("sad", r"\b(?:sad|unhappy|heartbroken|disappointed)\b|难过|伤心|失望|悲伤"),
        ("cautious", r"\b(?:cautious(?:ly)?|careful(?:ly)?|safer|play it safe|to be safe)\b|谨慎|小心|稳妥|保险起见"),
    )
)
_NEGATED = re.compile(
    r"\b(?:not|no|never|n't|isn't|wasn't|don't)\s+(?:\w+\s+)?$"
    r"|[不没未][^，。]{0,2}$",
    re.IGNORECASE,
)
_OUTCOMES = CueGroup(
    (name, Cue(pattern))
    for name, pattern in (
        (
            "positive",
            (
                r"\b(?:fixed|resolved|solved|repaired)\s+(?:the|a|an|all|it|that|this|these|my|our)\b"
                r"|\b(?:no|without(?: any)?) errors?\b|修复了|修好|解决了|没有错误"
            ),
        ),
        (
            "negative",
            (
                r"\b(?:failed|fails|failure|broke|broken|crash(?:ed|es)?|rejected|lost|regression|outage|could not"
                r"|couldn't|did not work|didn't work)\b|失败|崩溃|报错|出错|被拒|丢失|故障|没有成功|不成功"
            ),
        ),
        (
            "pending",
            (
                r"\b(?:pending|waiting (?:for|on)|todo|to do|blocked|not yet|scheduled|planned|upcoming"
                r"|need(?:s)? to|will)\b|待办|等待|等着|待定|尚未|还没|计划|准备|需要|打算|将要"
            ),
        ),
        (
            "ongoing",
            r"\b(?:in progress|ongoing|working on|still|continu(?:e|es|ed|ing)|under way)\b|进行中|正在|继续|持续",
        ),
        (
            "positive",
            (
                r"\b(?:done|fixed|works?|working now|success(?:ful(?:ly)?)?|succeeded|passed|resolved|completed"
                r"|finished|shipped|solved|improved|good idea|approved|agreed|renewed)\b|成功|完成|解决|修复|通过"
                r"|上线|搞定|改善|好主意|同意"
            ),
        ),
    )
)
_WORD = re.compile(r"[A-Za-z][A-Za-z-]{3,}")
_STOP = word_set(
    """
    about after again all also always and any are because been before being both but came can could did does doing
    done down each even ever every for from have having here into its just know like made make many more most much
    must never next not now only other our out over really said same should since some such take than that the
    their them then there these they thing things this those through time today tomorrow under until upon use used
    user using very want was way well went were what when where which while who will with would yesterday you your
    agent assistant good idea that's it's let's lets need needs first last okay sure agreed sounds sense
    """
)
_TOPICS = {
    word: noun
    for noun, words in {
        "deployment": "deploy deploys deployed deploying deployments", "safety": "safe safer safest safely",
        "installation": "install installs installed installing", "migration": "migrate migrates migrated migrating",
        "configuration": "configure configures configured configuring config", "security": "secure secured securely",
        "testing": "test tests tested", "integration": "integrate integrates integrated integrating",
        "architecture": "architectural", "dependencies": "dependency", "planning": "plan plans planned",
        "scheduling": "schedule schedules scheduled", "performance": "faster slower performant",
    }.items()
    for word in words.split()
}  # fmt: skip
"""A topic is a matter, not a deed: these verbs and qualities count as their noun."""


_LATER = ("first", "now", "today", "tomorrow", "soon", "again", "later", "instead", "too", "please")
_AFTERTHOUGHT = re.compile(rf"(?<!\s)(?:\s++(?:{'|'.join(_LATER)})){{1,4}}[.\s]*+\Z|[吧呢啊]\Z", re.IGNORECASE)


def people(text: str) -> list[str]:
    """Names after words that take a person (`with`, `asked`, 和, 问), `@names`, and 小王, 李总."""
    found = _MENTION.findall(text) if "@" in text else []
    matches: list[re.Match[str]] = []
    if _CAPITAL.search(text):
        low = lowered(text)
        matches = [*_PERSON.finditer(text)] if any(map(low.__contains__, _BEFORE_PERSON)) else []
        matches += [match] if (match := _SPEAKER.match(text)) is not None else []
    for match in matches:
        groups = match.groupdict()
        found += [
            name for name in (groups.get("name"), groups.get("second")) if name and name.split()[0] not in _NOT_PEOPLE
        ]
    if not text.isascii():
        found += [next(name for name in match.groups() if name) for match in _HAN_PERSON.finditer(text)]
    return unique(found)


def actions(text: str) -> list[str]:
    """At most three phrases that begin with a verb of doing, as written."""
    found = [_trimmed(phrase) for phrase in _english_actions(text)]
    if not text.isascii():
        found += [_trimmed(text[match.start() : match.end()]) for match in _HAN_ACTION.findall(text)]
    return unique(found)[:3]


def _english_actions(text: str) -> Iterator[str]:
    end = 0
    for verb in _VERB.findall(text):
        start, behind = verb.span()
        if start < end or (action := _OBJECT.match(text, behind)) is None:
            continue
        near = max(0, start - 12)
        if verb["past"] or verb["strong"]:
            acts = _NO_DEED.search(text, near, start) is None
        else:
            acts = _MAY_ACT.search(text, near, start) is not None and _STATED.match(text, behind) is None
        if acts:
            phrase = text[start : action.end()]
            cut = _PHRASE_END.search(phrase)  # what `and` joins is a deed of its own
            end = start + (cut.start() if cut else len(phrase))
            yield phrase


def emotion(text: str) -> str:
    """The first emotion that is named and not denied, or ''."""
    for name, match in _EMOTIONS.matches(text):
        if not _NEGATED.search(text[: match.start()]):
            return name
    return ""


def outcome(text: str, task_state: str = "") -> str:
    """'positive', 'negative', 'pending', 'ongoing', or '' when nothing says so; a task's mark decides first."""
    if task_state:
        return "positive" if task_state == "done" else "pending"
    for name, match in _OUTCOMES.matches(text):
        if not (name == "positive" and _NEGATED.search(text[: match.start()])):
            return name
    return ""


def topics(text: str) -> list[str]:
    """At most five telling English words by frequency, then by place; for the `distill` command."""
    words = [word.lower() for word in _WORD.findall(text) if word.lower() not in _STOP]
    return [word for word, _ in Counter(_TOPICS.get(word, word) for word in words).most_common(5)]


def _trimmed(phrase: str) -> str:
    if phrase.rstrip(". ").rpartition(" ")[2].lower() in _LATER or phrase[-1:] in "吧呢啊":
        phrase = _AFTERTHOUGHT.sub("", phrase)
    end = _PHRASE_END.search(phrase)
    return (phrase[: end.start()] if end else phrase).strip(" .,;:")[:60]
