"""The ranking: the right fact first, whatever the question looks like."""

from datetime import date, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from memoryd.search import find
from memoryd.search.candidates import RANKED
from memoryd.search.rank import Found
from memoryd.store import Store

TODAY = 20_500

NOTES = (
    "今天玩成语接龙游戏",
    "浏览器要更新到最新版本",
    "这个操作需要管理员权限",
    "关键是先备份数据",
    "领了学生券,可以买云工开物的课",
    "用BBDown下载了B站的课程",
    "Deadline is Friday for the tax form",
    "Decided to use raw JSON-RPC to avoid the dependency",
    "The garden needs water twice a week",
)


@pytest.mark.parametrize("query", ["浏览器", "操作", "关键", "成语接龙", "今天玩成语接龙游戏", "龙", "戏", "浏"])
def test_se1_chinese_word_is_in_the_top_three(filled: Any, query: str) -> None:
    """SE-1: a Chinese word, also of one or two characters, finds its note."""
    assert any(query in text for text in filled(*NOTES).ask(query, limit=3))


@pytest.mark.parametrize(("query", "wanted"), [("云工开物 优惠券", NOTES[4]), ("BBDown 视频下载", NOTES[5])])
def test_se2_missing_run_does_not_void_the_question(filled: Any, query: str, wanted: str) -> None:
    """SE-2: what matches is found, and the hit says what did not match."""
    memory = filled(*NOTES)

    hit = find(memory.store, query, agents=None, limit=1, today=TODAY)[0]

    assert memory.texts[hit.n] == wanted
    assert hit.matched
    assert hit.unmatched


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("ภาษาไทยไม่ยาก", "ภาษาไทย"),
        ("الاجتماع يوم الأحد", "الاجتماع"),
        ("बैठक सोमवार को है", "सोमवार"),
        ("réunion à Orléans", "orleans"),
    ],
)
def test_se3_every_script_is_found(filled: Any, text: str, query: str) -> None:
    """SE-3: Thai, Arabic, Hindi and accented French notes are told apart."""
    assert filled(*NOTES, text, text[: len(text) // 3]).ask(query, limit=1) == [text]


@pytest.mark.parametrize(
    "query",
    ['"', '""', "'", "a AND", "NOT", "NEAR(a b)", "body:x", "(((", "x*", "^x", "{a b}: c", "a\0b", "\ud800",
     "-- ;", "🎉", "", " ", "x " * 5000, "字" * 5000, "a" * 10_000, "\\", "%_%", "col : *", "+a -b", "a OR OR b"],
)  # fmt: skip
def test_hostile_question_is_only_text(filled: Any, query: str) -> None:
    """No question is an error, whatever search syntax it holds."""
    assert len(filled(*NOTES).ask(query)) <= 5


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=50, deadline=None)
@given(query=st.text(max_size=60))
def test_any_text_is_a_legal_question(memory: Any, query: str) -> None:
    """Whatever is asked, find answers with relevances between 0 and 1, best first."""
    if not memory.texts:
        for text in NOTES:
            memory.add(text)

    relevances = [hit.relevance for hit in find(memory.store, query, agents=None, limit=9, today=TODAY)]

    assert relevances == sorted(relevances, reverse=True)
    assert all(0 <= each <= 1 for each in relevances)


@pytest.mark.parametrize("query", ["deadline?", "When is the deadline", "DEADLINE", "deadlines"])
def test_punctuation_case_and_stems_do_not_matter(filled: Any, query: str) -> None:
    """A word is found in any form."""
    assert filled(*NOTES).ask(query)[0] == NOTES[6]


def test_old_fact_is_not_buried(memory: Any) -> None:
    """A better match of ten years ago stands before worse ones of today."""
    old = "The boiler was repaired by Okonkwo"
    memory.add(old, day=TODAY - 3650, importance=0.3)
    for n in range(50):
        memory.add(f"The boiler made noise number {n}", importance=0.9)

    assert memory.ask("who repaired the boiler")[0] == old


def test_newer_and_more_important_fact_wins_a_tie(memory: Any) -> None:
    """Between equal matches recency and importance decide."""
    memory.add("red apples here", day=TODAY - 900)
    memory.add("red apples there", day=TODAY)
    memory.add("red apples where", day=TODAY, importance=0.9)

    assert memory.ask("red apples") == ["red apples where", "red apples there", "red apples here"]


def test_faded_fact_stands_a_touch_behind_and_is_found_as_ever(memory: Any) -> None:
    """Over 90 days old and read on fewer than two days: an equal one stands before it, another answer does not."""
    old = memory.add("red apples here", day=TODAY - 91)
    memory.add("red apples there", day=TODAY - 90)
    memory.add("pears and red plums", day=TODAY)

    hits = find(memory.store, "red apples", agents=None, limit=5, today=TODAY)

    assert [memory.texts[hit.n] for hit in hits[:2]] == ["red apples there", "red apples here"]
    assert [hit.parts["faded"] for hit in hits[:2]] == [1.0, 0.98]
    for reads, on_page, faded in ((1, 0, 0.98), (2, 0, 1.0), (0, 1, 1.0)):
        with memory.store.transaction() as tx:
            tx.run("UPDATE derived SET access_days = ?, on_page = ? WHERE n = ?", (reads, on_page, old))
        hits = find(memory.store, "red apples", agents=None, limit=5, today=TODAY)
        assert next(hit.parts["faded"] for hit in hits if hit.n == old) == faded


def test_agent_sees_its_own_memory_only(memory: Any) -> None:
    """A fact of another agent is found only when that agent or everybody is asked."""
    memory.add("shared word alpha", agent="default")
    memory.add("shared word beta", agent="other")

    assert memory.ask("shared word") == ["shared word alpha"]
    assert memory.ask("shared word", agents=["other"]) == ["shared word beta"]
    assert memory.ask("shared word", agents=[]) == []
    assert len(memory.ask("shared word", agents=None)) == 2


def test_fact_that_is_not_live_is_not_found(memory: Any) -> None:
    """An index entry alone does not bring a retracted fact back."""
    n = memory.add("alpha")

    with memory.store.transaction() as tx:
        tx.run("UPDATE derived SET state = 'retracted' WHERE n = ?", (n,))

    assert memory.ask("alpha") == []


def test_as_many_facts_as_asked_for(memory: Any) -> None:
    """A large limit is filled from the matches that there are."""
    for n in range(300):
        memory.add(f"boiler reading {n}")

    assert len(memory.ask("boiler", limit=250)) == 250
    assert len(memory.ask("boiler", limit=1000)) == 300


def test_phrase_stands_before_scattered_words(memory: Any) -> None:
    """Words in the asked order and side by side count more."""
    memory.add("green the door was, and the old house had a painted roof")
    memory.add("the green door of the old house was painted")

    assert memory.ask("green door")[0] == "the green door of the old house was painted"


def test_a_long_span_lifts_less_than_a_day(memory: Any) -> None:
    """That a fact is of this year says little beside what it says; that it is of yesterday says much."""
    memory.add("The boiler was cleaned and serviced", day=TODAY - 400)
    memory.add("Somebody serviced the lift", day=TODAY - 1)

    assert memory.ask("who serviced the boiler this year or last")[0] == "The boiler was cleaned and serviced"
    assert memory.ask("what was serviced yesterday")[0] == "Somebody serviced the lift"


def test_what_is_written_soon_after_a_named_day_is_of_it_a_little(memory: Any) -> None:
    """The day itself, then the two weeks behind it."""
    for days, bird in ((0, "herons"), (12, "otters"), (15, "kites")):
        memory.add(f"We saw {bird} at the lake", day=TODAY - days)
    memory.add_all([(f"The shelf {number} was moved", TODAY - 300) for number in range(20)])

    asked = memory.ask(f"what did we see at the lake on {date(2026, 2, 16) - timedelta(15)}")

    assert asked[:2] == ["We saw kites at the lake", "We saw otters at the lake"]


@pytest.mark.parametrize("query", ["what is due tomorrow?", "明天什么到期", "due on the 17th of February"])
def test_a_relative_day_finds_the_line_that_writes_it_out(memory: Any, query: str) -> None:
    """The line stands in an old note and names the day by its date."""
    memory.add("The tax form is due on 2026-02-18", day=TODAY - 60)
    memory.add("The permit (到期) is due Feb 17", day=TODAY - 61)
    memory.add("The rent is due on 2026-02-19", day=TODAY - 62)

    assert memory.ask(query)[0] == "The permit (到期) is due Feb 17"


def test_named_day_brings_its_facts_first(memory: Any) -> None:
    """A day in the question lifts the facts of that day, even when no word matches."""
    memory.add("we talked about boats", day=TODAY - 30)
    memory.add("pancakes with syrup", day=TODAY - 3)

    assert memory.ask("What did we do on February 13, 2026?")[0] == "pancakes with syrup"


def test_heading_extra_and_context_find_a_fact(memory: Any) -> None:
    """A fact is found by its heading, by what belongs to it and by the block before it, less than by its words."""
    memory.add("done since noon", headings=["Boiler"])
    memory.add("all fine", extra="https://boiler.example/manual")
    memory.add("who repaired the boiler?", note="a")
    memory.add("Okonkwo did", note="a")
    memory.add("the boiler is warm")

    assert set(memory.ask("boiler")) >= {"the boiler is warm", "done since noon", "all fine"}
    assert memory.ask("boiler")[0] == "the boiler is warm"
    assert "Okonkwo did" in memory.ask("who repaired the boiler in the cellar")


def test_answer_stands_before_its_question(memory: Any) -> None:
    """A block that only asks stands behind the one that says it."""
    memory.add("Who repaired the boiler?")
    memory.add("Okonkwo repaired the boiler")

    assert memory.ask("who has repaired our boiler")[0] == "Okonkwo repaired the boiler"


def test_a_block_stands_behind_as_far_as_it_asks(memory: Any) -> None:
    """Who asks back at the end has still said something; who only asks has not."""
    memory.add("Was the boiler repaired on Monday?")
    memory.add("The boiler was repaired on Monday. By whom?")
    memory.add("The boiler was repaired on Monday. By Tom.")

    assert memory.ask("boiler repaired Monday") == [
        "The boiler was repaired on Monday. By Tom.",
        "The boiler was repaired on Monday. By whom?",
        "Was the boiler repaired on Monday?",
    ]


@pytest.mark.parametrize(
    ("said", "mentioned", "query"),
    [
        (
            "Ada Berg: the lease ends soon, I hope",
            "Tom: the lease of Ada Berg ends soon",
            "when does Ada Berg's lease end",
        ),
        ("导演：李安，上海人", "影评：导演来自上海，还是台北", "上海导演"),
    ],
)
def test_a_label_that_the_question_names_counts(memory: Any, said: str, mentioned: str, query: str) -> None:
    """`Ada: …` is what Ada says, so it stands before a like block of somebody else's that speaks of her."""
    memory.add(said)
    memory.add(mentioned)

    hits = _found(memory, query)

    assert [memory.texts[hit.n] for hit in hits] == [said, mentioned]
    assert [bool(hit.parts["label"]) for hit in hits] == [True, False]


@pytest.mark.parametrize(
    ("about", "mentioning", "query"),
    [
        ("Kestrel is the queue of the harbour", "The queue of the harbour replaced Kestrel", "what is Kestrel"),
        ("红隼是港口的消息队列", "港口的消息队列换掉了红隼", "什么是红隼"),
    ],
)
def test_a_block_that_opens_with_what_is_asked_about_counts(
    memory: Any, about: str, mentioning: str, query: str
) -> None:
    """Of two blocks with the same words the one that begins with the asked word says what it is."""
    memory.add(about)
    memory.add(mentioning)

    hits = _found(memory, query)

    assert [memory.texts[hit.n] for hit in hits] == [about, mentioning]
    assert [bool(hit.parts["opens"]) for hit in hits] == [True, False]


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        ("what was our first conversation about", "We spoke of herons"),
        ("最近一次聊天说了什么", "We spoke of otters"),
        ("what did we say the last time we talked", "We spoke of otters"),
    ],
)
def test_the_first_and_the_last_talk_are_days_too(memory: Any, query: str, wanted: str) -> None:
    """The first day that is remembered, and the last one before today, whose talk goes on."""
    for days, bird in ((900, "herons"), (30, "otters"), (0, "kites")):
        memory.add(f"We spoke of {bird}", day=TODAY - days)

    assert memory.ask(query)[0] == wanted


