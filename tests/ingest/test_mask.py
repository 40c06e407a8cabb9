"""Secrets are masked, and nothing else is (README, promise 6). All secrets here are invented."""

import hashlib
import random
import re
import string

import pytest
from memoryd.ingest.mask import MASK, mask_bytes, mask_of, mask_text

_RANDOM = random.Random(7)


def _made(count: int, alphabet: str = string.ascii_letters + string.digits) -> str:
    """Made-up key material with letters and digits in it."""
    return "a7Q" + "".join(_RANDOM.choice(alphabet) for _ in range(count - 3))


_UPPER = string.ascii_uppercase + string.digits
_HEX = "0123456789abcdef"

_PROVIDERS = {
    "github_token": ["ghp_" + _made(36), "gho_" + _made(36), "ghs_" + _made(36), "github_pat_" + _made(60)],
    "gitlab_token": ["glpat-" + _made(20)],
    "aws_key": ["AKIA" + "Q7" + "".join(_RANDOM.choice(_UPPER) for _ in range(14)), "ASIA" + "Z4XN7M2PLK6RT5VB"],
    "anthropic_key": ["sk-ant-" + "api03-" + _made(60)],
    "openai_key": ["sk-" + _made(48), "sk-proj-" + _made(60), "sk-or-v1-" + _made(60)],
    "slack_token": ["xoxb-" + "2841" + "-9920-" + _made(24), "xapp-1-" + _made(30)],
    "google_key": ["AIza" + _made(35)],
    "google_secret": ["GOCSPX-" + _made(28)],
    "stripe_key": ["sk_" + "live_" + _made(24), "rk_" + "test_" + _made(24)],
    "stripe_secret": ["whsec_" + _made(32)],
    "npm_token": ["npm_" + _made(36)],
    "pypi_token": ["pypi-" + "AgEIcHlwaS5vcmc" + _made(60)],
    "telegram_token": ["712345" + "6789:" + "AAE" + _made(32)],
    "jwt": ["eyJhbGciOiJFZERTQSJ9." + "eyJpYXQiOjE3" + _made(30) + "." + _made(60)],
    "sendgrid_key": ["SG." + _made(22) + "." + _made(43)],
    "huggingface_token": ["hf_" + _made(34)],
    "digitalocean_token": ["dop_v1_" + "".join(_RANDOM.choice(_HEX) for _ in range(64))],
    "shopify_token": ["shpat_" + "".join(_RANDOM.choice(_HEX) for _ in range(32))],
    "linear_key": ["lin_api_" + _made(40)],
    "docker_token": ["dckr_pat_" + _made(27)],
    "vault_token": ["hvs." + _made(24)],
    "groq_key": ["gsk_" + _made(52)],
}

