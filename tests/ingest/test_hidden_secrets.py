"""Secrets that are hidden or oddly told, beside ordinary text that looks like it (docs/security.md)."""

from collections.abc import Callable
from pathlib import Path

import pytest
from memoryd.ingest.mask import MASK, mask_bytes, mask_text
from memoryd.ingest.mask_views import view_of

_TABLE = Path(__file__).parent / "tables" / "hidden_secrets.txt"
_ROWS = [tuple(line.split(" => ", 1)) for line in _TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
_SECRET = "Vq8r" + "Lm3x"


@pytest.mark.parametrize(("secret", "line"), _ROWS)
def test_a_hidden_secret_goes_and_nothing_else(secret: str, line: str, filled: Callable[[str], str]) -> None:
    """Each secret of a line is one mask, every other character stays, and a trap stays whole."""
    text = wanted = filled(line)
    for each in [] if secret == "-" else secret.split("⟨and⟩"):
        wanted = wanted.replace(filled(each), "■")

    masked, count = mask_text(text)

    assert MASK.sub("■", masked) == wanted
    assert count == wanted.count("■")
    assert mask_text(masked) == (masked, 0)


def test_most_of_the_table_are_traps() -> None:
    """A mask that takes too much is as bad as one that takes too little."""
    traps = sum(secret == "-" for secret, _ in _ROWS)

    assert traps >= 200
    assert len(_ROWS) - traps >= 130


@pytest.mark.parametrize(
    "hidden",
    [
        "pass\u200bword: {}", "password: {}\u200b", "\\u0070assword: {}", '{{\\\\"password\\\\": \\\\"{}\\\\"}}',
        "%2570assword%253D{}", "&#112;assword&#61;{}", "see DB\\_PASSWORD={} here", "ｐassword＝{}",
        "𝐩𝐚𝐬𝐬𝐰𝐨𝐫𝐝: {}", "pass\u00adword:\u00a0{}", "%E5%AF%86%E7%A0%81%3D{}", "&amp;password&amp;#61;{}",
        "contrasen\u0303a: {}", "ﾊﾟｽﾜｰﾄﾞ：{}",
    ],
)  # fmt: skip
def test_a_hiding_sign_hides_no_secret(hidden: str) -> None:
    """Invisible characters, other widths, and the escapes of JSON, HTML, Markdown and addresses, also in each other."""
    masked, count = mask_text(hidden.format(_SECRET))

    assert (_SECRET in masked, count) == (False, 1)


def test_a_hidden_secret_has_the_mask_of_the_plain_one() -> None:
    """Equal secrets have equal masks, so that one can tell that they are equal."""
    plain = mask_text(f"password: {_SECRET}")[0]

    assert mask_text(f"password: {_SECRET[:3]}\u200b{_SECRET[3:]}")[0] == plain
    assert mask_text("password: " + "".join(chr(ord(char) + 0xFEE0) for char in _SECRET))[0] == plain


@pytest.mark.parametrize(
    ("text", "shown", "places"),
    [
        ('a\\"b', 'a"b', [0, 2, 3]), ("x%3Dy", "x=y", [0, 1, 4]), ("a\u200b\u200bb", "ab", [0, 3]),
        ("ｐ=1", "p=1", [0, 1, 2]), ("&quot;k", '"k', [0, 6]), ("\\u5bc6k", "密k", [0, 6]),
    ],
)  # fmt: skip
def test_a_view_knows_where_its_words_stand(text: str, shown: str, places: list[int]) -> None:
    """Each character of a view stands for a span of the text."""
    view = view_of(text)

    assert view is not None
    assert view.text.rstrip() == shown
    assert [view.there(at, at + 1)[0] for at in range(len(shown))] == places
    assert view.there(0, len(shown)) == (0, len(text))


@pytest.mark.parametrize(
    "text", ["plain words, 100 % of them", "C: and D:", "密码：要改！（下周）", "AT&T & co", "tab\there"]
)
def test_ordinary_text_has_no_view(text: str) -> None:
    """Where nothing hides, nothing is looked at twice."""
    assert view_of(text) is None


def test_a_view_has_only_the_lines_around_a_sign() -> None:
    """A page with one escaped line is not looked at twice as a whole."""
    view = view_of("plain line\n" * 1_000 + 'say \\"hi\\"\n' + "plain line\n" * 1_000)

    assert view is not None
    assert view.text.split() == ["plain", "line"] * 2 + ["say", '"hi"'] + ["plain", "line"] * 2


@pytest.mark.parametrize("line", ["pass\u200bword: q{}Z9x\n", '{{\\"password\\": \\"q{}Z9x\\"}}\n', "🔑 q{}Z9xA7b\n"])
def test_hidden_secrets_of_a_large_note_are_all_masked(line: str) -> None:
    """Window by window, every other byte as it was."""
    data = "".join(line.format(f"{number:05}kT") for number in range(20_000)).encode()

    masked, count = mask_bytes(data)

    assert count == 20_000
    assert b"Z9x" not in masked
    assert mask_bytes(masked) == (masked, 0)


@pytest.mark.parametrize(
    ("number", "valid"),
    [("4539148803436467", True), ("4539148803436468", False), ("5425233430109903", True), ("5425233430109904", False),
     ("371449635398431", True), ("7539148803436467", False), ("6222021234567890128", True)],
)  # fmt: skip
def test_a_card_number_has_a_right_checksum(number: str, valid: bool) -> None:
    """Digits behind the word card are one only with the checksum and the beginning of one."""
    assert (mask_text(f"my card {number} is here")[1] == 1) == valid


@pytest.mark.parametrize(
    ("number", "valid"), [("11010519491231002X", True), ("110105194912310021", False), ("440524188001010014", True)]
)
def test_an_identity_number_has_a_right_checksum(number: str, valid: bool) -> None:
    """18 digits behind the word for an identity card are a number of one only with its checksum."""
    assert (mask_text(f"身份证号码 {number}")[1] == 1) == valid