def test_a_single_character_finds_where_it_is_a_word_first(memory: Any) -> None:
    """Free on both sides, then on one, then inside longer words; where it is no word of the fact it is no hit."""
    memory.add("电饭锅坏了")
    memory.add("晚上吃了饭")
    memory.add("饭, 两人份")
    memory.add("kettle", extra="https://饭.example/饭.md 饭师傅")
    memory.add("teapot", note="a")
    memory.add("早饭吃面包", note="a")

    assert memory.ask("饭") == ["饭, 两人份", "晚上吃了饭", "早饭吃面包", "电饭锅坏了"]


def test_a_single_character_finds_headings(memory: Any) -> None:
    """A heading is words too, and counts less."""
    memory.add("两人份", headings=["饭"])
    memory.add("吃了饭")

    assert memory.ask("饭") == ["吃了饭", "两人份"]


def test_only_the_whole_question_is_a_phrase(memory: Any) -> None:
    """A long question's first words, such as a name, are no phrase by themselves."""
    memory.add("安德烈·塔可夫斯基是谁")
    memory.add("安德烈·塔可夫斯基生于一九三二年")

    parts = {memory.texts[hit.n]: hit.parts["phrase"] for hit in _found(memory, "安德烈·塔可夫斯基是谁")}

    assert parts["安德烈·塔可夫斯基是谁"] > 0
    assert parts["安德烈·塔可夫斯基生于一九三二年"] == 0


