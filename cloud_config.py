"""The cloud's address and token: from a flag, the environment, the settings, a file or the keyring."""

import os
import stat
from collections.abc import Mapping
from pathlib import Path

from .config import Settings
from .errors import AccessError, ConfigError


def cloud_url(settings: Settings, flag: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The cloud's base URL, `https://…` or `http://…` without a final slash; '' if there is no cloud."""
    env = os.environ if environment is None else environment
    given = flag or env.get("TURSO_DATABASE_URL") or env.get("TURSO_URL") or settings.sync.url
    if not given or settings.cold.backend == "off":
        return ""
    from urllib.parse import urlsplit  # not on the thin client's quick path

    parts = urlsplit(given)
    if parts.username or parts.password:
        raise ConfigError(
            "The cloud's URL holds a user name or password.", "Give the token in TURSO_AUTH_TOKEN instead."
        )
    scheme = "https" if parts.scheme == "libsql" else parts.scheme
    if scheme not in ("https", "http") or not parts.hostname:
        # Not what was given: it may be the token, put into the wrong place.
        raise ConfigError(
            "What is given as the cloud's address is no cloud URL.",
            "Use libsql://, https:// or, on this machine, http://.",
        )
    if scheme == "http" and not settings.sync.insecure and not is_loopback(parts.hostname):
        raise ConfigError(
            f"http:// to {parts.hostname} would send your notes unprotected.",
            "Use https://, or set sync.insecure = true.",
        )
    return f"{scheme}://{parts.netloc}{parts.path.rstrip('/')}"


def cloud_token(settings: Settings, flag: str | None = None, environment: Mapping[str, str] | None = None) -> str:
    """The cloud's token from flag, environment, file or keyring; '' if there is none. Never log it."""
    env = os.environ if environment is None else environment
    given = flag or env.get("TURSO_AUTH_TOKEN") or env.get("TURSO_TOKEN")
    if given:
        return given.strip()
    file = env.get("TURSO_AUTH_TOKEN_FILE") or settings.sync.token_file
    if file:
        return _read_private(Path(file).expanduser())
    return _keyring_token()


def token_source(settings: Settings, environment: Mapping[str, str] | None = None) -> str:
    """Where `cloud_token` finds the token: a variable's name, a file's path, or the keyring; '' if nowhere."""
    env = os.environ if environment is None else environment
    for name in ("TURSO_AUTH_TOKEN", "TURSO_TOKEN", "TURSO_AUTH_TOKEN_FILE"):
        if env.get(name):
            return name if name != "TURSO_AUTH_TOKEN_FILE" else env[name]
    return settings.sync.token_file or ("the keyring" if _keyring_token() else "")


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine."""
    from ipaddress import ip_address  # not on the thin client's quick path

    try:
        return ip_address(host).is_loopback
    except ValueError:  # a name: 127.0.0.1.example is any machine
        return host == "localhost"


def _read_private(path: Path) -> str:
    try:
        mode = path.stat().st_mode
        text = path.read_text("utf-8").strip()
    except FileNotFoundError:
        raise ConfigError(
            f"The token file {path} does not exist.", "Correct TURSO_AUTH_TOKEN_FILE or sync.token_file."
        ) from None
    except (OSError, UnicodeDecodeError) as error:
        raise AccessError(f"The token file {path} cannot be read: {error}.", "Check its owner and mode.") from None
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        raise ConfigError(f"The token file {path} can be read by others.", f"Run: chmod 600 {path}")
    return text


def _keyring_token() -> str:
    try:
        import keyring  # optional extra
    except ImportError:
        return ""
    try:
        return keyring.get_password("memoryd", "turso") or ""
    except keyring.errors.KeyringError:
        return ""  # no keyring service runs here; sync.state says auth_required
