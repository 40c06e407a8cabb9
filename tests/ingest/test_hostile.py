"""Hostile and odd bytes cost little and hide nothing (docs/memory.md, 1: a huge note; promise 6)."""

import random
import subprocess
import sys
import time
from pathlib import Path

import pytest
from memoryd.ingest import pieces
from memoryd.ingest.mask import mask_bytes, mask_text
from memoryd.ingest.parse import parse_note
from memoryd.ingest.source import read_source

_MB2 = 2_000_000
_KB500 = 500_000
_SECRET = "kd83jf02" + "jf8s7dhf"

_REPEATS = {
    "keys": "pass:", "assignments": "password=", "words": "the token is ", "capitals that grow": "İpass:",
    "urls": "https://u:p", "web tokens": "-eyJaaaaaaaa", "half tokens": "eyJaaaaaaaa.", "curl": "curl x -u ",
    "user flags": " -u a:", "flags": "--token=", "dashes": "-", "dashes and key": "password--", "bearer": "bearer ",
    "phrases": "mnemonic: abcd ", "stars": "password****", "blanks": "password" + " " * 40, "quotes": 'password:"x',
    "code": "password:`", "masks": "[masked:password:3f] pass:hunter2x ", "keys with values": "password: aB3xyz9 ",
    "base64": "aws a/B1", "private keys": "-----BEGIN RSA PRIVATE KEY----- ", "chinese": "密码是", "letters": "a",
    "bots": "123456789:", "logins": "login: a / ", "recovery codes": "backup codes: ", "networks": "wifi key ",
    "door codes": "door code*`*", "seed words": "seed phrase abcd ", "elements": "<password>", "net use": "net use a ",
    "cookies": "cookie: session=Vq8rLm3xTz; ", "crumbs": "cookie: a=", "escapes": '{\\"password\\": \\"Vq8rLm3x\\"}',
    "percent signs": "password%3D", "invisible": "password: Vq8r\u200bLm3x ", "columns": "password,token\n",
    "aligned": "password  token\n", "said before": "Vq8rLm3x is the password ", "said in chinese": "Vq8rLm3x是密码",
    "cards": "4539 1488 ", "digits": "4", "tags": "password</b><b>", "below": "password:\n\n", "backslashes": "\\",
    "one-time codes": "your code is ", "creds": "creds a:", "credentials": "login a b c ", "entities": "&quot;",
    "pass phrases": "passphrase is abc def ghi ", "qualified": "password for a ", "accounts": "AC" + "0" * 32 + " ",
}  # fmt: skip


def _cpu_s(text: str) -> float:
    start = time.process_time()
    mask_text(text)
    return time.process_time() - start