def test_number_is_wanted(memory: Any) -> None:
    """A question for a time or a number prefers the block that holds one."""
    memory.add("The boiler was repaired in spring 2024", day=TODAY - 300)
    memory.add("The boiler was repaired by Okonkwo")

    assert memory.ask("when was the boiler repaired")[0] == "The boiler was repaired in spring 2024"


@pytest.mark.parametrize("query", ["扫码枪", "barcode scanner"])
def test_blocks_around_a_full_answer_are_no_hits(memory: Any, query: str) -> None:
    """Where a fact answers in its own words, its neighbours and single common characters do not show as noise."""
    memory.add("喝茶不喝咖啡", note="a")
    memory.add("新的扫码枪 barcode scanner 到了", note="a")
    memory.add("Weekly review takes 30 minutes", note="a")
    memory.add("用手机扫一下就行", note="b")

    assert memory.ask(query) == ["新的扫码枪 barcode scanner 到了"]


@pytest.mark.parametrize(
    ("text", "query"),
    [("She went to Riga", "who goes to Riga"), ("We bought two mice", "buy a mouse"), ("the children", "child")],
)
def test_irregular_forms_are_one_word(filled: Any, text: str, query: str) -> None:
    """Went is found by go, children by child."""
    assert filled("Riga is a town", "a trap for rats", text).ask(query)[0] == text


