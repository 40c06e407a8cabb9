"""What a person should look at in a note: form first, then sentences that leave something out (docs/memory.md, 2).

The closed list of codes is `CODES`; each finding has a line and a suggestion.
"""

import datetime as dt
import re
import sys
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from ..model import Finding, ParsedMention
from .cues import Cue, word_set
from .dates import false_date_in_name
from .front import Front
from .source import Source

CODES = (
    "broken_front_matter", "unclosed_fence", "unclosed_comment", "invalid_utf8", "zero_byte", "utf16", "secret",
    "duplicate_section", "false_date", "wrong_year", "missing_url", "missing_command", "missing_next_step",
)  # fmt: skip

_MASK = "[masked:"
_SAME_DAY = 2
"""A note may be written, or its name be of another time zone, so many days around its day."""
_TOOL = Cue(
    r"(?i:\b(?:tool|library|framework|plugin|extension|package|model|cli|sdk|service|app|editor|engine)\s+)"
    r"(?:called\s+|named\s+)?[`\"'“]?(?P<after>[A-Z][\w.-]*\w)|(?P<before>\b[A-Z][\w.-]{0,60}\w)[`\"'”]?\s+(?:tool|editor"
    r"|library|framework|plugin|extension|package|model|CLI|SDK|engine)\b"
    r"|(?:工具|框架|插件|模型|软件|扩展|程序库|平台)\s*+(?:[「“\"'`:：]\s*+)?(?P<han_after>[A-Za-z][\w.-]*\w)"
    r"|(?<![A-Za-z0-9_.-])(?P<han_before>[A-Za-z][\w.-]{0,60}\w)\s*(?:这个|这款)?(?:工具|框架|插件|模型|软件|平台|扩展)",
    ignore_case=False,
)
_TRIED = Cue(
    r"\b(?:use|used|using|try|tried|trying|test(?:ed|ing)?|install(?:ed|ing)?|found|discovered|adopt(?:ed)?"
    r"|switch(?:ed)? to|evaluat(?:ed|ing)|benchmark(?:ed|ing)|compar(?:ed|ing)|set up|deployed|download(?:ed)?)\b"
    r"|用|试|装|发现|采用|换成|推荐|下载|部署|评估"
)
_NOT_A_TOOL = word_set(
    """
    The This That Our Your My His Her Their Its A An Each Every New Old Same Other Which Any No
    """
)
_LEAD = r"^(?:\W*+(?:I|we|then|also|just|finally|today|yesterday|now)\s++){0,2}"
_THE = r"(?:the\s+|a\s+|an\s+|our\s+|my\s+|all\s+|both\s+)?"
_HAN_VERB = "(?:安装|配置|部署|下载|升级|编译|迁移)"
_ACTION = Cue(
    rf"{_LEAD}(?:install(?:ed)?|configured|deployed|downloaded|migrated|compiled|set up|upgraded|reinstalled"
    rf"|reconfigured|redeployed|recompiled|updated|rolled (?:out|back)|switched|renewed)\s+{_THE}[`\w]"
    rf"|^(?:(?:今天|昨天|刚刚|已经|已|又|也|然后|先|后来|终于)+){_HAN_VERB}(?!量|率|者|费|速度)\s*[\w\u3400-\u9fff`]"
    rf"|(?<![要想应该备算划需没未不会能])(?<!打算|计划|没有|明天){_HAN_VERB}(?:了|好|完|到|成功)"
)
_MACHINE = Cue(
    r"\b(?:servers?|services?|databases?|backups?|prox(?:y|ies)|firmware|drivers?|kernels?|packages?"
    r"|repo(?:s|sitor(?:y|ies))?|clusters?|containers?|docker|vpn|vlans?|dns|cron\w*|ssh|api|pipelines?|runners?"
    r"|environment|npm|pip|python|postgres\w*|redis|nginx|linux|ubuntu|routers?|firewall|dashboards?|plugins?"
    r"|extensions?|scripts?|frameworks?|cli|sdk|daemons?|webhooks?|schema|dependenc(?:y|ies)|certificates?|monitoring"
    r"|logging|config(?:s|uration\w*)?|software|hosts?|laptops?|raid|websites?|wiki|replication|sync|tools?|app|apps|bots?|release"
    r"|version|weights|model|datasets?|mailbox(?:es)?|staging|production|nas|ssd|disk image|binar(?:y|ies)|compiler"
    r"|debug\w*|index|switch|browser|editor|toolchain|source code|from source|machines?|client|module|modules|patch"
    r"|node|nodes|token|tokens|login|https?|tls|tests?|build|site)\b"
    r"|服务器|数据库|防火墙|内核|依赖|驱动|版本|代理|监控|固件|软件|插件|系统|环境|路由器|端口|证书|容器|集群|镜像"
    r"|节点|脚本|程序|应用|服务|工具|备份|配置文件|索引|缓存|接口|网站|主机|域名|仓库|框架|平台|语料|数据|用户表"
    r"|补丁|客户端|模型|权重|打印机|网关|网络|编译器|浏览器|编辑器|测试|面板|后端|前端|源码|字体|公钥|账号"
)
"""What a sentence of an action names when it is done on a machine; nobody wants a command for a shelf or a seat."""
_FORM = re.compile(
    r"`|\b[a-z]+[A-Z]\w|\b[A-Z][a-z]+[A-Z]|\bv?\d+\.\d+|\b[A-Z]\w* (?:to|from) v?\d"
    r"|[\u3400-\u9fff]\s*[A-Za-z][\w.-]+"
)
"""Code, `camelCase`, versions, and Latin names in Chinese sentences say so too."""
_BY_NAME = re.compile(
    rf"(?i:{_LEAD}(?:installed|install|configured|deployed|compiled))\s+(?:[A-Z][\w.-]+"
    r"|[a-z][\w.-]*[^\Ws](?=\s*(?:\Z|[,.;(]|(?:and|on|onto|in|from|for|with|via|behind|to|by)\b)))"
)
"""A name right behind a verb that only software takes: `installed ripgrep`, `deployed Grafana`."""
_DECISION = Cue(
    r"\b(?:we|I|team|they)?\s*(?:have\s+|has\s+)?(?:decided|chose|opted|agreed)\s+(?:to|on|for|that"
    r"|not to|against)\b|^(?:\W*(?:final\s+|our\s+|the\s+)?Decision\s*[:：])|^\W*(?:decided|chose)\b"
    r"|^\W*(?:(?:we|i)(?:['’]re|['’]m|\s+are|\s+am)\s+)?going with\b.{1,60}\b(?:instead of|over|rather than)\b"
    r"|就这么定了|定下来了|说定了"
    r"|(?:^|[，。,\s我们已经最终大家团队后天上]|董事会|委员会|公司|老板)(?:决定|选定|敲定|拍板)(?!性|权|因素|论|者|于|了吗|什么)"
)
_UNDECIDED = Cue(
    r"\b(?:not (?:yet )?decided|undecided|haven't decided|have not decided|nothing was decided|to be decided"
    r"|who decided|once decided|if (?:we|they) decided|before we decided)\b|\?\s*$"
    r"|还没决定|决定还没|尚未决定|没有决定|未决定|待决定|由.{1,8}决定|取决|[？?]\s*$|谁决定|如何决定|怎么决定"
)
_NEXT_STEP = Cue(
    r"\b(?:next(?: step)?s?|todo|to-do|action(?: item)?|follow[- ]up|by (?:mon|tue|wed|thu|fri|sat|sun|tomorrow"
    r"|next|end of|the end|jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec|\d)\w*"
    r"|on \d{1,2} \w+|tomorrow|tonight|next week|will (?:\w+ ){0,2}(?:do|start|ask|write|deploy|test|move|try"
    r"|send|call|open|build|check)|deadline|starting|owner|assigned|responsible)\b"
    r"|下一步|待办|后续|明天|下周|下月|本周|周[一二三四五六日]前|之前完成|负责|截止|开始(?:做|实施|迁移|动手)"
    r"|(?<!\d)\d{1,2}月\d{1,2}日|接下来|然后"
)


