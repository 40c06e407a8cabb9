"""The pages that say what never happens here name the tests that hold it: none is missing, none is left out."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
ORIGINAL = [
    f"{letter}{number}" for letter, last in zip("DFCWS", (15, 7, 3, 9, 6), strict=True) for number in range(1, last + 1)
]
ELSEWHERE = {"WA": 16, "IN": 9, "TR": 8, "SE": 4, "ST": 4, "DA": 8, "SY": 8}
ROWS = {
    page: dict(
        re.findall(r"^\| ([A-Z]+-?\d+) \|.*\| ([^|]+) \|$", (ROOT / "docs" / page).read_text("utf-8"), re.MULTILINE)
    )
    for page in ("original.md", "problems.md")
}


@pytest.fixture(scope="module")
def functions():
    """The name of every test function."""
    return {
        node.name
        for file in (ROOT / "tests").rglob("test_*.py")
        for node in ast.walk(ast.parse(file.read_text("utf-8")))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }


@pytest.mark.parametrize(("page", "row"), [(page, row) for page, rows in ROWS.items() for row in rows])
def test_each_row_names_tests_that_exist(page, row, functions):
    """A row has at least one test, and each is a function of this repository."""
    named = set(re.findall(r"`(test_\w+)`", ROWS[page][row]))

    assert named
    assert named <= functions


def test_no_defect_of_the_original_is_left_out():
    """Every number has its row."""
    assert [*ROWS["original.md"]] == ORIGINAL


def test_no_known_problem_is_left_out():
    """Every number of every group has its row."""
    assert [*ROWS["problems.md"]] == [f"{group}-{n}" for group, last in ELSEWHERE.items() for n in range(1, last + 1)]
