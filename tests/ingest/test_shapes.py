"""The shapes of real notes: each is read as its writer meant it."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it.token import Token
from memoryd.ingest import words
from memoryd.ingest.words import Words


def _texts(note):
    return [mention.text for mention in note.mentions]


def _states(note):
    return [state for state, _ in note.lines]


def test_key_value_bullets_keep_key_and_value(parse) -> None:
    """`**Key**: value` is a fact of both words."""
    assert _texts(parse("- **Status**: green\n- **状态：** 好\n")) == ["Status: green", "状态： 好"]


def test_a_label_bullet_is_context_for_what_stands_below(parse) -> None:
    """A bullet that ends in a colon and has matter below is a heading of its children only."""
    note = parse("- Tools:\n  - hammer\n  - saw\n- nails\n")

    assert _states(note) == ["heading", "fact", "fact", "fact"]
    assert [mention.headings for mention in note.mentions] == [["Tools"], ["Tools"], []]


def test_a_label_bullet_with_nothing_below_is_a_fact(parse) -> None:
    """A colon alone makes no heading."""
    assert _texts(parse("- Tools:\n- nails\n")) == ["Tools:", "nails"]


def test_a_bold_line_is_a_heading_if_something_stands_below(parse) -> None:
    """A line that is bold only heads what follows; the last thing in a section is a fact."""
    note = parse("## Day\n\n**Garden**\n\nWatered the roses\n\n## Night\n\n**All quiet**\n")

    assert _states(note) == ["heading", "blank", "heading", "blank", "fact", "blank", "heading", "blank", "fact"]
    assert note.mentions[0].headings == ["Day", "Garden"]
    assert _texts(note)[1] == "All quiet"


@pytest.mark.parametrize(
    ("heading", "clock"),
    [
        ("## 07:12 UTC — Round", "07:12"), ("## 凌晨 02:30 - 浇花", "02:30"), ("## 8:15 PM", "20:15"),
        ("## 5 点", "05:00"),
        ("## 03:00-11:20 sleep", "03:00"), ("## 2026-05-07 14:45 ET", "14:45"), ("## ~19:40", "19:40"),
        ("## 7 AM", "07:00"),
        ("## 下午 3 点半", "15:30"), ("## 晚上 9:05 读书", "21:05"), ("## 中午 12:30", "12:30"),
    ],
)  # fmt: skip
def test_a_time_in_a_heading_dates_the_blocks_below(parse, heading: str, clock: str) -> None:
    """Clock times and day parts in headings are the time of what stands below."""
    assert parse(f"{heading}\n- it happened\n").mentions[0].date == f"2026-02-13T{clock}Z"


@pytest.mark.parametrize(
    ("bullet", "text", "clock"),
    [
        ("10:40 Decided", "Decided", "10:40"), ("凌晨 02:30 浇花", "浇花", "02:30"),
        ("8:15 PM dinner", "dinner", "20:15"),
        ("**09:05** stand-up", "stand-up", "09:05"), ("[10:40] call", "call", "10:40"),
        ("10:05上班", "上班", "10:05"),
        ("下午3点半开会", "开会", "15:30"), ("11:00-12:15 swim", "swim", "11:00"),
    ],
)  # fmt: skip
def test_a_leading_time_is_taken_off_the_words(parse, bullet: str, text: str, clock: str) -> None:
    """A leading clock time is the mention's time and no part of its text."""
    mention = parse(f"- {bullet}\n").mentions[0]

    assert (mention.text, mention.date) == (text, f"2026-02-13T{clock}Z")


@pytest.mark.parametrize("text", ["5 点建议", "John 3:16 is short", "16:90 is no time", "ratio 4:30 stays"])
def test_what_only_looks_like_a_time_stays(parse, text: str) -> None:
    """Numbers that are no leading clock time stay in the words."""
    mention = parse(f"- {text}\n").mentions[0]

    assert (mention.text, mention.date) == (text, "2026-02-13")


@pytest.mark.parametrize(
    ("bullet", "state"),
    [
        ("- [x] 浇花", "done"), ("- [ ] 浇花", "open"), ("- TODO 浇花", "open"), ("- DONE 浇花", "done"),
        ("- LATER 浇花", "open"),
        ("- NOW 浇花", "open"), ("1. [X] 浇花", "done"), ("- [PENDING] 浇花", "open"), ("- 待办：浇花", "open"),
    ],
)  # fmt: skip
def test_tasks_in_every_notation(parse, bullet: str, state: str) -> None:
    """Check boxes and outliner marks give the task state and leave the words."""
    mention = parse(f"{bullet}\n").mentions[0]

    assert (mention.text, mention.task_state, mention.kind) == ("浇花", state, "task")
    assert "task_state" in mention.metadata.explicit


def test_unfilled_templates_are_empty_text(parse) -> None:
    """Bullets and boxes without words, and emoji alone, are no facts."""
    note = parse("- \n- [ ] \n- 🎉\n-\n")

    assert _states(note) == ["empty_text"] * 4
    assert note.mentions == []