def about_name(path: str, date: str) -> Iterator[Finding]:
    """A name with a date in it that no calendar has."""
    false = false_date_in_name(path.rsplit("/", 1)[-1]) if not date else ""
    if false:
        yield Finding(
            "false_date", 1, f"'{false}' in the file's name is not a date.", "Rename the file to a real date."
        )


def about_year(date: str, written: dt.date) -> Iterator[Finding]:
    """A name (`date` as `YYYY-MM-DD`, '' = undated) that fits the day of the last writing but for its year (TR-8)."""
    if not date:
        return
    named = dt.date.fromisoformat(date)
    if abs((named - written).days) <= _SAME_DAY:
        return
    for year in (written.year - 1, written.year, written.year + 1):
        leap = named.month == 2 and named.day == 29
        meant = named.replace(year=year, day=28 if leap else named.day)
        if abs((meant - written).days) <= _SAME_DAY:
            yield Finding(
                "wrong_year", 1, f"The name says {date}, but the note was written on {written.isoformat()}.",
                f"If the year is wrong, rename the file to {meant.isoformat()}.",
            )  # fmt: skip
            return


def about_source(source: Source, front: Front) -> Iterator[Finding]:
    """Encoding and front matter."""
    if source.utf16:
        yield Finding("utf16", 1, "The note is UTF-16.", "Save it as UTF-8.")
    if source.bad_line:
        yield Finding("invalid_utf8", source.bad_line, "The line is not valid UTF-8.", "Save the note as UTF-8.")
    if source.zero_line:
        yield Finding(
            "zero_byte", source.zero_line, "The line has a zero byte, which no text has.",
            "See whether the file is damaged, and save it as text.",
        )  # fmt: skip
    if front.fault:
        yield Finding(
            "broken_front_matter", front.fault_line, f"The front matter is not valid: {front.fault}.",
            "Correct it, or put the value in quotes.",
        )  # fmt: skip


