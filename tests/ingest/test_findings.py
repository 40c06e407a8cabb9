"""Findings: form and sentences, each with code, line and suggestion (docs/memory.md, 2)."""

import pytest
from memoryd.ingest.findings import CODES, is_action, is_decision, named_tool

_TOOL_YES = [
    "Installed the Falcon tool on kestrel", "Found a library called Kestrel for parsing",
    "We use the Grebe framework", "Trying the Wren editor today",
    "Tested a model named Plover", "Switched to the Heron CLI", "Adopted the Snipe plugin",
    "Downloaded the Lapwing package",
    "Set up the Dunlin service", "Using the Curlew SDK now", "发现一个工具 Falcon，很好用", "今天试了 Grebe 框架",
    "用 Heron 这个工具整理照片", "装了 Wren 插件",
    "推荐 Plover 模型", "采用 Snipe 平台", "下载了软件 Lapwing", "换成 Curlew 框架了", "部署 Dunlin 模型",
    "评估了 Teal 这款软件",
]  # fmt: skip
_TOOL_NO = [
    "The heron used the pond", "Bought a new tool for the garden", "Flux of the river is high",
    "This tool is used by nobody", "Used the old model railway",
    "Mira uses a hammer", "The Tool shed is full", "Our framework agreement was found",
    "He tried every extension cord", "A model citizen was found",
    "Which plugin do we use", "The influx of mail", "the app was slow", "今天用锤子修了椅子", "这个工具很好用",
    "发现一家新餐馆", "模型飞机试飞了", "软件更新了",
    "平台上人很多", "推荐他去看电影",
]  # fmt: skip
_ACTION_YES = [
    "Installed the tool on kestrel", "Configured the firewall", "Deployed the release to kestrel",
    "Upgraded Postgres to 17", "Set up the backup server",
    "Downloaded the weights", "Migrated the database to kestrel", "Compiled the kernel", "I installed ripgrep",
    "Today configured nginx",
    "安装了数据库", "配置好了防火墙", "部署到测试服务器", "今天升级了内核", "已经安装好依赖", "下载了模型权重",
    "迁移了数据库", "编译了新内核", "刚刚部署了新版本", "先安装驱动",
]  # fmt: skip
_ACTION_NO = [
    "The installed lamp is bright", "Installed a shelf in the kitchen", "Set up a meeting with Mira",
    "Updated my calendar", "Should we install it?",
    "The deployment went well", "He talked about configured servers", "Setup is boring",
    "Set up the table for dinner", "Updated the list of guests",
    "Downloaded photos of the party", "The upgrade can wait", "Migrated birds came back", "安装空调的师傅来了",
    "配置了会议人员名单", "部署工作安排已发", "安装什么好？",
    "更新换代很快", "下载量很高", "新房的门锁安装好了",
]  # fmt: skip
_DECISION_YES = [
    "Decided to move the database", "We decided on the blue paint", "Chose to wait for spring",
    "We agreed to meet less", "The team opted for Postgres",
    "They have decided not to sell", "Decision: keep the old name", "I chose to stay", "We agreed that tea is better",
    "Team has agreed on the budget",
    "决定迁移数据库", "我们决定周五发版", "大家最终决定不卖了", "选定了蓝色油漆", "最终敲定预算",
    "团队决定采用新方案", "今天拍板了名字", "已经选定供应商", "会后决定推迟", "我们敲定了日期",
]  # fmt: skip
_DECISION_NO = [
    "We have not decided yet", "Who decided that?", "It is undecided", "If we decided to sell, we would move",
    "A decisive moment", "The decider is Mira",
    "Nothing was decided", "Once decided we can start", "The chosen one is a film", "Selected works of a poet",
    "She will use the stairs", "Is it agreed to meet?",
    "还没决定用哪个", "尚未决定日期", "由米拉决定", "决定性的一球", "谁决定的？", "取决于天气", "他的决定权很大",
    "怎么决定呢",
]  # fmt: skip


