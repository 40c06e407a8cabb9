"""Whether a value looks like a secret rather than like prose, a placeholder or a name."""

import re
from itertools import pairwise
from typing import Literal, TypeAlias

from .cues import word_set

KeyKind: TypeAlias = Literal["password", "secret", "token", "api_key", "secret_key", "private_key", "seed_phrase"]

_PLACEHOLDER = re.compile(
    r"[<{\[]|&lt;|&#|\$|%[A-Za-z_]+%|\*{3,}|\.{3}|…|•{3,}|#\{"
    r"|(?:^|[^a-z])(?:your|my|the|some|any|insert|enter|put|replace|paste|add)[-_ ]"
    r"|example|placeholder|changeme|change[-_]me|redacted|dummy|sample|todo|fixme|foobar|not[-_ ]a[-_ ]real"
    r"|^x{3,}|x{6,}|^y{3,}$|^-+$|^_+$|^\.+$|^\?+$",
    re.IGNORECASE,
)
_COUNTED = re.compile(r"(?:0?1234567890?|0?123456789?|012345|123456|abcdef(?:ghij(?:klmnop(?:qrstuvwxyz)?)?)?)")
_NOT_PLAIN = re.compile(r"[^a-z0-9]+")
_CODE = re.compile(
    r"\(|^(?:process\.env|os\.environ|env\.|secrets?\.|config\.|settings\.|self\.|this\.|vault:|op://|file:"
    r"|https?://|\S*/aws4_request|(?:arn|urn|fileb|keyring):|!(?:vault|secret|env|ref|sub)\b)"
    r"|^(?:~|\.{1,2})?/[\w.~-]+|^[A-Za-z]:\\|^[\w-]+\.(?:md|txt|py|json|ya?ml|toml|env|pem|key|conf|ini|sh|js|ts)$",
    re.IGNORECASE,
)
_DATE = re.compile(r"\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?$|\d{4}-?\d{2}-?\d{2}T\d{2}:?\d{2}|\d{1,2}:\d{2}(?::\d{2})?$")
_AMOUNT = re.compile(
    r"[~≈<>]?[\d.,]+(?:[kKmMgGbB%]|ms|s|h|min|kB|KB|MB|GB|d|x)?$|\d+[/-]\d+$|v?\d+(?:\.\d+)+$"
    r"|[$€¥]\d"
)
_PROSE_WORDS = word_set(
    """
    required optional none null nil true false yes no ok unset set empty blank missing invalid valid expired
    changed reset rotated revoked unknown hidden masked string str text number int boolean bool bytes object field
    input value type name user users username admin root default same different weak strong new old wrong right
    correct incorrect secret password token login basic bearer oauth auth jwt uuid hash hashed plain plaintext
    encrypted encoded secure insecure safe unsafe leaked stored saved kept moved manager keychain keyring
    bitwarden vault lastpass onepassword env environment config header cookie cookies session here there below
    above later soon pending done failed denied accepted rejected granted needed not the for and but was were has
    have had can could should must will would may might see check use used using get got ask email phone policy
    protected pass passed fail rate limit budget count usage please bucket ring store github gitlab google apple
    slack telegram santa sauce access refresh api key keys sso mfa otp totp fingerprint biometrics sms letters
    digits characters rotate rotation update updated enabled disabled
    """
)
_OF_SENTENCES = word_set(
    """
    a an the at in on of for to is are was see by with and or not no more less than least most min max from my your
    ask until after before every per each characters chars letters digits days weeks words symbols times minutes
    """
)
"""Words of a sentence about a password, which no pass phrase has."""
_OF_PROSE = _OF_SENTENCES | word_set(
    """
        already also always am any are be because been being best better both by case cannot character come comes
        contain contains current do does doing don down each either else enough even every few file first five four
        full given good great had has have he her his how i if in into it its just keep kept kind last later least
        let like line list long longer make makes many me mine much must need never nine none nor not nothing now off
        once one only onto or other our out over own per plus probably random read same sensitive sentence she short
        since six so some somebody somewhere soon still ten than that their them then there these they this those
        three to today together too two under up us very want was we well were what when where which while who why
        will with without word words would write written wrong yet you your about after again along always around
        before behind below between during inside instead near outside quite rather really seven eight several
        through toward until upon whenever whether whose within calls called choose chosen pick picked type typed
        enter entered remember remembered forget forgotten save share shared keeps uses easy hard simple available
        """
)
"""Words that a sentence about a pass phrase has, and that hardly a pass phrase has."""
_HYPHENED = re.compile(r"[a-z]+(?:-[a-z]+){3,9}")
_JOINED = re.compile(r"[A-Za-z]+(?:[-_.][A-Za-z]+)+")
_RUNS = re.compile(r"[A-Z]?[a-z]+|[A-Z]+")
_HEX = re.compile(r"[0-9a-fA-F-]+")
_UNITS = word_set(
    "h m s d w y ms min sec hr k kb mb gb tb g kg km cm mm m x p px fps hz khz mhz ghz v a q e st nd rd th"
)
_MATERIAL = re.compile(r"[A-Za-z0-9_+=-]{20,512}")
_PROSE_ENDS = ("ed", "ing", "ion", "ions", "able", "ible", "ment", "ness", "ity", "ous", "ful", "less", "ally", "ies")