_KEYED = [
    ("password: hunter2secret", "hunter2secret"), ("Password: Tr0ub4dor&3", "Tr0ub4dor&3"),
    ("passwd=s3cr3tpw", "s3cr3tpw"),
    ("pwd: P@ssw0rd!", "P@ssw0rd"), ("- **Password**: hunter22x", "hunter22x"),
    ("- **Password:** hunter22x", "hunter22x"),
    ("`password: hunter22x`", "hunter22x"), ('"password": "hunter22x"', "hunter22x"),
    ("the password is hunter22", "hunter22"),
    ("my wifi password is sunny4Day", "sunny4Day"), ("password was changed to n3wOne77", "n3wOne77"),
    ("password: swordfish", "swordfish"), ("password=correcthorse", "correcthorse"),
    ("passphrase: 'blue 7horse runs'", "blue 7horse runs"),
    ("PIN: 4821", "4821"), ("| password | hunter22x |", "hunter22x"), ("Password:\nhunter22x", "hunter22x"),
    ("Password:\n  - hunter22x", "hunter22x"), ("export DB_PASSWORD=kd83jf02", "kd83jf02"),
    ("dbPassword: kd83jf02", "kd83jf02"),
    ("--password kd83jf02", "kd83jf02"), ("mysql --password='kd83jf02'", "kd83jf02"),
    ("curl -u bob:kd83jf02 https://x.example", "kd83jf02"),
    ("token: kd83jf02jf8s", "kd83jf02jf8s"), ("API key: kd83jf02jf8s7dhf", "kd83jf02jf8s7dhf"),
    ("api_key = 'kd83jf02jf8s7dhf'", "kd83jf02jf8s7dhf"),
    ("apiKey: kd83jf02jf8s7dhf", "kd83jf02jf8s7dhf"),
    ("X_API_KEY=9f86d081884c7d659a2feaa0c55ad015", "9f86d081884c7d659a2feaa0c55ad015"),
    ("client_secret: Gx92kd02kdlw", "Gx92kd02kdlw"), ("access token is kd83jf02jf8s", "kd83jf02jf8s"),
    ("secret: Qm9vYmFy1234", "Qm9vYmFy1234"),
    ("Authorization: Bearer kd83jf02jf8s7dhf6", "kd83jf02jf8s7dhf6"),
    ("private key: 0x" + "a1b2c3d4" * 8, "0x" + "a1b2c3d4" * 8),
    ("密码：abc12345", "abc12345"), ("密码: abc12345", "abc12345"), ("密码是 8848", "8848"),
    ("密码是abc12345，别外传", "abc12345"),
    ("密码为 Xk29a8", "Xk29a8"), ("密码改成 Tr0ub4dor", "Tr0ub4dor"), ("wifi 密码 abc12345", "abc12345"),
    ("口令：Xk29!a", "Xk29!a"),
    ("口令是 open5esame", "open5esame"), ("密钥：Zx81kq02mmw", "Zx81kq02mmw"), ("密钥=Zx81kq02mmw", "Zx81kq02mmw"),
    ("令牌：kd83jf02jf8s", "kd83jf02jf8s"), ("令牌是 kd83jf02jf8s", "kd83jf02jf8s"),
    ("私钥：" + "a1b2c3d4" * 8, "a1b2c3d4" * 8),
    ("- **密码**：abc12345", "abc12345"), ("- `密码`: `abc12345`", "abc12345"), ("| 密码 | abc12345 |", "abc12345"),
    ("登录密码：Abc#2345", "Abc#2345"), ("token 是 kd83jf02jf8s", "kd83jf02jf8s"), ("密码设为：246810", "246810"),
    ("postgres://bob:s3cr3tpw@db.example.org/x", "s3cr3tpw"), ("redis://:p4ssw0rd@h:1", "p4ssw0rd"),
    ("https://mira:kd83jf02@git.example.org/r.git", "kd83jf02"), ("mongodb+srv://u:k%40d83@c.example.net", "k%40d83"),
    ("mnemonic: " + "abandon ability about above absent absorb " * 2, "abandon ability about"),
    ("助记词：" + " ".join(["abandon", "ability", "about", "above", "absent", "absorb"] * 2), "abandon ability about"),
]  # fmt: skip

