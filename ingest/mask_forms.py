"""Keys that are known by their form alone, wherever they stand, and some that need a word nearby."""

import re
from collections.abc import Iterator

from .mask_rules import Rule, Span
from .mask_values import is_placeholder

_B = r"(?<![A-Za-z0-9_])"
_E = r"(?![A-Za-z0-9_])"

_PROVIDERS: tuple[tuple[tuple[str, ...], str, str], ...] = (
    (("ghp_", "gho_", "ghu_", "ghs_", "ghr_"), "github_token", rf"{_B}gh[pousr]_[A-Za-z0-9]{{30,255}}{_E}"),
    (("github_pat_",), "github_token", rf"{_B}github_pat_[A-Za-z0-9_]{{22,255}}"),
    (
        ("glpat-", "gldt-", "glrt-", "glcbt-", "glptt-", "glft-", "glimt-", "glagent-", "glsoat-", "glffct-"),
        "gitlab_token",
        rf"{_B}gl(?:pat|dt|rt|cbt|ptt|ft|imt|agent|soat|ffct)-[A-Za-z0-9_.-]{{20,}}",
    ),
    (("akia", "asia", "abia", "acca"), "aws_key", rf"{_B}A(?:KIA|SIA|BIA|CCA)[A-Z0-9]{{16}}{_E}"),
    (("sk-ant-",), "anthropic_key", rf"{_B}sk-ant-[A-Za-z0-9_-]{{20,}}"),
    (("sk-",), "openai_key", rf"{_B}sk-(?!ant-)(?:(?:proj|svcacct|admin|or-v1)-)?[A-Za-z0-9_-]{{20,}}"),
    (("xox", "xapp-"), "slack_token", rf"{_B}(?:xox[abeoprs]|xapp)-[A-Za-z0-9-]{{10,}}"),
    (("hooks.slack.com",), "slack_webhook", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,}"),
    (("/api/webhooks/",), "discord_webhook", r"(?<=/api/webhooks/)\d{15,22}/[A-Za-z0-9_-]{40,}"),
    (("mfa.",), "discord_token", rf"{_B}mfa\.[A-Za-z0-9_-]{{60,}}"),
    (("sig=",), "signature", r"(?<=[?&]sig=)[A-Za-z0-9%+/_-]{30,}={0,2}"),
    (("aiza",), "google_key", rf"{_B}AIza[A-Za-z0-9_-]{{30,}}"),
    (("gocspx-",), "google_secret", rf"{_B}GOCSPX-[A-Za-z0-9_-]{{20,}}"),
    (("ya29.",), "google_token", rf"{_B}ya29\.[A-Za-z0-9_-]{{20,}}"),
    (("_live_", "_test_"), "stripe_key", rf"{_B}(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{{16,}}"),
    (("whsec_",), "stripe_secret", rf"{_B}whsec_[A-Za-z0-9+/=]{{24,}}"),
    (("npm_",), "npm_token", rf"{_B}npm_[A-Za-z0-9]{{30,}}{_E}"),
    (("pypi-",), "pypi_token", rf"{_B}pypi-[A-Za-z0-9_-]{{40,}}"),
    (("rubygems_",), "rubygems_key", rf"{_B}rubygems_[a-f0-9]{{40,}}"),
    (("sg.",), "sendgrid_key", rf"{_B}SG\.[A-Za-z0-9_-]{{16,}}\.[A-Za-z0-9_-]{{16,}}"),
    (("hf_", "api_org_"), "huggingface_token", rf"{_B}(?:hf|api_org)_[A-Za-z0-9]{{30,}}{_E}"),
    (("dop_v1_", "doo_v1_", "dor_v1_"), "digitalocean_token", rf"{_B}do[opr]_v1_[a-f0-9]{{64}}"),
    (
        ("shpat_", "shpss_", "shpca_", "shppa_"),
        "shopify_token",
        rf"{_B}shp(?:at|ss|ca|pa)_[a-fA-F0-9]{{32}}",
    ),
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
    (("nvapi-",), "nvidia_key", rf"{_B}nvapi-[A-Za-z0-9_-]{{40,}}"),
    (("tskey-",), "tailscale_key", rf"{_B}tskey-[a-z]+-[A-Za-z0-9-]{{20,}}"),
    (("glsa_", "glc_"), "grafana_token", rf"{_B}gl(?:sa|c)_[A-Za-z0-9_+/=]{{32,}}"),
    (("sbp_",), "supabase_token", rf"{_B}sbp_[a-f0-9]{{40}}"),
    (("pmak-",), "postman_key", rf"{_B}PMAK-[a-f0-9]{{20,}}-[a-f0-9]{{30,}}"),
    (("pscale_",), "planetscale_token", rf"{_B}pscale_(?:tkn|pw|oauth)_[A-Za-z0-9_.-]{{32,}}"),
    (("sntrys_", "sntryu_"), "sentry_token", rf"{_B}sntry[su]_[A-Za-z0-9+/=_]{{40,}}"),
    (("atatt3",), "atlassian_token", rf"{_B}ATATT3[A-Za-z0-9_=-]{{60,}}"),
    (("figd_",), "figma_token", rf"{_B}figd_[A-Za-z0-9_-]{{36,}}"),
    (("accountkey=",), "azure_key", r"(?<=AccountKey=)[A-Za-z0-9+/]{80,}={0,2}"),
    (("sk",), "twilio_key", r"SK(?<![A-Za-z0-9_]SK)[0-9a-f]{32}(?![A-Za-z0-9])"),
)
_TELEGRAM = re.compile(r":[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])")
_BOT = re.compile(r"(?<![A-Za-z0-9])\d{8,10}\Z")
_DISCORD = re.compile(rf"{_B}[MNO][A-Za-z0-9_-]{{23,27}}\.[A-Za-z0-9_-]{{6,7}}\.[A-Za-z0-9_-]{{27,}}")
_JWT_BEGIN = re.compile(rf"{_B}eyJ")
_JWT = re.compile(r"eyJ[A-Za-z0-9_-]{8,}+(?:\.[A-Za-z0-9_-]{8,}+){2,}+")
_JWT_RUN = re.compile(r"[A-Za-z0-9_-]*+")
_AWS_SECRET = re.compile(r"(?<![A-Za-z0-9/+_.-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+=_-])")
_HEX_TOKEN = re.compile(r"(?<![A-Za-z0-9])[0-9a-f]{32}(?![A-Za-z0-9])")
_ACCOUNT = re.compile(r"AC(?<![A-Za-z0-9_]AC)[0-9a-f]{32}(?![A-Za-z0-9])")
_TWILIO = re.compile(r"[Tt][Ww][Ii][Ll][Ii][Oo]")
_BLANKS = (" ", "\n", "\t")
_NEAR = 160
"""So many characters around a key the word may stand without which it is not known for one."""