@pytest.mark.parametrize(
    ("judge", "right", "wrong"),
    [
        (lambda text: bool(named_tool(text)), _TOOL_YES, _TOOL_NO),
        (is_action, _ACTION_YES, _ACTION_NO),
        (is_decision, _DECISION_YES, _DECISION_NO),
    ],
    ids=["named tool", "action", "decision"],
)
def test_sentences_are_judged_at_a_precision_of_nine_in_ten(judge, right: list[str], wrong: list[str]) -> None:
    """On labelled sentences, half traps and half Chinese, at least 90 % of the hits are right, and most are hit."""
    hits = [text for text in right if judge(text)]
    false = [text for text in wrong if judge(text)]

    assert len(hits) / (len(hits) + len(false)) >= 0.9, false
    assert len(hits) / len(right) >= 0.85, [text for text in right if text not in hits]


def _codes(note) -> list[tuple[str, int]]:
    return [(finding.code, finding.line) for finding in note.findings]


def test_the_planted_faults_are_found_with_their_lines(parse) -> None:
    """Broken front matter, an address and a next step that are missing, and an open fence."""
    note = parse(
        "---\ntitle: [broken\n---\n- Installed the Falcon tool on kestrel\n- Decided to move the database\n"
        "\n```sh\nnever closed\n"
    )

    assert _codes(note)[1:] == [("missing_url", 4), ("missing_next_step", 5), ("unclosed_fence", 7)]
    assert note.findings[0].code == "broken_front_matter"
    assert note.state == "findings"
    assert all(finding.code in CODES and finding.message and finding.suggestion for finding in note.findings)


def test_what_is_complete_is_not_found(parse) -> None:
    """With an address, a command and a next step there is nothing to say."""
    note = parse(
        "- Installed the Falcon tool from https://falcon.example with `pip install falcon`\n"
        "- Decided to move the database, Mira will start tomorrow\n"
    )

    assert (note.findings, note.state) == ([], "ok")


def test_neighbours_complete_a_statement(parse) -> None:
    """A command in the fence below, or a task right behind a decision, is enough."""
    note = parse(
        "Installed ripgrep:\n\n```sh\napt install ripgrep\n```\n\n"
        "## Plan\n- Decided to sell the car\n- [ ] Call the garage\n"
    )

    assert note.findings == []


def test_quotes_tasks_and_tables_are_not_judged(parse) -> None:
    """What others said, what is still to do, and data are nobody's incomplete statement."""
    assert (
        parse("> Decided to leave\n\n- [ ] Installed the Falcon tool\n\n| a |\n|---|\n| Decided to go |\n").findings
        == []
    )


def test_a_date_that_is_none_is_found(parse) -> None:
    """`2026-02-30.md` is a note with a finding."""
    note = parse("- tea\n", date="", path="memory/2026-02-30.md")

    assert _codes(note) == [("false_date", 1)]
    assert note.mentions[0].date == ""


def test_a_section_that_stands_twice_is_found(parse) -> None:
    """TR-3: a note appended to itself states the same facts, and each repeated section is named."""
    text = "# Day\n\n## Garden\n- roses\n\n## Kitchen\n- tea\n\n"
    once, twice = parse(text), parse(text + text)

    assert {each.text for each in once.mentions} == {each.text for each in twice.mentions}
    assert _codes(twice) == [("duplicate_section", 11), ("duplicate_section", 14)]


def test_the_same_heading_with_other_words_is_no_duplicate(parse) -> None:
    """Headings come again and again in real notes."""
    assert parse("## Status\n- green\n\n## Status\n- red\n").findings == []


def test_an_open_comment_swallows_nothing(parse) -> None:
    """A comment that never closes is found, and the words behind it are facts."""
    note = parse("- tea\n\n<!-- draft\n- coffee\n")

    assert _codes(note) == [("unclosed_comment", 3)]
    assert "coffee" in [each.text for each in note.mentions]


def test_a_zero_byte_is_found_with_its_line(parse) -> None:
    """A NUL in a note is a sign of damage; the words around it are facts all the same."""
    note = parse("- tea\n- cof\0fee\n")

    assert _codes(note) == [("zero_byte", 2)]
    assert note.mentions[1].text == "cof\ufffdfee"
