"""docs/data.md says what the code does: tables, columns of the merge rules, closed lists, numbers."""

import re
import typing
from pathlib import Path

import pytest
from memoryd import model
from memoryd.config import ScoringSettings, WarmSettings
from memoryd.ingest.findings import CODES
from memoryd.ingest.names import RESERVED
from memoryd.tiers.score import FROZEN_BELOW

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/data.md").read_text("utf-8")
SCHEMA = "".join(file.read_text("utf-8") for file in sorted((ROOT / "store").glob("*.sql")))
LISTS = {
    "a line": model.LineState,
    "a fact": model.FactState,
    "the tier of a live fact": model.Tier,
    "a note": model.NoteState,
    "the cloud": model.SyncState,
}


@pytest.mark.parametrize("title", LISTS)
def test_the_page_lists_exactly_the_states_of_the_code(title):
    """Each closed list is the code's, in its order."""
    (row,) = re.findall(rf"^\| {title} \| (.+) \|$", PAGE, re.MULTILINE)

    assert tuple(re.findall(r"`(\w+)`", row)) == typing.get_args(LISTS[title])


def test_the_page_names_every_table():
    """The table of rows has those that are sent, with their keys; the paragraph below it has all others."""
    tables = dict(re.findall(r"CREATE (?:VIRTUAL )?TABLE (\w+)(.*?);\n", SCHEMA, re.DOTALL))
    sent = dict(re.findall(r"^\| `(\w+)` \| ([\w, ]+) \|", PAGE, re.MULTILINE))
    (paragraph,) = re.findall(r"^Every other table is local.*?\n\n", PAGE, re.DOTALL | re.MULTILINE)
    local = set(re.findall(r"`(\w+)`", paragraph))

    assert set(sent) | local == set(tables)
    assert not set(sent) & local
    for name, key in sent.items():
        assert (
            f"PRIMARY KEY ({key})" in tables[name]
            or f"UNIQUE ({key})" in tables[name]
            or f"{key} TEXT PRIMARY KEY" in tables[name]
        )


def test_the_page_has_the_numbers_of_the_tiers():
    """Thresholds and the e-folding time are the code's defaults."""
    warm, scoring = WarmSettings(), ScoringSettings()

    assert f"its score is at least {warm.eviction_threshold} or it is at most {warm.retention_days} days old" in PAGE
    assert f"fits into {warm.max_kb} KB" in PAGE
    assert f"from a score of {FROZEN_BELOW} on" in PAGE
    assert f"e^(−age / {scoring.half_life_days:.0f}) × (1 + {scoring.reinforcement_boost} ×" in PAGE


def test_the_page_on_notes_lists_the_findings_and_the_reserved_folders():
    """docs/memory.md has every code of a finding and every folder that is no agent."""
    page = (ROOT / "docs/memory.md").read_text("utf-8")
    (findings,) = re.findall(r"^- \*\*Findings\*\*.*?(?=\n\n)", page, re.DOTALL | re.MULTILINE)
    (folders,) = re.findall(r"^\| a first-level folder named (.+?) \|", page, re.MULTILINE)

    assert set(re.findall(r"`(\w+_\w+|secret|utf16)`", findings)) == set(CODES)
    assert set(re.split(r", | or ", folders)) == RESERVED