_TRAPS = [
    "The token is expired", "password: required", "password: <your-token>", "token: $TOKEN", "token: ${TOKEN}",
    "token: xxx",
    "token: xxxxxxxxxxxx", "password: ********", "password: ...", "api_key: YOUR_API_KEY",
    "api_key: your-api-key-here",
    "secret: changeme", "password: example", "commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b",
    "see 9f86d08 for the fix",
    "id: 550e8400-e29b-41d4-a716-446655440000",
    "sha256: e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
    "max_tokens: 4096", "tokens: 15000", "token count: 123456", "token: 15k", "tests pass: 12/12", "pass: 14 of 15",
    "password policy: min 8 chars", "secret santa is on 12 December", "the password was changed on 2026-02-13",
    "password: 2026-02-13", "AKIA" + "IOSFODNN7EXAMPLE", "sk-learn-something-long-hyphenated-words",
    "sk-xxxxxxxxxxxxxxxxxxxxxxxx",
    "ghp_" + "x" * 36, "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4",
    "postgres://user:password@localhost/db",
    "postgres://user:<password>@localhost", "https://user:$PW@host.example", "token: process.env.TOKEN",
    "token = os.environ['TOKEN']",
    "token = get_token(user1)", "token: secrets.GITHUB_TOKEN", "the api key is in the vault",
    "API key: see 1Password",
    "password manager is 1Password", "password: /run/secrets/db1", "secret is stored in keychain",
    "reset the password is done",
    "Set password to something strong", "tokenizer: cl100k_base", "token limit is 128k tokens",
    "primary key: user_id2",
    "key: value1234", "keyboard: hhkb2000x", "pin: the map to the wall", "https://example.org/a:b@c",
    "mail bob2@example.org please",
    "password is required for login1", "the secret is patience", "the token is invalid now", "passenger: seat12a",
    "compass: north12e",
    "密码：已修改", "密码是必填项", "密码：6位数字", "密码管理器用 1Password", "token 用完了", "口令是什么",
    "密码：见 1Password", "密钥已轮换",
    "令牌过期了", "密码：<你的密码>", "密码：******", "验证码登录", "密码强度：弱", "忘记密码", "密码错误 3 次",
    "token 数：123456",
    "token 消耗 15k", "密钥长度 2048", "api key 还没申请", "密码本在抽屉里", "暗号是什么",
    "at 10:40:22 the build 2231 passed", "uuid: 63f1a2b4-1111-4222-8333-444455556666",
    'etag: W/"33a64df551425fcc55e4d42a148795d9"',
    "integrity sha512-9eL8k1m3c0xV2b7q5w==", "Session ID: 63f1a2b4-1111-4222-8333-444455556666",
    "v1.2.3-rc.4+build.9d2",
    "docker image app@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08", "token: none",
    "password: null",
    "Bearer authentication is used", "author: token2049 conference", "pwd: `pwd` prints the folder",
]  # fmt: skip


@pytest.mark.parametrize(
    ("kind", "secret"),
    [(kind, secret) for kind, secrets in _PROVIDERS.items() for secret in secrets],
    ids=lambda v: v[:14],
)
def test_provider_keys_are_masked_by_their_form(kind: str, secret: str) -> None:
    """A key of a known provider is masked wherever it stands, under its kind."""
    for text in (f"the key {secret} works", f"- `{secret}`", f"KEY={secret}\n", f"密钥用{secret}即可", f"({secret})"):
        masked, count = mask_text(text)

        assert secret not in masked
        assert count == 1
        assert f"[masked:{kind}:" in masked or "KEY=" in text or "密钥" in text


@pytest.mark.parametrize(("text", "secret"), _KEYED, ids=lambda v: v[:20])
def test_keyed_values_are_masked_in_both_languages(text: str, secret: str) -> None:
    """What stands behind a key that says secret is masked, and the key stays."""
    masked, count = mask_text(text)

    assert secret not in masked
    assert count == 1
    assert masked.count("\n") == text.count("\n")


@pytest.mark.parametrize("text", _TRAPS, ids=lambda v: v[:24])
def test_what_is_no_secret_stays(text: str) -> None:
    """Hashes, ids, placeholders, examples and prose stay as they are."""
    assert mask_text(text) == (text, 0)


def test_a_mask_names_kind_and_digest() -> None:
    """The mask is `[masked:<kind>:<2 hex of sha256>]`, so that equal secrets have equal masks."""
    wanted = hashlib.sha256(b"hunter2secret").hexdigest()[:2]

    assert mask_text("password: hunter2secret")[0] == f"password: [masked:password:{wanted}]"
    assert mask_of("jwt", "x") == mask_of("jwt", "x")


@pytest.mark.parametrize("text", [text for text, _ in _KEYED])
def test_masking_twice_changes_nothing(text: str) -> None:
    """Masks are left alone."""
    masked, _ = mask_text(text)

    assert mask_text(masked) == (masked, 0)


