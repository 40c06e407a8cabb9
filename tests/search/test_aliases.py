"""Words that mean the same, from a file of the person's own."""

import os
from pathlib import Path
from typing import Any

import pytest
from memoryd.search import find
from memoryd.search.aliases import Aliases, groups_of


@pytest.fixture
def aliases(tmp_path: Path) -> Aliases:
    (tmp_path / "aliases.txt").write_text(
        "# ours\nfive-factor, trust verification, 五元组、审查\nk8s = kubernetes\n", "utf-8"
    )
    return Aliases(tmp_path / "aliases.txt")


@pytest.mark.parametrize(
    ("query", "others"),
    [
        ("five-factor", ["trust verification", "五元组", "审查"]),
        ("the Five Factor check", ["trust verification", "五元组", "审查"]),
        ("五元组审查", ["five-factor", "trust verification"]),
        ("k8s upgrade", ["kubernetes"]),
        ("factor five", []),
        ("", []),
    ],
)
def test_other_members_of_the_group(aliases: Aliases, query: str, others: list[str]) -> None:
    """A member in the question brings in the other members, however it is spelt."""
    assert aliases.of(query) == others


@pytest.mark.parametrize("query", ["five-factor", "五元组", "审查"])
def test_gate_finds_trust_verification(aliases: Aliases, memory: Any, query: str) -> None:
    """five-factor finds trust verification; without the group nothing could."""
    for text in ("Trust verification needs two approvals", "The garden needs water", "喝茶不喝咖啡"):
        memory.add(text)

    def found(others: list[str]) -> list[str]:
        return [
            memory.texts[hit.n] for hit in find(memory.store, query, agents=None, limit=5, today=20_500, aliases=others)
        ]

    assert found(aliases.of(query)) == ["Trust verification needs two approvals"]
    assert found([]) == []


def test_own_words_stand_before_aliases(aliases: Aliases, memory: Any) -> None:
    """What says the asked word itself stands first."""
    for text in ("kubernetes was upgraded", "k8s was upgraded"):
        memory.add(text)

    hits = find(memory.store, "k8s", agents=None, limit=5, today=20_500, aliases=aliases.of("k8s"))

    assert [memory.texts[hit.n] for hit in hits] == ["k8s was upgraded", "kubernetes was upgraded"]


def test_file_is_read_anew(tmp_path: Path) -> None:
    """A file that comes, changes or goes is followed at the next question."""
    path = tmp_path / "aliases.txt"
    aliases = Aliases(path)
    assert aliases.of("one") == []

    path.write_text("one, two\n", "utf-8")
    assert aliases.of("one") == ["two"]

    path.write_text("one, three\n", "utf-8")
    os.utime(path, ns=(1, 1))
    assert aliases.of("one") == ["three"]

    path.unlink()
    assert aliases.of("one") == []


def test_lines_without_a_group_are_left_out() -> None:
    """Remarks, empty lines and single words make no group; bad bytes break nothing."""
    assert groups_of("# a, b\n\nalone\n a , , b | c \n") == [["a", "b", "c"]]


def test_a_pipe_in_the_files_place_holds_nobody_up(tmp_path):
    """It is read on the thread of the store: opening it would hang everything for ever."""
    os.mkfifo(tmp_path / "aliases.txt")

    assert Aliases(tmp_path / "aliases.txt").of("k8s") == []