def is_placeholder(value: str) -> bool:
    """Whether a value only shows where a secret would stand, or is one of the documentation's own examples."""
    stem = value.strip("`'\"*_ ").lower()
    if stem in {"pass", "password", "passwd", "pwd", "secret", "token", "user", "pw", "key", "apikey", "api_key"}:
        return True
    body = stem if stem.isalnum() and stem.isascii() else _NOT_PLAIN.sub("", stem)
    if len(body) >= 16 and _may_count(body) and len(_COUNTED.sub("", body)) * 4 < len(body):
        return True
    return (len(set(body)) < min(4, len(body)) and len(body) >= 3 and not body.isdigit()) or _PLACEHOLDER.search(
        value
    ) is not None


def _may_count(body: str) -> bool:
    return "12345" in body or "abcdef" in body


def is_secret_value(value: str, kind: KeyKind, *, strict: bool, alone: bool, before_han: bool = False) -> bool:
    """Judge a value that stands behind a key.

    `strict`: the link to the key is weak (a verb, a table cell, the next line), so the value itself
    must look made up. `alone`: nothing else follows on its line. `before_han`: Chinese follows at once,
    as in `密码：6位数字`.
    """
    head = value[:80]  # enough to tell, and a line of megabytes stays cheap
    if len(value) < 4 or is_placeholder(head) or _CODE.search(head) or _DATE.match(value):
        return False
    if " " in value:
        return _spaced(value, kind)
    if value.rstrip("#*").isdigit():  # a keypad's own signs end a code
        return kind == "password" and not before_han and len(value.rstrip("#*")) >= 4
    if _AMOUNT.match(value):
        return False
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    least = 6 if kind == "password" and not strict else 8 if kind != "password" else 6
    if letters and digits:
        return len(value) >= (4 if kind == "password" and not strict else least) and not _is_word_with_number(
            value, kind
        )
    if not letters:
        return kind == "password" and len(value) >= 6 and digits
    return _alphabetic(value, kind, strict=strict, alone=alone)


def is_key_material(value: str) -> bool:
    """Whether a value looks like a token of a machine: long, with digits, and no words joined by signs."""
    if _MATERIAL.fullmatch(value) is None or sum(map(str.isdigit, value)) < 3 or value.isdigit():
        return False
    return sum(map(str.isalpha, re.split("[-_]", value))) <= 1


def is_mixed(value: str) -> bool:
    """Whether a value has both letters and digits."""
    return any(char.isdigit() for char in value) and any(char.isalpha() for char in value)


def is_random(value: str) -> bool:
    """Whether a value reads like drawn by lot: no word or name in it, no number with a unit, no hash.

    For places where nothing but the value itself says that it is a secret.
    """
    if len(value) < 8 or not is_mixed(value) or _HEX.fullmatch(value):
        return False
    runs = _RUNS.findall(value)
    changes = sum(_class(one) != _class(other) for one, other in pairwise(value))
    return max(map(len, runs)) <= 3 and changes >= 3 and not value.isupper() and not _UNITS.issuperset(runs)


def is_pass_phrase(words: str) -> bool:
    """Whether words in small letters, blanks or hyphens between, are a pass phrase and no sentence about one."""
    parts = words.replace("-", " ").split()
    told = sum(part in _PROSE_WORDS or part.endswith(_PROSE_ENDS) for part in parts)
    return 4 <= len(parts) <= 10 and _OF_PROSE.isdisjoint(parts) and len(set(parts)) > 2 and told * 3 <= len(parts)


def _class(char: str) -> int:
    return 0 if char.isdigit() else 1 if char.isupper() else 2 if char.isalpha() else 3


def _spaced(value: str, kind: KeyKind) -> bool:
    words = value.split()
    if kind != "password" or len(words) > 8:
        return False
    if value.islower() and value.replace(" ", "").isalpha() and value.isascii():
        return is_pass_phrase(value)
    if len(words) > 2 and any(map(str.isdigit, words)) and _OF_SENTENCES.isdisjoint(value.lower().split()):
        return True
    return any(any(c.isdigit() for c in word) and any(c.isalpha() for c in word) for word in words)


def _is_word_with_number(value: str, kind: KeyKind) -> bool:
    """`utf8`, `sha256`, `cl100k_base`: names of methods that stand behind `token:` and are no tokens."""
    if kind == "password":
        return value.lower() in {
            "utf8",
            "sha256",
            "sha512",
            "sha1",
            "md5",
            "argon2",
            "argon2id",
            "pbkdf2",
            "1password",
            "oauth2",
            "base64",
        }
    return re.fullmatch(r"[a-z]+[-_]?\d{1,4}(?:[a-z]?[-_][a-z]+)?|cl100k_base|o200k_base", value) is not None


def _alphabetic(value: str, kind: KeyKind, *, strict: bool, alone: bool) -> bool:
    low = value.lower()
    if low in _PROSE_WORDS or low.endswith(_PROSE_ENDS):
        return False
    if kind == "password" and _HYPHENED.fullmatch(value):
        return is_pass_phrase(value)
    symbols = any(not c.isalnum() and c not in "-_./'’" for c in value)
    mixed = any(c.isupper() for c in value[1:]) and any(c.islower() for c in value)
    if symbols and len(value) >= 6:
        return True
    if mixed and len(value) >= 8 and not re.fullmatch(r"[A-Z][a-z]+(?:[A-Z][a-z]+)+", value):
        return True
    if strict or not alone:
        return False
    if kind == "password":
        return len(value) >= 6 and re.fullmatch(r"[A-Za-z]+", value) is not None
    return len(value) >= 20 and _JOINED.fullmatch(value) is None