def test_a_pem_key_is_masked_line_by_line() -> None:
    """Each line of a private key is masked, marks and line count stay, what follows is untouched."""
    body = "\n".join("MII" + _made(61) for _ in range(4))
    key = f"-----BEGIN RSA PRIVATE {'KEY'}-----\n{body}\n-----END RSA PRIVATE {'KEY'}-----"
    text = f"before\n> {key.replace(chr(10), chr(10) + '> ')}\nafter\n"

    masked, count = mask_text(text)

    assert count == 6
    assert masked.count("\n") == text.count("\n")
    assert masked.startswith("before\n> [masked:private_key:")
    assert masked.endswith("]\nafter\n")
    assert "MII" not in masked
    assert mask_text(masked) == (masked, 0)


def test_a_pem_key_without_an_end_is_masked_while_it_looks_like_one() -> None:
    """A cut-off key goes on to the first line of words."""
    text = f"-----BEGIN PRIVATE {'KEY'}-----\nMII{_made(60)}\nnow the garden\n"

    masked, count = mask_text(text)

    assert count == 2
    assert masked.endswith("\nnow the garden\n")


def test_bytes_outside_secrets_stay_exact() -> None:
    """Bad UTF-8, NUL and CRLF survive masking byte for byte."""
    masked, count = mask_bytes(b"caf\xe9 \x00\r\npassword: hunter2secret\r\n\xff\r\n")

    assert count == 1
    assert re.sub(rb"\[masked:[^\]]*\]", b"*", masked) == b"caf\xe9 \x00\r\npassword: *\r\n\xff\r\n"


def test_bytes_without_secrets_are_handed_back_as_they_are() -> None:
    """No copy is made where nothing was masked."""
    data = b"- plain words\n" * 50_000

    assert mask_bytes(data)[0] is data


def test_a_secret_deep_in_a_large_note_is_masked() -> None:
    """Large notes are masked window by window; none hides at a border."""
    secret = "ghp_" + _made(36)
    data = "".join(f"- line {n} of many\n" + (f"- {secret}\n" if n % 997 == 0 else "") for n in range(60_000)).encode()

    masked, count = mask_bytes(data)

    assert count == data.count(secret.encode())
    assert secret.encode() not in masked


def test_utf16_notes_are_masked_too() -> None:
    """A UTF-16 note keeps its encoding and loses its secret."""
    data = b"\xff\xfe" + "password: hunter2secret\r\n".encode("utf-16-le")

    masked, count = mask_bytes(data)

    assert count == 1
    assert MASK.search(masked.decode("utf-16"))
    assert "hunter2secret" not in masked.decode("utf-16")


def test_a_line_that_is_only_a_secret_is_no_fact(parse) -> None:
    """A line with nothing but a secret has the state `secret`; others are facts with the span masked."""
    secret = "ghp_" + _made(36)
    note = parse(f"- {secret}\n- token {secret} here\n")

    assert [state for state, _ in note.lines] == ["secret", "fact"]
    assert secret not in note.mentions[0].text
    assert [(finding.code, finding.line) for finding in note.findings] == [("secret", 1), ("secret", 2)]
    assert note.masked == 2


def test_a_secret_bared_by_markup_never_reaches_a_fact(parse) -> None:
    """A key that is split by emphasis in the bytes is masked in the words."""
    note = parse("- pass**word**: hunter2secret\n")

    assert "hunter2secret" not in note.mentions[0].text


@pytest.mark.parametrize(
    ("before", "kind"),
    [
        ("https://discord.com/api/webhooks/", "discord_webhook"),
        ("https://store.blob.example.com/box/file?sv=2024&sig=", "signature"),
    ],
)
def test_an_address_that_opens_a_door_is_masked(before, kind):
    """A webhook's address and a signed link are keys themselves; the place that they lead to stays readable."""
    key = ("123456789012345678/" if kind == "discord_webhook" else "") + "aB3dE5gH7jK9mN1pQ2rS4tU6vW8xY0zA" * 2

    masked, count = mask_text(f"see {before}{key} for it")

    assert (count, masked.startswith(f"see {before}[masked:{kind}:")) == (1, True)
    assert masked.endswith("] for it")