def test_very_short_chinese_items_are_facts(parse) -> None:
    """One character can mean something."""
    assert _texts(parse("- [x] 跑\n- 茶\n")) == ["跑", "茶"]


def test_nested_tab_indented_and_numbered_lists_are_facts_each(parse) -> None:
    """Outliner indentation by tabs and numbered lists are read item by item."""
    assert _texts(parse("- a\n\t- b\n\t\t- c\n1. d\n2. e\n")) == ["a", "b", "c", "d", "e"]


def test_an_indented_first_line_is_words_not_code(parse) -> None:
    """Indented text of notes is a nested thought, never a code block."""
    assert _texts(parse("\t- indented\n\n    also words\n")) == ["indented", "also words"]


def test_a_sentence_above_a_rule_stays_a_fact(parse) -> None:
    """`---` right under a sentence is a rule, not an underline that makes it a heading."""
    note = parse("Saw a heron at dusk.\n---\n")

    assert _states(note) == ["fact", "rule"]


def test_underlined_titles_are_headings(parse) -> None:
    """A title with a line of `=` or a long line of `-` under it is a heading."""
    note = parse("Garden\n======\n- roses\n\nPlans\n-----\n- tulips\n")

    assert _states(note) == ["heading", "heading", "fact", "blank", "heading", "rule", "fact"]
    assert [mention.headings for mention in note.mentions] == [["Garden"], ["Garden", "Plans"]]


def test_tables_are_facts_row_by_row(parse) -> None:
    """Body rows are facts with their cells joined; a cell too many is not lost."""
    note = parse("| host | role |\n|---|---|\n| kestrel | build |\n| wren | db | spare |\n")

    assert _states(note) == ["table_head", "table_head", "fact", "fact"]
    assert _texts(note) == ["kestrel | build", "wren | db | spare"]
    assert note.mentions[0].kind == "row"


def test_quotes_and_callouts(parse) -> None:
    """A quote is a fact of kind quote; a callout's mark is no word."""
    note = parse("> be kind\n\n> [!warning] Careful\n> hot\n")

    assert [(each.text, each.kind) for each in note.mentions] == [("be kind", "quote"), ("Careful hot", "quote")]


def test_wikilinks_tags_and_importance_are_marks(parse) -> None:
    """Wikilinks show their words, tags and the importance leave the text."""
    mention = parse("- met [[Mira Stone|Mira]] at [[Harbour]] #travel/spain #fun (importance: 0.9)\n").mentions[0]

    assert mention.text == "met Mira at Harbour"
    assert (mention.category, mention.importance) == ("travel/spain", 0.9)
    assert mention.metadata.topics == ["travel/spain", "fun", "Mira Stone", "Harbour"]
    assert mention.metadata.explicit == ["category", "importance"]


@pytest.mark.parametrize(
    "text", ["issue #123 is fixed", "colour #00ff7f fits", "C# is a language", "a_b_c and 2 * 3 * 4"]
)
def test_what_is_no_markup_stays(parse, text: str) -> None:
    """Numbers, colours and names with signs in them are words."""
    assert _texts(parse(f"- {text}\n")) == [text]


def test_a_line_of_tags_only_says_its_tags(parse) -> None:
    """Tags alone still are a fact."""
    assert _texts(parse("- #travel\n")) == ["travel"]


def test_a_fence_belongs_to_the_block_before_it(parse) -> None:
    """The code and its commands go to the block above under the same heading."""
    note = parse("## Setup\nInstall it:\n\n```sh\npip install falcon\n# note\n```\n\n## Other\n```py\nx = 1\n```\n")

    assert [state for state in _states(note) if state != "blank"] == [
        "heading", "fact", "code", "code", "code", "code", "heading", "fact", "code", "code",
    ]  # fmt: skip
    assert (note.mentions[0].code, note.mentions[0].metadata.commands) == (
        "pip install falcon\n# note", ["pip install falcon"],
    )  # fmt: skip
    assert (note.mentions[1].text, note.mentions[1].kind) == ("x = 1", "code")


def test_an_open_fence_is_found_and_its_lines_are_code(parse) -> None:
    """A fence that never closes is code to the end, and said so."""
    note = parse("- a\n\n```\ncode\n- not a bullet\n")

    assert _states(note) == ["fact", "blank", "code", "code", "code"]
    assert [(finding.code, finding.line) for finding in note.findings] == [("unclosed_fence", 3)]


def test_html_comments_definitions_and_rules_have_their_states(parse) -> None:
    """Tags, comments and link definitions are no facts; words between tags are."""
    note = parse("<div>\nwords inside\n</div>\n\n<!-- to\nself -->\n\n[a]: https://a.example\n\nsee [this][a]\n\n***\n")

    assert [state for state in _states(note) if state != "blank"] == [
        "html", "fact", "html", "comment", "comment", "link_definition", "fact", "rule",
    ]  # fmt: skip
    assert note.mentions[1].metadata.urls == ["https://a.example"]


def test_words_that_look_like_tags_stay(parse) -> None:
    """`<name>` is a word, `<b>` is markup."""
    assert _texts(parse("- run it as <name> with <b>care</b>\n")) == ["run it as <name> with care"]


