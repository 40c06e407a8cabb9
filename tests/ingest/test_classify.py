"""Kind, importance and category by small bilingual rules."""

import pytest
from memoryd.ingest.category import by_words, from_headings, heading_segment, normalised
from memoryd.ingest.classify import importance_of, kind_of

_KINDS = [
    ("Decided to use raw JSON-RPC", "decision"), ("We agreed on Tuesdays for the review", "decision"),
    ("Chose Postgres over MySQL", "decision"), ("Settled on the blue paint", "decision"),
    ("Switched to uv for the builds", "decision"),
    ("决定使用浏览器自动化", "decision"), ("改用新的备份方案", "decision"), ("大家一致同意周五发版", "decision"),
    ("敲定了封面设计", "decision"),
    ("Always test on a testnet first", "lesson"), ("Never deploy on Fridays", "lesson"),
    ("Lesson: measure twice", "lesson"),
    ("Learned that the pump needs oil", "lesson"), ("Root cause was a stale lock", "lesson"),
    ("教训：先备份再升级", "lesson"), ("下次记得先看日志", "lesson"), ("切记不要直接改线上", "lesson"),
    ("学到一招，先写测试", "lesson"),
    ("Mira prefers tea over coffee", "preference"), ("He likes window seats", "preference"),
    ("Her favourite colour is green", "preference"),
    ("She is allergic to nuts", "preference"), ("米拉喜欢喝绿茶", "preference"), ("他不吃香菜", "preference"),
    ("习惯用深色主题", "preference"),
    ("更愿意坐火车", "preference"),
    ("Hackathon deadline is 15 February", "event"), ("Met with the landlord", "event"),
    ("The flight was at nine", "event"),
    ("明天下午开会", "event"), ("新版本上线", "event"), ("奶奶的生日", "event"),
    ("The alpaca weighs 60 kg", "fact"), ("kestrel is the build server", "fact"), ("The pump has two valves", "fact"),
    ("Passengers board at gate nine", "fact"), ("服务器在东京机房", "fact"), ("车牌号是沪A12345", "fact"),
    ("The garden faces south", "fact"),
    ("她的电话打不通", "fact"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "kind"), _KINDS)
def test_the_kind_of_a_sentence(text: str, kind: str) -> None:
    """Decisions, lessons, preferences, events and facts are told apart in both languages."""
    assert kind_of(text, []) == kind


def test_shape_and_heading_speak_where_words_do_not() -> None:
    """A task is a task, a row a row; under `## Decisions` a plain sentence is a decision."""
    assert kind_of("Decided it", [], task_state="open") == "task"
    assert kind_of("Decided | it", [], shape="row") == "row"
    assert kind_of("Blue paint", ["Friday", "Decisions"]) == "decision"
    assert kind_of("先备份", ["经验教训"]) == "lesson"


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("Decided to deploy on Monday", 0.7, 0.8), ("决定周一发布", 0.7, 0.8), ("Never deploy on Fridays", 0.7, 0.8),
        ("Mira prefers tea", 0.7, 0.8), ("教训：先备份", 0.7, 0.8), ("kestrel is the build server", 0.5, 0.6),
        ("服务器在东京", 0.5, 0.6),
        ("Had lunch by the river", 0.3, 0.4), ("今天天气不错，散步", 0.3, 0.4), ("haha what a day", 0.3, 0.4),
        ("this is critical", 0.5, 0.6),
    ],
)  # fmt: skip
def test_importance_follows_the_guide(text: str, low: float, high: float) -> None:
    """Decisions, lessons, preferences 0.7 to 0.8, facts 0.5 to 0.6, casual 0.3 to 0.4."""
    assert low <= importance_of(text, kind_of(text, [])) <= high


def test_secrets_never_raise_importance(parse) -> None:
    """A fact with a secret in it weighs as much as one without."""
    secret, plain = parse("- password: hunter2secret\n").mentions[0], parse("- the door is green\n").mentions[0]

    assert secret.importance <= plain.importance


@pytest.mark.parametrize(
    "heading",
    [
        "2026-02-13", "Friday", "Friday, February 13, 2026", "10:40", "07:12 UTC", "凌晨 02:30", "Notes", "Done",
        "Summary", "工作记录",
        "今日总结", "## TODO".lstrip("# "), "Next steps", "星期五", "2026年2月13日 星期五", "5 点", "(12)",
        "3. Notes", "下午", "Daily log",
        "2026-02-13 Friday", "Decisions", "决定",
    ],
)  # fmt: skip
def test_dates_times_and_role_words_are_no_categories(heading: str) -> None:
    """Headings that only say when or what role name no matter."""
    assert heading_segment(heading) == ""


@pytest.mark.parametrize(
    ("headings", "path"),
    [
        (["2026-02-13", "Falcon release"], "falcon-release"),
        (["Projects", "Falcon", "Decisions"], "projects/falcon"),
        (["浇花"], "浇花"), (["凌晨 02:30 - 浇花"], "浇花"), (["07:12 UTC — Pump repair (3)"], "pump-repair"),
        (["Notes"], ""),
        (["A", "B", "C", "D", "E"], "a/b/c/d"), (["🎯 Garden plan"], "garden-plan"),
    ],
)  # fmt: skip
def test_headings_make_a_path(headings: list[str], path: str) -> None:
    """The headings that name a matter make a path of at most four segments; Chinese is kept."""
    assert from_headings(headings) == path


def test_the_order_of_categories(parse) -> None:
    """Tag, front matter, a written tree path, headings, the words, and `general` as the last resort."""
    tree = frozenset({"projects/falcon", "pets/dog", "宠物/小猫"})

    def category(text: str) -> str:
        return parse(text, tree_paths=tree).mentions[0].category

    assert category("---\ncategory: home\n---\n## projects/falcon\n- x #garden\n") == "garden"
    assert category("---\ncategory: home\n---\n## projects/falcon\n- x\n") == "home"
    assert category("## Garden\n### Projects/Falcon\n- x\n") == "projects/falcon"
    assert category("## Garden\n- the falcon came\n") == "garden"
    assert category("## Notes\n- the falcon came\n") == "projects/falcon"
    assert category("- 小猫今天很乖\n") == "宠物/小猫"
    assert category("- doggerel and falconry\n") == "general"


def test_an_existing_path_fits_by_whole_words() -> None:
    """W9: classification into the tree looks at whole words of the last segment; the deepest path wins."""
    assert by_words("the bsc testnet is up", frozenset({"testnet", "a/b/testnet", "bs"})) == "a/b/testnet"


@pytest.mark.parametrize(
    ("written", "path"),
    [
        ("Owner/Preferences", "owner/preferences"),
        (" a // b ", "a/b"),
        ("工具/图像", "工具/图像"),
        ("///", ""),
        ("a/b/c/d/e", "a/b/c/d"),
    ],
)
def test_a_written_category_is_normalised(written: str, path: str) -> None:
    """Categories are lower-case slugs, at most four deep."""
    assert normalised(written) == path