def _repeat(unit: str, size: int) -> str:
    return (unit * (size // len(unit) + 1))[:size]


@pytest.fixture(scope="module")
def floor_s() -> float:
    """CPU seconds for masking 500 kB of ordinary keyed lines of 40 characters."""
    return min(_cpu_s(_repeat("the password: of the garden door is blue\n", _KB500)) for _ in range(2))


@pytest.mark.parametrize("kind", _REPEATS)
def test_a_hostile_line_is_masked_in_linear_time(kind: str, floor_s: float) -> None:
    """A single line of 500 kB costs at most 30 times what ordinary keyed lines of that size cost."""
    assert _cpu_s(_repeat(_REPEATS[kind], _KB500)) <= max(1.0, 30 * floor_s)


@pytest.mark.parametrize("kind", ["keys", "keys with values"])
def test_two_megabytes_in_one_line_cost_four_times_as_much(kind: str, floor_s: float) -> None:
    """The costliest kinds, at the size up to which notes are parsed: still a few CPU seconds."""
    assert _cpu_s(_repeat(_REPEATS[kind], _MB2)) <= max(4.0, 4 * 30 * floor_s)


@pytest.mark.parametrize("gap", ["password:" + " " * _MB2 + "é", "password:\n" + "- " * (_MB2 // 2), "-" * _MB2])
def test_a_hostile_run_of_blanks_is_read_once(gap: str, floor_s: float) -> None:
    """Blanks, bullets and dashes between a key and nothing are not tried again at each of their characters."""
    assert _cpu_s(gap) <= max(2.0, 30 * floor_s)


@pytest.mark.parametrize("behind", range(-40, 41, 8))
@pytest.mark.parametrize("last", ["password:\n", "- **API key**:\n  - ", "密码：\n"])
def test_a_value_on_the_line_behind_a_window_is_masked(last: str, behind: int) -> None:
    """Where the windows of a large note are cut, a key and its value on the next line stay together."""
    filler = b"the garden is green and wide\n" * 20_000
    cut = (1 << 18) + behind
    start = filler.rfind(b"\n", 0, cut) + 1
    data = filler[:start] + last.encode() + _SECRET.encode() + b"\n" + filler[start:]

    masked, count = mask_bytes(data)

    assert count == 1
    assert _SECRET.encode() not in masked
    assert masked.count(b"\n") == data.count(b"\n")


def test_secrets_at_every_place_of_a_large_note_are_masked() -> None:
    """A megabyte of lines with a secret in each is masked whole, whatever the windows cut."""
    drawn = random.Random(3)
    secrets = [f"q{drawn.getrandbits(60):x}Z9" for _ in range(20_000)]
    data = "".join(f"door {n}\npassword:\n{secret}\n" for n, secret in enumerate(secrets)).encode()

    masked, count = mask_bytes(data)

    assert count == len(secrets)
    assert b"Z9\n" not in masked
    assert mask_bytes(masked) == (masked, 0)


def test_an_open_private_key_across_windows_is_masked() -> None:
    """A key block without an end that begins before a window's end is masked on both sides of it."""
    body = "".join(f"{'MIIEvQ' + str(n) + 'x7Kq' * 14}\n" for n in range(100, 112))
    filler = b"the garden is green and wide\n" * 9_050
    data = filler[: (1 << 18) - 300] + b"\n-----BEGIN PRIVATE KEY-----\n" + body.encode() + b"\nfree words\n" + filler

    masked, _ = mask_bytes(data)

    assert b"MIIEvQ" not in masked
    assert b"free words" in masked


@pytest.mark.parametrize(
    ("before", "behind"),
    [("secret_key: ", " and more"), ('"authToken": "', '", "x": 1'), ("set the token to ", " today"),
     ("Cookie: sid=", "; a=b"), ("creds mira:", " here"), ("token: `", "`"), ("login: mira / ", " it is"),
     ("", " is the token now")],
)  # fmt: skip
def test_a_long_value_is_masked_to_its_end(before: str, behind: str) -> None:
    """What was judged by its head is masked whole: no tail of a long key stays."""
    value = "aB3" + "x7Kq9" * 400

    masked, count = mask_text(before + value + behind)

    assert count == 1
    assert "x7Kq9" not in masked
    assert masked.startswith(before + "[masked:")
    assert masked.endswith("]" + behind)


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be", "utf-16"])
def test_utf16_is_read_and_masked_with_and_without_its_mark(codec: str) -> None:
    """UTF-16 is known by its zero bytes where no mark says so; its secrets are masked in its own encoding."""
    text = "# 2026-02-13\n- 浇花 in the garden\n- password: " + _SECRET + "\n"
    data = text.encode(codec)

    masked, count = mask_bytes(data)
    note = parse_note(
        data, path="memory/2026-02-13.md", agent_id="default", date="2026-02-13", is_page=False, max_bytes=_MB2
    )

    assert count == 1
    assert _SECRET.encode(codec)[2:] not in masked
    assert [each.text for each in note.mentions] == ["浇花 in the garden", note.mentions[1].text]
    assert "utf16" in [finding.code for finding in note.findings]
    assert len(note.lines) == 3


@pytest.mark.parametrize("data", [b"a\0b\n", b"tea\0\0\0\0 and \0milk\0\n", "浇花\0\n".encode(), b"\0" * 64])
def test_stray_zero_bytes_are_not_utf16(data: bytes) -> None:
    """A few zero bytes in UTF-8 make no UTF-16."""
    assert not read_source(data).utf16


def test_windows_of_utf16_lose_nothing() -> None:
    """A large UTF-16 note is cut at its lines, keys and values together."""
    text = "".join(f"- line {n} 浇花\n密码：\nq{n}x7Kq9Zt\n" for n in range(30_000))
    data = b"\xff\xfe" + text.encode("utf-16-le") + b"\0"

    masked, count = mask_bytes(data)

    assert count == 30_000
    assert masked[2:-1].decode("utf-16-le").count("\n") == text.count("\n")
    assert masked[-1:] == b"\0"


def _told(parse, text: str) -> list[object]:
    note = parse(text)
    return [note.lines, note.mentions, note.findings]


@pytest.mark.parametrize(
    "unit",
    [
        "- item {0}\n", "## Day {0}\n\n- a {0}\n  goes on\n- b {0}\n\n```sh\nls {0}\n```\n\n",
        "Tasks of {0}:\n\n- [ ] wash {0}\n  - deep {0}\n\n", "> said {0}\n> twice\n\nword {0}\n\n",
        "[a{0}]: https://a.example/{0}\n\nsee [x][a{0}] and {0}\n\n", "| a | b |\n|---|---|\n| {0} | c |\n\n",
        "<div>\nword {0}\n</div>\n\n", "1. one {0}\n2. two {0}\n\n***\n\n", "- a {0}\n\n  - b {0}\n\n    para {0}\n\n",
    ],
)  # fmt: skip
def test_a_long_note_read_in_pieces_reads_like_a_whole(parse, monkeypatch, unit: str) -> None:
    """Where a note of many lines is cut for the parser changes no line's state and no fact."""
    text = "# Long\n\n" + "".join(unit.format(n) for n in range(60))
    whole = _told(parse, text)

    for size in (7, 16, 33):
        monkeypatch.setattr(pieces, "_PIECE_LINES", size)
        assert _told(parse, text) == whole


@pytest.mark.parametrize(
    "text",
    [
        "> " * 10_000 + "x", "- " * 10_000 + "x", "[" * 10_000 + "x" + "]" * 10_000, "<div>" * 10_000, "<!--" * 10_000,
        "**a" * 10_000, "[[a" * 10_000, "\n".join("  " * n + f"- x{n}" for n in range(1_000)),
        "\n".join(">" * n + f" x{n}" for n in range(1, 1_200)), "|a" * 10_000 + "|\n" + "|-" * 10_000 + "|\n|b|",
        "---\n" + "a: [" * 10_000 + "\n---\nx", "`" * 10_000 + "x", "10:00 " * 10_000, "# " * 10_000,
    ],
    ids=["quotes", "bullets", "brackets", "html", "comments", "bold", "wikilinks", "nested list", "nested quotes",
         "wide table", "front matter", "ticks", "times", "hashes"],
)  # fmt: skip
def test_ten_thousand_levels_are_a_state_each(parse, text: str) -> None:
    """Nesting deeper than any parser follows is read in a few CPU seconds, each line with a state."""
    start = time.process_time()
    note = parse(text)

    assert time.process_time() - start < 10
    assert sum(note.totals.values()) == text.count("\n") + 1


def test_a_line_of_three_megabytes_is_too_large(parse) -> None:
    """A note above the limit is counted and masked, not parsed."""
    note = parse("word " * 600_000 + "password: " + _SECRET + "\n")

    assert (note.state, note.totals, note.masked) == ("too_large", {"too_large": 1}, 1)
    assert _SECRET.encode() not in note.body


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read from /proc")
@pytest.mark.parametrize(
    ("unit", "state"), [("- a1\n", "too_large"), ("| a | b |\n", "too_large"), ("> # x\n", "too_large"), ("\n", "ok")]
)
def test_two_megabytes_of_tiny_blocks_cost_bounded_memory(unit: str, state: str) -> None:
    """IN-5: a note of more blocks than anybody writes is `too_large`; the process that reads it stays below 200 MB."""
    script = (
        "from memoryd.ingest.parse import parse_note\n"
        f"note = parse_note({unit!r}.encode() * (2_000_000 // {len(unit)}), path='a.md', agent_id='a', date='',"
        " is_page=False, max_bytes=2_000_000)\n"
        # Not ru_maxrss: that starts at the size of the process which forked this one.
        "peak = open('/proc/self/status').read().split('VmHWM:')[1].split()[0]\n"
        "print(note.state, sum(note.totals.values()), int(peak) * 1024)"
    )

    done = subprocess.run([sys.executable, "-P", "-c", script], capture_output=True, text=True, check=True)
    found, lines, peak = done.stdout.split()

    assert (found, int(lines)) == (state, _MB2 // len(unit))
    assert int(peak) < 200_000_000
