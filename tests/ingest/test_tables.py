"""Right answers that were written before the rules were looked at again, half of them Chinese.

First run on the held-out tables: category 114, weight 123, people 123, topics 124, emotion 123, outcome 121 and
actions 108 of 124; findings at a precision of 1.0 (tool), 0.70 (action) and 1.0 (decision); edits 60 of 60.
What each set of sentences and of keyed values said when it was new stands above it in its table; the last set of
sentences, which corrected nothing any more: 13 right hits of 15, 1 false one.
"""

from collections.abc import Callable
from pathlib import Path

import pytest
from memoryd.ingest.dates import first_date
from memoryd.ingest.distil import distilled, summary
from memoryd.ingest.findings import is_action, is_decision, named_tool
from memoryd.ingest.mask import mask_text
from memoryd.ingest.similar import RATIO, similarity, successors
from memoryd.ingest.traits import actions
from memoryd.model import fact_id

_TABLES = Path(__file__).parent / "tables"


def _rows(name: str, mark: str = "|", most: int = -1) -> list[list[str]]:
    lines = (_TABLES / name).read_text("utf-8").splitlines()
    return [[cell.strip() for cell in line.split(mark, most)] for line in lines if line and not line.startswith("#")]


_BLOCKS = [dict(zip(("heading", "text", "category", "weight", "people", "topics", "emotion", "outcome", "action"),
                    [*row, *[""] * 9], strict=False)) for row in _rows("blocks.txt")]  # fmt: skip
_JUDGES: dict[str, Callable[[str], bool]] = {
    "tool": lambda text: bool(named_tool(text)), "action": is_action, "decision": is_decision,
}  # fmt: skip


def _answers(parse, row: dict[str, str]) -> dict[str, str]:
    """What the rules say of one row, in the words of the table."""
    (said,) = parse(f"## {row['heading']}\n- {row['text']}\n").mentions
    action = said.metadata.actions[0] if said.metadata.actions else ""
    return {
        "category": said.category,
        "weight": "high" if said.importance >= 0.7 else "mid" if said.importance >= 0.5 else "low",
        "people": ", ".join(sorted(said.metadata.people)),
        "topics": ", ".join(said.metadata.topics),
        "emotion": said.metadata.emotion,
        "outcome": said.metadata.outcome,
        "action": row["action"] if row["action"] and action.startswith(row["action"]) else action,
    }


@pytest.mark.parametrize(
    ("field", "least"),
    [("category", 1.0), ("weight", 0.95), ("people", 0.95), ("topics", 1.0), ("emotion", 0.95), ("outcome", 0.95),
     ("action", 0.93)],
)  # fmt: skip
def test_a_block_is_understood(parse, field: str, least: float) -> None:
    """For each field nearly all of at least 120 blocks get the right answer, an empty one included."""
    wrong = [(row["text"], said[field]) for row in _BLOCKS
             if (said := _answers(parse, row))[field] != ", ".join(sorted(row[field].split(", ")))]  # fmt: skip

    assert len(_BLOCKS) >= 120
    assert 1 - len(wrong) / len(_BLOCKS) >= least, wrong


def test_half_of_the_blocks_are_chinese() -> None:
    """The table is not English with a few exceptions."""
    assert sum(not row["text"].isascii() for row in _BLOCKS) * 2 >= len(_BLOCKS)


@pytest.mark.parametrize(("text", "short", "shorter"), _rows("short_forms.txt", "=>"))
def test_short_forms_read_like_this(text: str, short: str, shorter: str) -> None:
    """Speaker, filler and asides go first; then whole sentences; then words, with an ellipsis."""
    assert (distilled(text), summary(text)) == (short, shorter)


@pytest.mark.parametrize("judge", _JUDGES)
def test_findings_are_right_nine_times_in_ten(judge: str) -> None:
    """Of more than 100 sentences, half traps, what is called a finding is one at a precision of 0.9 at least."""
    rows = [row for row in _rows("sentences.txt") if row[0] == judge]
    right = [text for _, label, text in rows if label == "yes"]
    hits = [text for text in right if _JUDGES[judge](text)]
    false = [text for _, label, text in rows if label == "no" and _JUDGES[judge](text)]

    assert len(_rows("sentences.txt")) >= 100
    assert len(hits) / (len(hits) + len(false)) >= 0.9, false
    assert len(hits) / len(right) >= 0.85, [text for text in right if text not in hits]


def test_what_is_done_is_named() -> None:
    """Of the deeds in a sentence most are found as they are written, and what is found is one at 0.9 at least."""
    found = wanted = named = 0
    for text, deeds in _rows("actions.txt"):
        expected, said = [each for each in deeds.split(";") if each], actions(text)
        wanted, named = wanted + len(expected), named + len(said)
        found += sum(any(phrase.startswith(each) for phrase in said) for each in expected)

    assert found / named >= 0.9
    assert found / wanted >= 0.9


@pytest.mark.parametrize(("kind", "before", "after"), _rows("edits.txt"))
def test_an_edit_carries_on_and_a_trap_does_not(kind: str, before: str, after: str) -> None:
    """A block at the same place carries on the old one when their ratio is at least 0.6, and only then."""
    old = [(fact_id("default", text), text) for text in ("first", before, "last")]
    new = [(fact_id("default", text), text) for text in ("first", after, "last")]

    assert (similarity(before, after) >= RATIO) == (kind == "edit")
    assert successors(old, new) == ([(new[1][0], old[1][0])] if kind == "edit" else [])


@pytest.mark.parametrize(("kind", "line"), _rows("secrets.txt", " | "))
def test_a_secret_is_masked_and_a_trap_is_not(kind: str, line: str) -> None:
    """Keyed values in both languages go; policies, hashes, counts and placeholders stay."""
    masked, count = mask_text(line)

    assert (count > 0) == (kind == "secret")
    assert (masked == line) == (kind == "trap")


@pytest.mark.parametrize(("secret", "line"), _rows("keyed_values.txt", " => ", 1))
def test_a_keyed_value_is_masked_and_nothing_else(secret: str, line: str, filled: Callable[[str], str]) -> None:
    """Pairs, codes, flags, columns, connection strings and lists in both languages lose the value; traps stay whole."""
    secret, text = filled(secret), filled(line)
    masked, count = mask_text(text)

    if secret == "-":
        assert (masked, count) == (text, 0)
    else:
        assert secret not in masked
        assert masked.count("\n") == text.count("\n")
        assert mask_text(masked) == (masked, 0)


@pytest.mark.parametrize(("text", "first"), _rows("dates.txt"))
def test_the_first_date_of_a_heading(text: str, first: str) -> None:
    """In either order, in digits or words of both languages; never one that is not certain or does not exist."""
    assert first_date(text) == first
    assert first_date(text.translate(str.maketrans("sSik", "ſſı\u212a"))) == first
