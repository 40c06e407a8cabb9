"""Encryption of segments: AES-256-GCM under a key derived from a random recovery key (docs/security.md).

A sealed payload is `M1`, the 8 bytes of the key's id, 12 random bytes, and the ciphertext of the compressed rows;
device, idx and prev of its segment are bound to it as associated data. A plain payload is zlib, which begins
otherwise, so each payload says by itself what it is.
"""

import base64
import hashlib
import os
import re
import secrets
from collections.abc import Sequence
from typing import Any

import msgspec

from ..errors import ConfigError, UsageError

MAGIC = b"M1"
_ID_BYTES, _NONCE_BYTES, _SECRET_BYTES, _CHECK_BYTES = 8, 12, 32, 2
_HEADER_BYTES = len(MAGIC) + _ID_BYTES + _NONCE_BYTES
_GROUP = 5


class SealError(Exception):
    """A payload cannot be opened; the message says why."""


class Key(msgspec.Struct, frozen=True):
    """One key: the recovery key's bytes, and the id by which clouds and payloads name it (16 hex)."""

    secret: bytes
    id: str

    @classmethod
    def of(cls, secret: bytes) -> "Key":
        """The key of 32 random bytes."""
        return cls(secret, _derived(secret, b"memoryd/1/key-id", _ID_BYTES).hex())

    @classmethod
    def new(cls) -> "Key":
        """A random key."""
        return cls.of(secrets.token_bytes(_SECRET_BYTES))

    @classmethod
    def parse(cls, text: str) -> "Key":
        """The key of a recovery key as `text` shows it; raises `UsageError` for anything else, without repeating it."""
        letters = re.sub(r"[\s-]", "", text).upper()
        try:
            data = base64.b32decode(letters + "=" * (-len(letters) % 8))
        except ValueError:
            data = b""
        secret, check = data[:_SECRET_BYTES], data[_SECRET_BYTES:]
        if len(secret) != _SECRET_BYTES or check != _check_of(secret):
            raise UsageError("That is no recovery key of memoryd.", "It has 11 groups of 5 letters; look for a typo.")
        return cls.of(secret)

    @property
    def text(self) -> str:
        """The recovery key for people: 11 groups of 5 letters and digits, with a check against typing errors."""
        letters = base64.b32encode(self.secret + _check_of(self.secret)).decode().rstrip("=")
        return "-".join(letters[at : at + _GROUP] for at in range(0, len(letters), _GROUP))


class KeyRing:
    """The keys that this device holds, the newest last; it never writes them anywhere by itself."""

    def __init__(self, keys: Sequence[Key] = ()) -> None:
        self._keys = {key.id: key for key in keys}

    def __contains__(self, key_id: str) -> bool:
        return key_id in self._keys

    @property
    def keys(self) -> list[Key]:
        """All keys, the newest last."""
        return list(self._keys.values())

    def of_id(self, key_id: str) -> Key | None:
        """The key of that id, if this device holds it."""
        return self._keys.get(key_id)

    @property
    def newest(self) -> Key | None:
        """The key that was added last."""
        return self.keys[-1] if self._keys else None

    def add(self, key: Key) -> None:
        """Hold one more key, as the newest."""
        self._keys.pop(key.id, None)
        self._keys[key.id] = key

    def seal(self, key_id: str, place: tuple[str, int, str], data: bytes) -> bytes:
        """`data` encrypted for the place (device, idx, prev) in its log."""
        key = self._keys[key_id]
        nonce = os.urandom(_NONCE_BYTES)
        sealed: bytes = _cipher(key).encrypt(nonce, data, _bound(place))
        return MAGIC + bytes.fromhex(key.id) + nonce + sealed

    def open(self, place: tuple[str, int, str], payload: bytes) -> bytes:
        """What was sealed for this place; raises `SealError` without its key, or when anything was changed."""
        key_id = sealed_with(payload)
        key = self._keys.get(key_id)
        if key is None:
            raise SealError(f"is encrypted with the key {key_id}, which this device does not have")
        nonce = payload[_HEADER_BYTES - _NONCE_BYTES : _HEADER_BYTES]
        try:
            opened: bytes = _cipher(key).decrypt(nonce, payload[_HEADER_BYTES:], _bound(place))
        except _invalid_tag():
            raise SealError("is damaged: it was not sealed for this place, or was changed") from None
        return opened


NO_KEYS = KeyRing()
"""What a device without encryption holds."""


def is_sealed(payload: bytes) -> bool:
    """Whether a payload says that it is encrypted."""
    return payload.startswith(MAGIC)


def sealed_with(payload: bytes) -> str:
    """The id of the key that a payload is sealed with, '' for a plain one."""
    return payload[len(MAGIC) : len(MAGIC) + _ID_BYTES].hex() if is_sealed(payload) else ""


def check_available() -> None:
    """Raise `ConfigError` where the optional library is not installed."""
    _library()


def _check_of(secret: bytes) -> bytes:
    return hashlib.sha256(b"memoryd recovery key" + secret).digest()[:_CHECK_BYTES]


def _bound(place: tuple[str, int, str]) -> bytes:
    return "\0".join(map(str, place)).encode()


def _derived(secret: bytes, purpose: bytes, length: int) -> bytes:
    _library()
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    return HKDF(algorithm=SHA256(), length=length, salt=None, info=purpose).derive(secret)


def _cipher(key: Key) -> Any:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    return AESGCM(_derived(key.secret, b"memoryd/1/segments", _SECRET_BYTES))


def _invalid_tag() -> type[Exception]:
    from cryptography.exceptions import InvalidTag

    return InvalidTag


def _library() -> None:
    try:
        import cryptography  # noqa: F401 - optional extra
    except ImportError:
        raise ConfigError(
            "Encryption needs the package cryptography.", "Install it: pip install 'memoryd[encryption]'"
        ) from None
