"""What `doctor` asks of the cloud: is it there, what may the token do, and whose clock is right."""

import os
import sys
from collections.abc import AsyncIterator, Mapping
from pathlib import Path

from ..cloud_config import cloud_token, cloud_url, token_source
from ..config import Settings
from ..errors import AuthRequiredError, MemorydError, ReadOnlyError
from ..sync.hrana import CloudClient, CloudError, Statement
from .doctor_replies import Check, failed, good, warned
from .memory import Memory

SKEW_S = 60
"""A clock that is further off than this is a warning [s]."""
_CLOCK = Statement("SELECT CAST(strftime('%s', 'now') AS INTEGER)")
_HARMLESS = Statement("UPDATE meta SET v = v WHERE k IS NULL")
"""A write that changes nothing: it shows whether the token may write."""


async def check_cloud(memory: Memory) -> AsyncIterator[Check]:
    """Token, reading, writing and clock; what does not apply is said to be so."""
    yield check_token(memory.settings, used=memory.sync is not None)
    if memory.sync is None:
        return
    client = memory.sync.client
    try:
        before = memory.clock.now_ms()
        (result,) = await client.query(_CLOCK)
        after = memory.clock.now_ms()
    except AuthRequiredError as error:
        yield failed("cloud", error.message, error.hint)
        return
    except MemorydError as error:
        yield failed("cloud", error.message, "Look at the URL and the network; until then everything works locally.")
        return
    yield good("cloud", f"It answers in {after - before} ms and lets the token read.")
    yield await _writing(client)
    yield _clock(int(result.rows[0][0] or 0), (before + after) // 2000)
    state = memory.sync.status.state
    said = f"Sync is {state}, {memory.sync.status.pending_rows} rows wait."
    yield good("sync", said) if state in ("ok", "pending") else failed("sync", said, "memoryd status says why.")


def check_token(
    settings: Settings, *, used: bool, environment: Mapping[str, str] | None = None, arguments: str | None = None
) -> Check:
    """Where the token comes from, who else can read it, and whether it has any effect."""
    env = os.environ if environment is None else environment
    try:
        url, token, source = (
            cloud_url(settings, None, env),
            cloud_token(settings, None, env),
            token_source(settings, env),
        )
    except MemorydError as error:
        return failed("token", error.message, error.hint)
    if (token and token in (_arguments() if arguments is None else arguments)) or _named_in_arguments(arguments):
        return failed(
            "token",
            "The token stands in the list of processes, which everybody can read.",
            "Use TURSO_AUTH_TOKEN_FILE.",
        )
    if settings.cold.backend == "off":
        return good("token", 'cold.backend = "off": no cloud is used, whatever else is set.')
    if not url and not used:
        if token:
            return warned("token", f"There is a token ({source}) but no URL.", "Set TURSO_DATABASE_URL or sync.url.")
        return good("token", "No cloud is configured: the memory stays on this device.")
    if not token:
        return warned("token", "A cloud is configured, but there is no token.", "Put one into TURSO_AUTH_TOKEN_FILE.")
    return good("token", f"It comes from {source}, and nobody else can read it there.")


def _arguments() -> str:
    proc = Path("/proc/self/cmdline")
    try:
        return proc.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
    except OSError:
        return " ".join(sys.orig_argv)


def _named_in_arguments(arguments: str | None) -> bool:
    return "--auth-token" in (_arguments() if arguments is None else arguments)


async def _writing(client: CloudClient) -> Check:
    try:
        await client.transact([_HARMLESS])
    except ReadOnlyError:
        return warned("cloud writes", "The token may only read: nothing is pushed.", "Use a token that may write.")
    except CloudError as error:
        if error.missing_table:
            return warned("cloud writes", "The cloud is empty: nothing was pushed yet.", "memoryd sync --wait")
        return failed("cloud writes", error.message, error.hint)
    except MemorydError as error:
        return failed("cloud writes", error.message, error.hint)
    return good("cloud writes", "The token may write.")


def _clock(theirs_s: int, ours_s: int) -> Check:
    ahead = ours_s - theirs_s
    if abs(ahead) <= SKEW_S:
        return good("clock", f"It agrees with the cloud's within {SKEW_S} s.")
    word = "ahead of" if ahead > 0 else "behind"
    return warned("clock", f"It is {abs(ahead)} s {word} the cloud's.", "Set the clock: sudo timedatectl set-ntp true")
