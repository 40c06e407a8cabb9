"""Where recovery keys are kept: a 0600 file in the state folder, or the system's keyring (docs/security.md)."""

import os
import stat
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import AccessError, ConfigError, UnavailableError, UsageError
from .seal import Key, KeyRing, check_available

KEY_FILE = "recovery.key"
"""Name, in the state folder, of the file that holds the recovery keys."""
_SERVICE = "memoryd"
_FILE_HINT = "Correct or remove that file; the recovery key makes it anew: memoryd key init"
_KEYRING_HINT = 'Start and unlock it, or set key_store = "file" below [sync].'


class KeyStore:
    """The keys of one state folder. Both methods may wait for the keyring, so they are called beside the loop."""

    def __init__(self, state: Path, *, in_keyring: bool = False) -> None:
        self.path = state / KEY_FILE
        self.in_keyring = in_keyring

    def load(self) -> KeyRing:
        """The keys that were kept, the newest last; those of a file too when the keyring was chosen later.

        Raises `ConfigError`, `AccessError`, and `UnavailableError` when the keyring does not answer now.
        """
        ring = KeyRing(_of_file(self.path))
        if self.in_keyring:
            for key in _keys(self._asked(), "the keyring"):
                ring.add(key)
        if ring.keys:
            check_available()
        return ring

    def save(self, ring: KeyRing) -> None:
        """Keep these keys; whole or not at all. A file is removed when the keyring has them."""
        text = "".join(f"{key.text}\n" for key in ring.keys)
        if not self.in_keyring:
            _write(self.path, text)
            return
        keyring = _library()
        try:
            keyring.set_password(_SERVICE, self._name, text)
        except keyring.errors.KeyringError as error:
            raise AccessError(f"The keyring did not take the key: {type(error).__name__}.", _KEYRING_HINT) from None
        if self._asked() != text:
            raise AccessError("The keyring did not keep the key.", _KEYRING_HINT)
        self.path.unlink(missing_ok=True)

    @property
    def _name(self) -> str:
        return f"recovery key of {self.path.parent}"

    def _asked(self) -> str:
        keyring = _library()
        try:
            return keyring.get_password(_SERVICE, self._name) or ""
        except keyring.errors.KeyringError as error:
            raise UnavailableError(f"The keyring does not answer: {type(error).__name__}.", _KEYRING_HINT) from None


def _of_file(path: Path) -> list[Key]:
    try:
        mode, text = path.stat().st_mode, path.read_text("ascii")
    except FileNotFoundError:
        return []
    except (OSError, UnicodeDecodeError) as error:
        raise AccessError(f"The key file {path} cannot be read: {type(error).__name__}.", _FILE_HINT) from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"The key file {path} can be read by others.", f"Run: chmod 600 {path}")
    return list(_keys(text, f"the key file {path}"))


def _keys(text: str, where: str) -> Iterable[Key]:
    try:
        return [Key.parse(line) for line in text.split()]
    except UsageError:
        raise ConfigError(f"What {where} holds is no recovery key.", _FILE_HINT) from None


def _write(path: Path, text: str) -> None:
    temporary = path.with_suffix(".new")
    temporary.unlink(missing_ok=True)
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(path)


def _library() -> Any:
    try:
        import keyring  # optional extra
    except ImportError:
        raise ConfigError("The keyring needs the package keyring.", "pip install 'memoryd[keyring]'") from None
    return keyring
