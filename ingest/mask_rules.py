"""Which spans of a text are secrets: provider keys by their form, other values by the key in front of them.

Never secrets: git SHAs, UUIDs and hashes without a key that says so, placeholders and example values,
prose (`The token is expired`, `password: required`), and masks.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache
from typing import TypeAlias

from .cues import lowered
from .mask_values import KeyKind, is_key_material, is_placeholder, is_secret_value

Span: TypeAlias = tuple[int, int, str]
Rule: TypeAlias = Callable[[str], Iterable[Span]]

_B = r"(?<![A-Za-z0-9_])"
_E = r"(?![A-Za-z0-9_])"

_PROVIDERS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "github_token", rf"{_B}gh[pousr]_[A-Za-z0-9]{{30,255}}{_E}"),
    (("github_pat_",), "github_token", rf"{_B}github_pat_[A-Za-z0-9_]{{22,255}}"),
    (("glpat-",), "gitlab_token", rf"{_B}glpat-[A-Za-z0-9_-]{{20,}}"),
    (("akia", "asia", "abia", "acca"), "aws_key", rf"{_B}A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}{_E}"),
    (("sk-ant-",), "anthropic_key", rf"{_B}sk-ant-[A-Za-z0-9_-]{{20,}}"),
    (("sk-",), "openai_key", rf"{_B}sk-(?!ant-)(?:(?:proj|svcacct|admin|or-v1)-)?[A-Za-z0-9_-]{{20,}}"),
    (("xox", "xapp-"), "slack_token", rf"{_B}(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{{10,}}"),
    (("hooks.slack.com",), "slack_webhook", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}"),
    (("/api/webhooks/",), "discord_webhook", r"(?<=/api/webhooks/)\d{15,22}/[A-Za-z0-9_-]{40,}"),
    (("sig=",), "signature", r"(?<=[?&]sig=)[A-Za-z0-9%+/_-]{30,}={0,2}"),
    (("aiza",), "google_key", rf"{_B}AIza[A-Za-z0-9_-]{{30,}}"),
    (("gocspx-",), "google_secret", rf"{_B}GOCSPX-[A-Za-z0-9_-]{{20,}}"),
    (("ya29.",), "google_token", rf"{_B}ya29\.[A-Za-z0-9_-]{{20,}}"),
    (("_live_", "_test_"), "stripe_key", rf"{_B}(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{{16,}}"),
    (("whsec_",), "stripe_secret", rf"{_B}whsec_[A-Za-z0-9+/=]{{24,}}"),
    (("npm_",), "npm_token", rf"{_B}npm_[A-Za-z0-9]{{30,}}{_E}"),
    (("pypi-",), "pypi_token", rf"{_B}pypi-[A-Za-z0-9_-]{{40,}}"),
    (("sg.",), "sendgrid_key", rf"{_B}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}"),
    (("hf_",), "huggingface_token", rf"{_B}hf_[A-Za-z0-9]{{30,}}{_E}"),
    (("dop_v1_",), "digitalocean_token", rf"{_B}dop_v1_[a-f0-9]{{64}}"),
    (("shpat_", "shpss_"), "shopify_token", rf"{_B}shp(?:at|ss)_[a-fA-F0-9]{{32}}"),
    (("gsk_",), "groq_key", rf"{_B}gsk_[A-Za-z0-9]{{40,}}"),
    (("lin_api_",), "linear_key", rf"{_B}lin_api_[A-Za-z0-9]{{30,}}"),
    (("ntn_",), "notion_token", rf"{_B}ntn_[A-Za-z0-9]{{40,}}"),
    (("dckr_pat_",), "docker_token", rf"{_B}dckr_pat_[A-Za-z0-9_-]{{20,}}"),
    (("hvs.",), "vault_token", rf"{_B}hvs\.[A-Za-z0-9_-]{{20,}}"),
    (("age-secret-key-1",), "age_key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,}"),
    (("dapi",), "databricks_token", rf"{_B}dapi[a-f0-9]{{32}}{_E}"),
    (("r8_",), "replicate_token", rf"{_B}r8_[A-Za-z0-9]{{36,}}"),
    (("xai-",), "xai_key", rf"{_B}xai-[A-Za-z0-9]{{40,}}"),
    (("pplx-",), "perplexity_key", rf"{_B}pplx-[A-Za-z0-9]{{40,}}"),
    (("accountkey=",), "azure_key", r"(?<=AccountKey=)[A-Za-z0-9+/]{80,}={0,2}"),
)
_TELEGRAM = re.compile(r"\d{8,10}:[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")
_DISCORD = re.compile(rf"{_B}[MNO][A-Za-z0-9_-]{{23,27}}\.[A-Za-z0-9_-]{{6,7}}\.[A-Za-z0-9_-]{{27,}}")
_JWT_BEGIN = re.compile(rf"{_B}eyJ")
_JWT = re.compile(r"eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]{8,}+){2,}+")
_JWT_RUN = re.compile(r"[A-Za-z0-9_-]*+")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=])")
_URL_PASSWORD = re.compile(r"://[^\s/:@?#]*:([^\s/]+)@(?=[\w\[.-])")
_BEARER = re.compile(r"\b(?:bearer|authorization:\s*(?:basic|token))\s+([A-Za-z0-9._~+/-]{16,}=*)", re.IGNORECASE)
_CURL_USER = re.compile(r"\s(?:-u|--user)[ \t]+['\"]?[\w.@-]{1,80}:([^\s'\"]+)")
_CURL_REACH = 400
"""So many characters before `-u` the word curl may stand, on the same line."""
_SSHPASS = re.compile(r"\bsshpass\s+-p\s*['\"]?([^\s'\"]+)")

_WORD: dict[str, KeyKind] = {
    "password": "password", "passwd": "password", "passphrase": "password", "pwd": "password", "passcode": "password",
    "pass": "password", "pw": "password", "pin": "password", "密码": "password", "口令": "password",
    "secret": "secret", "token": "token", "令牌": "token", "密钥": "secret_key", "秘钥": "secret_key",
    "私钥": "private_key",
    "助记词": "seed_phrase", "credential": "secret", "kennwort": "password", "contraseña": "password",
    "パスワード": "password", "비밀번호": "password",
}  # fmt: skip
KEY = re.compile(
    r"pass(?:wor[dt]|wd|phrase|code)s?|mot de passe|kennwort|contraseña|パスワード|비밀번호|passw|pwd|pass|pw"
    r"|pin(?:[ _-]?code)?|credentials?"
    r"|(?:api|access|auth|secret|private|signing|encryption|account|client|service|master"
    r"|bot)[ _-]?(?:access[ _-]?)?(?:key|token|secret)"
    r"|secret|token|seed[ _-]?phrase|mnemonic|recovery[ _-]?phrase|密码|密碼|口令|密钥|秘钥|私钥|令牌|助记词"
)
"""Searched in lower-case text: Python looks for literal beginnings only when case counts."""
_SEPARATOR = (
    r"(?P<sep>[*_`\"'”’\]）)]{0,4}+[ \t]*+(?:[:：=＝]{1,2}=?>?|[=-]>|→|\|"
    r"|(?<![A-Za-z])(?i:(?:is |was )?(?:changed|set|reset) to|(?:is|was)(?: (?:now|still|again))?)(?![A-Za-z])"
    r"|[,，][ \t]?(?i:it['’]s|it is)(?![A-Za-z])"
    r"|(?:(?:还|仍|仍然|就|也|现在|一直)?是(?:老的|旧的|原来的)?|为|は|는|은"
    r"|(?:改成|改为|换成|设为|设成|更新为|重置为)了?)[:：]?)[ \t]*+|[ \t]++(?=[\x21-\x7e“‘]))"
    r"(?P<break>\r?\n[ \t>*+-]*+)?"
)
"""Possessive throughout: a hostile run of blanks or stars must not be tried again at each of its characters."""
_VALUE = (
    r"[*_]{0,3}+[ \t]*+(?:`(?P<code>[^`\n]{1,1024}+)`|\"(?P<double>[^\"\n]{1,1024}+)\"|'(?P<single>[^'\n]{1,1024}+)'"
    r"|“(?P<curly>[^”\n]{1,1024}+)”|‘(?P<curl>[^’\n]{1,1024}+)’|「(?P<corner>[^」\n]{1,1024}+)」"
    r"|(?P<bare>[\x21-\x7e]{1,256}+))"
)
_GROUPS = ("code", "double", "single", "curly", "curl", "corner", "bare")
_RUN = re.compile(r"[\x21-\x7e]*")
_JUDGED = 256
"""So many characters of a bare value are looked at; a secret goes on to the end of its run."""
_BEHIND_KEY = re.compile(_SEPARATOR + _VALUE)
_FLAG = re.compile(
    r"(?P<key>password|passwd|token|secret|api-?key)[= ](?P<quote>['\"]?)(?P<bare>[^\s'\"]+)", re.IGNORECASE
)
_FLAG_LEAD = re.compile(r"--?[a-z-]{0,40}\Z", re.IGNORECASE)
_LEAD_REACH = 42
KEY_NEEDLES = (
    "pass", "pwd", "pw", "pin", "secret", "token", "credential", "key", "mnemonic", "phrase",
    "密码", "口令", "密钥", "秘钥", "私钥", "令牌", "助记词", "密碼", "kennwort", "contraseña",
    "パスワード", "비밀번호",
)  # fmt: skip
_BARE_KEYS = frozenset({"password", "passwd", "passphrase", "passcode", "pwd", "pw", "passwort", "kennwort"})
"""Behind these a made-up value needs no sign between: `password kd83jf02`; behind other keys a long one only."""
_BARE_END = re.compile(r"[,;`\"']")
_TRAILING = ".,;:!?)]}>*_|"


def _by_form(kind: str, pattern: str) -> Rule:
    compiled = re.compile(pattern)

    def rule(text: str) -> Iterator[Span]:
        for match in compiled.finditer(text):
            if not is_placeholder(match[0]) and any(c.isdigit() or c.isupper() for c in match[0][4:]):
                yield match.start(), match.end(), kind

    return rule


def _telegram(text: str) -> Iterator[Span]:
    for match in _TELEGRAM.finditer(text):
        if not _is_ascii_alnum(text[match.start() - 1 : match.start()]) and not is_placeholder(match[0]):
            yield match.start(), match.end(), "telegram_token"


def _discord(text: str) -> Iterator[Span]:
    for match in _DISCORD.finditer(text):
        yield match.start(), match.end(), "discord_token"


def _jwt(text: str) -> Iterator[Span]:
    """Web tokens. What fails at one `eyJ` fails at each later one of the same run: they share what follows it."""
    dead = 0
    for begin in _JWT_BEGIN.finditer(text):
        at = begin.start()
        if at < dead:
            continue
        match = _JWT.match(text, at)
        if match is not None and not is_placeholder(match[0]):
            yield at, match.end(), "jwt"
        run = match or _JWT_RUN.match(text, at)
        dead = run.end() if run else at


def _aws_secret(text: str) -> Iterator[Span]:
    """40 characters of base64 in the neighbourhood of an AWS key or of the word secret."""
    for match in _AWS_SECRET.finditer(text):
        run = match[0]
        if run.islower() or run.isupper() or run.isalpha() or not any(char.isalpha() for char in run):
            continue
        near = text[max(0, match.start() - 160) : match.start()].lower()
        if ("akia" in near or "asia" in near or "aws" in near) and not is_placeholder(run):
            yield match.start(), match.end(), "aws_secret"


def _in_url(text: str) -> Iterator[Span]:
    for match in _URL_PASSWORD.finditer(text):
        if not is_placeholder(match[1]) and not match[1].startswith("[masked:"):
            yield match.start(1), match.end(1), "url_password"


def _first_group(pattern: re.Pattern[str], kind: KeyKind) -> Rule:
    def rule(text: str) -> Iterator[Span]:
        for match in pattern.finditer(text):
            if is_secret_value(match[1], kind, strict=False, alone=True):
                yield match.start(1), match.end(1), kind

    return rule


def _curl_user(text: str) -> Iterator[Span]:
    for match in _CURL_USER.finditer(text):
        near = text[max(0, match.start() - _CURL_REACH) : match.start()].rpartition("\n")[2]
        if "curl" in near and is_secret_value(match[1], "password", strict=False, alone=True):
            yield match.start(1), match.end(1), "password"


def _flags(text: str) -> Iterator[Span]:
    for match in _FLAG.finditer(text):
        if _FLAG_LEAD.search(text[max(0, match.start() - _LEAD_REACH) : match.start()]) is None:
            continue
        if is_secret_value(match["bare"], kind_of(match["key"]), strict=False, alone=True):
            yield match.start("bare"), match.end("bare"), kind_of(match["key"])


def _keyed(text: str) -> Iterator[Span]:
    """Values behind a key. The search goes on right behind the key, so a chain of keys hides nothing."""
    at = 0
    lower = lowered(text)
    while (found := KEY.search(lower, at)) is not None:
        at = found.end()
        key = text[found.start() : at]
        if not _stands_alone(text, found.start(), at):
            continue
        match = _BEHIND_KEY.match(text, at)
        if match is None:
            continue
        group = next(name for name in _GROUPS if match[name] is not None)
        value = match[group] if group != "bare" else _bare(match["bare"])
        start = match.start(group)
        if _judged(text, key, match, value):
            at = start + len(value) if len(value) < _JUDGED or group != "bare" else _run_end(text, start)
            yield start, at, kind_of(key)


def _run_end(text: str, start: int) -> int:
    """Where a value ends that is longer than what was judged of it: all of it is the secret."""
    run = _RUN.match(text, start)
    return run.end() if run else start


def _stands_alone(text: str, start: int, end: int) -> bool:
    """Whether the key is a word or the last part of one (`DB_PASSWORD`, `dbPassword`), not a piece (`passenger`)."""
    if _is_han(text[start]):
        return True
    before, behind = text[max(0, start - 1) : start], text[end : end + 1]
    if _is_ascii_alnum(behind):
        return False
    if not _is_ascii_alnum(before) or (before.islower() and text[start].isupper()):
        return True
    # PGPASSWORD: capitals throughout, and a key too long to be the end of another word.
    return before.isupper() and end - start > 4 and text[start:end].isupper()


def _judged(text: str, key: str, match: re.Match[str], value: str) -> bool:
    separator = match["sep"].strip(" \t*_`\"'”’])）")
    end = match.end() if match["bare"] is None else match.start("bare") + len(value)
    after = text[end : end + 200].partition("\n")[0]
    weak = separator in ("", "|") or match["break"] is not None
    worded = separator.isalpha() or " " in separator
    if separator == "" and not _is_han(key) and match["code"] is None:
        made_up = _is_mixed(value) if key.lower() in _BARE_KEYS else is_key_material(value)
        return made_up and is_secret_value(value, "password", strict=True, alone=True)
    if worded and (key.lower() in ("pass", "pin") or (key.lower() == "pw" and not _is_mixed(value))):
        return False
    if key.lower().startswith("pin") and not any(char.isdigit() for char in value):
        return False
    alone = not after.strip(" \t\r*_`\"'”|.,;!)。，；！）、\\<")
    return is_secret_value(value, kind_of(key), strict=weak or worded, alone=alone, before_han=_is_han(after))


def _is_mixed(value: str) -> bool:
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def _bare(run: str) -> str:
    """A value without quotes: up to a comma or semicolon that ends it, less closing punctuation."""
    end = _BARE_END.search(run, 1)
    if end is not None:
        run = run[: end.start()]
    return run.rstrip(_TRAILING) if not run.startswith(("<", "[", "{", "$", "*")) else run


def _is_ascii_alnum(text: str) -> bool:
    return text.isalnum() and text.isascii()


def _is_han(text: str) -> bool:
    return bool(text) and "\u3400" <= text[0] <= "\u9fff"


@lru_cache(maxsize=512)
def kind_of(key: str) -> KeyKind:
    """What kind of secret a key announces."""
    low = key.lower().replace("密碼", "密码").strip("-")
    if "private" in low:
        return "private_key"
    for word, kind in _WORD.items():
        if word in low and not ("key" in low and kind in ("secret", "token", "password")):
            return kind
    if "phrase" in low or "mnemonic" in low:
        return "seed_phrase"
    return "api_key" if "api" in low else "secret_key"


ALWAYS: tuple[Rule, ...] = (_telegram,)
BY_NEEDLE: tuple[tuple[tuple[str, ...], Rule], ...] = (
    *((needles, _by_form(kind, pattern)) for needles, kind, pattern in _PROVIDERS),
    (("discord",), _discord),
    (("akia", "asia", "aws"), _aws_secret),
    (("://",), _in_url),
    (("bearer", "authorization"), _first_group(_BEARER, "token")),
    (("eyj",), _jwt),
    (("curl",), _curl_user),
    (("sshpass",), _first_group(_SSHPASS, "password")),
    (("--",), _flags),
    (KEY_NEEDLES, _keyed),
)