def unclosed(kind: str, line: int) -> Finding:
    """A fence or comment (`kind`) that begins at `line` and never ends."""
    return Finding(f"unclosed_{kind}", line, f"The {kind} is never closed.", f"Close the {kind}.")


def secrets(lines: Sequence[str], written: Sequence[str]) -> Iterator[Finding]:
    """Lines with a mask that the note itself (`written`) does not have: a secret stood there."""
    for number, line in enumerate(lines):
        if _MASK in line and (number >= len(written) or line.count(_MASK) > written[number].count(_MASK)):
            yield Finding(
                "secret", number + 1, "A secret stands in this line; it was masked before anything was stored.",
                "Move it to a password manager and name it here instead.",
            )  # fmt: skip


def duplicate_sections(mentions: Sequence[ParsedMention], starts: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    """Headings (line, text) that come again with the same facts below."""
    placed = sorted((each.line_from, each.text) for each in mentions)
    seen: dict[tuple[str, tuple[str, ...]], int] = {}
    for at, (line, heading) in enumerate(starts):
        end = starts[at + 1][0] if at + 1 < len(starts) else sys.maxsize
        below = tuple(text for _, text in placed[bisect_left(placed, (line, "")) : bisect_left(placed, (end, ""))])
        if not below or not heading:
            continue
        first = seen.setdefault((heading, below), line)
        if first != line:
            yield Finding(
                "duplicate_section", line, f"The section '{heading}' stands at line {first} already, word for word.",
                "Delete one of the two.",
            )  # fmt: skip


def about_sentences(mentions: Sequence[ParsedMention]) -> Iterator[Finding]:
    """A tool without an address, an action without its command, a decision without a next step.

    Only the owner's own statements are judged: no quotes, rows, code, nor tasks still to do.
    """
    for at, each in enumerate(mentions):
        if each.kind in ("quote", "row", "code") or each.task_state:
            continue
        near = [other for other in mentions[max(0, at - 1) : at + 2] if other.headings == each.headings]
        yield from _about(each, near)


def _about(each: ParsedMention, near: Sequence[ParsedMention]) -> Iterator[Finding]:
    urls = any(other.metadata.urls for other in near)
    commands = any(other.metadata.commands for other in near)
    tool = named_tool(each.text)
    if tool and not urls:
        yield Finding(
            "missing_url", each.line_from, f"Tool '{tool}' mentioned without URL/documentation link",
            "Add URLs for mentioned tools/services",
        )  # fmt: skip
    if is_action(each.text) and not commands and not each.code:
        verb = each.text.split(None, 1)[0].strip("`*").lower() if each.text.isascii() else each.text[:4]
        yield Finding(
            "missing_command", each.line_from, f"Action '{verb}' mentioned without command example",
            "Include command examples for setup/installation steps",
        )  # fmt: skip
    if is_decision(each.text) and not any(other.task_state or _NEXT_STEP.search(other.text) for other in near):
        yield Finding(
            "missing_next_step", each.line_from, "Decision mentioned without a next step",
            "Document next steps after decisions",
        )  # fmt: skip


def named_tool(text: str) -> str:
    """The tool that a sentence says was used or found, or ''."""
    match = _TOOL.search(text) if _TRIED.search(text) else None
    if match is None:
        return ""
    name = next(group for group in match.groups() if group)
    return "" if name in _NOT_A_TOOL or name.isdigit() else name


def is_action(text: str) -> bool:
    """Whether a sentence says that something was installed, configured, deployed … on a machine."""
    if _ACTION.search(text) is None or text.rstrip().endswith(("?", "？")):
        return False
    return _MACHINE.search(text) is not None or _FORM.search(text) is not None or _BY_NAME.search(text) is not None


def is_decision(text: str) -> bool:
    """Whether a sentence says that something was decided."""
    asks = text.rstrip().endswith(("?", "？"))
    return not asks and _DECISION.search(text) is not None and not _UNDECIDED.search(text)