@pytest.mark.parametrize("query", ["deploymnt", "depolyment", "deploiment", "deploymentt", "Deploymenx"])
def test_one_letter_may_be_wrong(filled: Any, query: str) -> None:
    """A word with one letter left out, swapped, changed or added finds the fact."""
    assert filled(*NOTES, "The deployment failed").ask(query) == ["The deployment failed"]


def test_word_that_stands_somewhere_is_not_corrected(filled: Any) -> None:
    """A known word keeps its meaning."""
    assert filled("the horse is brown", "the house is brown").ask("horse") == ["the horse is brown"]


def test_small_agent_is_searched_by_itself(memory: Any) -> None:
    """An agent with few facts finds them among many of others, whichever words those share."""
    for n in range(50):
        memory.add(f"boiler reading {n}")
    memory.add("boiler of the small house", agent="Small_1")

    assert memory.ask("boiler", agents=["Small_1"]) == ["boiler of the small house"]
    assert memory.ask("default", agents=["default"]) == []


def test_common_words_alone_find_the_fact_that_has_them_all(memory: Any) -> None:
    """When every word is common the facts that hold several of them are looked at first."""
    wanted = "moved the server to Tallinn"
    memory.add(wanted)
    with memory.store.transaction() as tx:
        for n in range(2, 2 * RANKED + 2):
            text = f"{'moved' if n % 2 else 'server'} {'tallinn' if n % 3 else 'riga'} {n}"
            memory.texts[n] = text
            tx.run("INSERT INTO facts VALUES (?, 'default', ?, ?, 0, 0)", (n, str(n), text))
            tx.run(
                "INSERT INTO derived VALUES (?, 'default', ?, 'live', '', 0, '', 0, 'fact', '', 0, 0, 0, 0, '', '', 0)",
                (n, str(n)),
            )
            tx.run("INSERT INTO search_index (rowid, body, agent) VALUES (?, ?, '@default')", (n, text))

    assert memory.ask("moved server tallinn", limit=1) == [wanted]


def _found(memory: Any, query: str) -> list[Found]:
    return find(memory.store, query, agents=["default"], limit=5, today=TODAY)


def test_a_strangers_question_is_kept_to_entries_of_its_own(memory: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Beside one agent's many facts a stranger's question is kept to entries of its own from the first look on."""
    memory.add_all([(f"The heron visits the ferry port {n}", TODAY) for n in range(300)])
    asked = []
    plain = Store.execute

    def noted(self: Store, sql: str, parameters: tuple[Any, ...] = ()) -> list[Any]:
        asked.append(parameters)
        return plain(self, sql, parameters)

    monkeypatch.setattr(Store, "execute", noted)

    assert memory.ask("heron ferry port", agents=["stranger"]) == []
    looks = [each for parameters in asked for each in parameters if "heron" in str(each)]
    assert looks
    assert all("@stranger" in each for each in looks)


@pytest.mark.parametrize(
    ("note", "query"),
    [
        ("護照放在書房的抽屜裡", "护照放哪里了"),
        ("护照放在书房的抽屉里", "護照放在哪裡"),
        ("上週五和張工討論了預算", "预算讨论"),
        ("頭髮剪短了", "头发"),
        ("新的網路帳號由小林保管", "网络账号"),
    ],
)
def test_either_script_finds_the_other(filled: Any, note: str, query: str) -> None:
    """Traditional and simplified characters are searched alike."""
    asked = filled("今天的天气很好", "合同在办公室", note, "發票寄出了", "下周去图书馆").ask(query)

    assert asked[0] == note
