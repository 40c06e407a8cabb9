"""Which new block carries on which old one (docs/memory.md, 2)."""

import pytest
from memoryd.ingest.similar import successors
from memoryd.model import fact_id


def _note(*texts: str) -> list[tuple[str, str]]:
    return [(fact_id("default", text), text) for text in texts]


def _pairs(old: list[str], new: list[str]) -> list[tuple[str, str]]:
    text_of = {fact_id("default", text): text for text in (*old, *new)}
    return [(text_of[after], text_of[before]) for after, before in successors(_note(*old), _note(*new))]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The alpaca weighs 60 kg", "The alpaca weighs 72 kg"),
        ("Decided to use raw JSON-RPC", "Decided to use plain JSON-RPC"),
        ("Ask Mira about the invoice", "Ask Mira about the invoices of May"),
        ("The server is in Tokyo", "The server is in Osaka"),
        ("meeting at ten", "Meeting at ten o'clock"), ("Port is 8080", "Port is 9090"), ("buy milk", "buy oat milk"),
        ("Backup runs nightly", "Backup runs nightly at two"), ("teh pump needs oil", "the pump needs oil"),
        ("Rent is due on the 1st", "Rent is due on the 3rd"),
        ("服务器在东京机房", "服务器在大阪机房"), ("会议改到周三下午", "会议改到周四下午"),
        ("体重 60 公斤", "体重 72 公斤"), ("决定使用浏览器自动化", "决定使用无头浏览器自动化"),
        ("明天下午开会", "明天上午开会"), ("米拉喜欢喝绿茶", "米拉喜欢喝红茶"),
        ("密钥每月轮换一次", "密钥每周轮换一次"), ("房租每月一号交", "房租每月三号交"),
    ],
)  # fmt: skip
def test_an_edited_block_carries_on(before: str, after: str) -> None:
    """A block replaced by a similar one at the same place is its successor."""
    assert _pairs(["first", before, "last"], ["first", after, "last"]) == [(after, before)]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The alpaca weighs 60 kg", "Rosa is a llama"), ("Ask Mira about the invoice", "The pump needs oil"),
        ("buy milk", "call the bank"),
        ("服务器在东京机房", "米拉喜欢喝绿茶"), ("明天下午开会", "房租涨了"),
        ("Decided to move the database", "It rained all day in the valley"),
        ("茶", "咖啡"), ("x", "y"), ("Backup runs nightly", "Lunch by the river was good"), ("浇花", "买菜"),
    ],
)  # fmt: skip
def test_a_different_block_does_not(before: str, after: str) -> None:
    """A block replaced by something else has no successor."""
    assert _pairs(["first", before, "last"], ["first", after, "last"]) == []


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (["a fact of tea", "other"], ["other"]), (["other"], ["other", "a fact of tea"]),
        (["tea one", "tea two"], ["tea two", "tea one"]),
        (["the pump needs oil", "x"], ["the pump needs oil", "x", "the pump needs oils"]), ([], ["a"]), (["a"], []),
        (["same"], ["same"]),
    ],
)  # fmt: skip
def test_removals_additions_and_moves_are_no_edits(old: list[str], new: list[str]) -> None:
    """What is only gone, only new or only moved carries nothing on."""
    assert _pairs(old, new) == []


def test_a_block_that_still_stands_is_nobodys_successor() -> None:
    """A fact that stays elsewhere in the note is not taken over by its neighbour."""
    assert _pairs(["tea is hot", "z", "tea is hot"], ["tea is hots", "z", "tea is hot"]) == []


def test_undo_and_redo_of_an_edit_ends() -> None:
    """60 → 72 → 60 kg: each step has one successor, back and forth."""
    kg60, kg72 = ["The alpaca weighs 60 kg"], ["The alpaca weighs 72 kg"]

    assert _pairs(kg60, kg72) == [(kg72[0], kg60[0])]
    assert _pairs(kg72, kg60) == [(kg60[0], kg72[0])]


def test_each_block_is_used_once_and_the_most_alike_win() -> None:
    """Of several edited neighbours each finds its own."""
    old = ["The red pump needs oil", "The blue door needs paint"]
    new = ["The blue door needs new paint", "The red pump needs more oil"]

    assert sorted(_pairs(old, new)) == sorted(zip(new, reversed(old), strict=True))


def test_a_rewrite_of_thousands_of_lines_is_quick() -> None:
    """A rewritten note is compared by position, not every line with every other."""
    old = [f"old line number {n} about the pump" for n in range(3_000)]
    new = [f"new line number {n} about the pump" for n in range(3_000)]

    assert len(successors(_note(*old), _note(*new))) == 3_000