def test_the_same_words_twice_are_two_mentions(parse) -> None:
    """A repeated line adds a mention and is a duplicate."""
    note = parse("- tea\n- tea\n")

    assert [state for state, _ in note.lines] == ["fact", "duplicate"]
    assert _texts(note) == ["tea", "tea"]


def test_a_forgotten_line_makes_no_mention(parse) -> None:
    """What was forgotten in a stored body stays forgotten."""
    note = parse("- [forgotten]\n- tea\n\n> [forgotten]\n")

    assert [state for state in _states(note) if state != "blank"] == ["forgotten", "fact", "forgotten"]


def test_our_own_block_is_never_memory(parse) -> None:
    """TR-7: lines of the managed block are own output; a copy of it in a daily note too."""
    block = f"<!-- memoryd:begin -->\n<!-- memoryd:sha256={'a' * 64} -->\n- learned\n<!-- memoryd:end -->\n"

    page, copy, talk = (
        parse(f"- mine\n{block}", is_page=True), parse(f"- mine\n{block}"), parse("- a\n<!-- memoryd:begin -->\n- b\n")
    )  # fmt: skip

    assert _states(page) == _states(copy) == ["fact", *["own_output"] * 4]
    assert _texts(talk) == ["a", "b"]


def test_outliner_properties_are_not_memory(parse) -> None:
    """`id::` and `collapsed::` are the outliner's own; other properties belong to their block."""
    note = parse("- a book\n  author:: Mira\n  id:: 63f1a2b4-1111-4222-8333-444455556666\n  collapsed:: true\n")

    assert _texts(note) == ["a book author: Mira"]
    assert _states(note) == ["fact", "continuation", "front_matter", "front_matter"]


def test_lines_with_keys_or_times_of_their_own_are_facts_each(parse) -> None:
    """A paragraph is cut where a line begins a thought of its own."""
    assert _texts(parse("**Who**: Mira\n**Where**: harbour\n\n08:10 up\n09:00 coffee\n\nplain\nwrapped\n")) == [
        "Who: Mira", "Where: harbour", "up", "coffee", "plain wrapped",
    ]  # fmt: skip


def test_a_url_or_command_on_the_next_line_belongs_to_the_fact(parse) -> None:
    """A link or command alone below a block or inside its item is that block's metadata."""
    note = parse("- found a tool\n  - https://tool.example\n\nSet it up.\n\n$ npm install tool\n")

    assert _texts(note) == ["found a tool", "Set it up."]
    assert note.mentions[0].metadata.urls == ["https://tool.example"]
    assert note.mentions[1].metadata.commands == ["npm install tool"]


def test_same_facts_whatever_the_line_ends_and_mark(parse) -> None:
    """CRLF, a byte order mark and a missing last newline change nothing about the facts."""
    text = "# A\n- one\n- two\n\nthree\nmore"
    wanted = _texts(parse(text))

    for variant in (text.replace("\n", "\r\n"), "\ufeff" + text, text + "\n", text.replace("\n", "\n\n", 1)):
        assert _texts(parse(variant)) == wanted


def test_words_are_folded_and_composed(parse) -> None:
    """Blanks of every kind are folded, and decomposed letters are the same fact as composed ones."""
    assert _texts(parse("- cafe\u0301\u00a0 \u3000noir\u200b\n")) == ["café noir"]


def test_nul_and_bad_bytes_become_replacement_characters(parse) -> None:
    """The texts hold U+FFFD, the body keeps the bytes, the bad line is a finding."""
    nul, bad = parse(b"- nul \x00 here\n"), parse(b"- fine\n- caf\xe9\r\n")

    assert (_texts(nul), nul.body) == (["nul \ufffd here"], b"- nul \x00 here\n")
    assert (_texts(bad)[1], bad.body) == ("caf\ufffd", b"- fine\n- caf\xe9\r\n")
    assert [(finding.code, finding.line) for finding in bad.findings] == [("invalid_utf8", 2)]


def test_an_empty_note_is_fine(parse) -> None:
    """No bytes, no lines, no findings."""
    note = parse(b"")

    assert (note.lines, note.mentions, note.state) == ([], [], "ok")


@settings(max_examples=600, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [
                "a",
                "b1",
                " ",
                "**",
                "*",
                "_",
                "`",
                "[",
                "]",
                "(",
                ")",
                "<",
                ">",
                "&amp;",
                ":",
                "：",
                "浇",
                "\n",
                "~~",
                "\\",
                "!",
                ".",
            ]
        ),
        max_size=16,
    ).map("".join)
)
def test_the_short_way_reads_like_the_parser(raw: str) -> None:
    """Blocks that skip the inline parser have the same words and code spans as with it."""
    raw = raw.strip()
    full, quick = Words("", links=[], code=[]), Words("", links=[], code=[])
    simple = words._simple(raw, quick, linked=False)
    if simple is not None:
        tokens: list[Token] = []
        words.MARKDOWN.inline.parse(raw, words.MARKDOWN, {"references": {}}, tokens)
        parsed = "".join(words._token_text(token, full) for token in tokens)

        assert (simple.split(), quick.code) == (parsed.split(), full.code)