def _by_form(kind: str, pattern: str) -> Rule:
    compiled = re.compile(pattern)

    def rule(text: str) -> Iterator[Span]:
        for match in compiled.finditer(text):
            if not is_placeholder(match[0]) and any(c.isdigit() or c.isupper() for c in match[0][4:]):
                yield match.start(), match.end(), kind

    return rule


def _telegram(text: str) -> Iterator[Span]:
    for match in _TELEGRAM.finditer(text):
        bot = _BOT.search(text[max(0, match.start() - 11) : match.start()])
        if bot is not None and not is_placeholder(match[0]):
            yield match.start() - len(bot[0]), match.end(), "telegram_token"


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
    """40 characters of base64 behind an AWS key or the word AWS, and no part of an address."""
    for match in _AWS_SECRET.finditer(text):
        run = match[0]
        if run.islower() or run.isupper() or run.isalpha() or not any(char.isalpha() for char in run):
            continue
        near = text[max(0, match.start() - _NEAR) : match.start()].lower()
        if "://" in near[max(map(near.rfind, _BLANKS)) + 1 :]:
            continue
        if ("akia" in near or "asia" in near or "aws" in near) and not is_placeholder(run):
            yield match.start(), match.end(), "aws_secret"


def _twilio(text: str) -> Iterator[Span]:
    """32 digits of hex on a line behind an account's id, or with the words Twilio and auth or token."""
    for account in _ACCOUNT.finditer(text):
        yield from _hex_tokens(text, account.end(), _line_end(text, account.end()))
    for named in _TWILIO.finditer(text):
        start = text.rfind("\n", max(0, named.start() - _NEAR), named.start())
        start = start + 1 if start >= 0 else max(0, named.start() - _NEAR)
        end = _line_end(text, named.end())
        line = text[start:end].lower()
        if "auth" in line or "token" in line:
            yield from _hex_tokens(text, start, end)


def _line_end(text: str, at: int) -> int:
    end = text.find("\n", at, at + _NEAR)
    return end if end >= 0 else min(len(text), at + _NEAR)


def _hex_tokens(text: str, start: int, end: int) -> Iterator[Span]:
    for match in _HEX_TOKEN.finditer(text, start, end):
        yield match.start(), match.end(), "twilio_token"


ALWAYS: tuple[Rule, ...] = (_telegram,)
BY_FORM: tuple[tuple[tuple[str, ...], Rule], ...] = (
    *((needles, _by_form(kind, pattern)) for needles, kind, pattern in _PROVIDERS),
    (("discord",), _discord),
    (("akia", "asia", "aws"), _aws_secret),
    (("eyj",), _jwt),
    (("twilio", "ac"), _twilio),
)
"""Rules like those of `mask_rules`: the needles that call for them, in lower case, and the rule."""
