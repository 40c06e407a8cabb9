"""The Hrana protocol over HTTP (`POST /v2/pipeline`): the one that sqld and Turso Cloud share (docs/engine.md).

HTTP 200 does not mean success: every result is looked at. A pipeline without a transaction goes on after an
error; `transact` is atomic and tells success only from the COMMIT's own result. A stream is always closed in
its request, so no open transaction is left behind.
"""

import base64
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

import msgspec

from ..cloud_config import is_loopback
from ..errors import AuthRequiredError, ReadOnlyError, UnavailableError

if TYPE_CHECKING:
    import httpx

CONNECT_TIMEOUT_S = 5.0
READ_TIMEOUT_S = 30.0
_RETRYABLE = ("SQLITE_BUSY", "TRANSACTION_TIMEOUT", "STREAM_EXPIRED")

Value: TypeAlias = str | int | float | bytes | None


class CloudError(UnavailableError):
    """The cloud refused or failed. `sql_code` is its code, `retry_after_s` how long it asks us to wait [s]."""

    def __init__(self, message: str, hint: str = "", *, sql_code: str = "", retry_after_s: float = 0.0) -> None:
        super().__init__(message, hint)
        self.sql_code = sql_code
        self.retry_after_s = retry_after_s

    @property
    def missing_table(self) -> bool:
        """Whether a table does not exist: the cloud is new, or was emptied."""
        return "no such table" in self.message

    @property
    def too_large(self) -> bool:
        """Whether the answer would have been larger than the cloud allows: ask for less."""
        return self.sql_code == "RESPONSE_TOO_LARGE"


class Statement(NamedTuple):
    """One SQL statement with its positional parameters."""

    sql: str
    args: tuple[Value, ...] = ()


class Result(NamedTuple):
    """The rows of one statement and how many it changed."""

    rows: list[tuple[Value, ...]]
    affected: int


class CloudClient:
    """One cloud database. Raises `UnavailableError` and its kinds, never anything of the HTTP library."""

    def __init__(
        self,
        url: str,
        token: str,
        *,
        transport: "httpx.AsyncBaseTransport | None" = None,
        read_timeout_s: float = READ_TIMEOUT_S,
    ) -> None:
        import httpx  # 5 MB, which a memory without a cloud does not need

        headers = {"Authorization": f"Bearer {token}"} if token else {}
        if is_loopback(urlsplit(url).hostname or ""):
            headers["Accept-Encoding"] = "identity"  # packing costs more than a loopback's bytes
        self._url = f"{url}/v2/pipeline"
        self._make = partial(
            httpx.AsyncClient,
            headers=headers,
            transport=transport,
            timeout=httpx.Timeout(read_timeout_s, connect=CONNECT_TIMEOUT_S, pool=CONNECT_TIMEOUT_S),
        )
        self._http = self._make()
        self.ended = 0
        """How many requests were answered or failed; the daemon's watchdog looks whether it moves."""

    async def query(self, *statements: Statement) -> list[Result]:
        """Run reading statements one after another; raises `CloudError` for the first that failed."""
        requests = [{"type": "execute", "stmt": _encoded(each, want_rows=True)} for each in statements]
        results = await self._pipeline([*requests, {"type": "close"}], writes=False)
        with _making_sense():
            return [_result(each["result"]) for each in results[: len(statements)]]

    async def transact(self, statements: Sequence[Statement]) -> list[int]:
        """Run statements in one transaction; returns how many rows each changed, after the COMMIT was confirmed."""
        results = await self._pipeline([_atomic(statements), {"type": "close"}], writes=True)
        with _making_sense():
            batch = results[0]["result"]
            steps, errors = batch["step_results"], batch["step_errors"]
            if steps[len(statements) + 1] is None:
                cause = next((each for each in errors if each), {"message": "the transaction was not committed"})
                raise _refused(cause)
            return [int(step["affected_row_count"]) for step in steps[1 : len(statements) + 1]]

    async def reconnect(self) -> None:
        """Let go of all connections and open new ones: after a sleep of the machine they are dead."""
        former, self._http = self._http, self._make()
        await former.aclose()

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()

    async def _pipeline(self, requests: list[dict[str, Any]], *, writes: bool) -> list[dict[str, Any]]:
        import httpx

        body = msgspec.json.encode({"baton": None, "requests": requests})
        try:
            response = await self._http.post(self._url, content=body, headers={"Content-Type": "application/json"})
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise CloudError(f"The cloud does not answer ({type(error).__name__}).", "It is tried again.") from None
        finally:
            self.ended += 1
        # httpx's stream and response refer to each other: a page of MB would stay until Python looks for cycles.
        response.stream = httpx.ByteStream(b"")
        if response.status_code != 200:
            raise _http_error(response, writes=writes)
        with _making_sense():
            results = msgspec.json.decode(response.content)["results"]
            for each in results:
                if each["type"] != "ok":
                    raise _refused(each["error"])
            return [each["response"] for each, _ in zip(results, requests, strict=True)]


@contextmanager
def _making_sense() -> Iterator[None]:
    """An answer of another shape than Hrana's comes from something else, e.g. the sign-in page of a network."""
    try:
        yield
    except (ValueError, LookupError, TypeError, RecursionError):  # msgspec's DecodeError is a ValueError
        raise CloudError("What answers at the cloud's URL is no libSQL database.", "Check the URL.") from None


def _atomic(statements: Sequence[Statement]) -> dict[str, Any]:
    """A batch that commits only when each step succeeded, and rolls back otherwise."""

    def after(step: int) -> dict[str, Any]:
        return {"type": "ok", "step": step}

    steps: list[dict[str, Any]] = [{"stmt": {"sql": "BEGIN IMMEDIATE"}}]
    for number, each in enumerate(statements):
        steps.append({"stmt": _encoded(each, want_rows=False), "condition": after(number)})
    commit = len(steps)
    steps.append({"stmt": {"sql": "COMMIT"}, "condition": after(commit - 1)})
    steps.append({"stmt": {"sql": "ROLLBACK"}, "condition": {"type": "not", "cond": after(commit)}})
    return {"type": "batch", "batch": {"steps": steps}}


def _encoded(statement: Statement, *, want_rows: bool) -> dict[str, Any]:
    return {"sql": statement.sql, "args": [_to_wire(value) for value in statement.args], "want_rows": want_rows}


def _to_wire(value: Value) -> dict[str, Any]:
    if value is None:
        return {"type": "null"}
    if isinstance(value, str):
        return {"type": "text", "value": value}
    if isinstance(value, int):
        return {"type": "integer", "value": str(int(value))}  # a JSON number is refused
    if isinstance(value, float):
        return {"type": "float", "value": value}
    return {"type": "blob", "base64": base64.b64encode(value).decode("ascii")}


def _from_wire(cell: dict[str, Any]) -> Value:
    kind = cell["type"]
    if kind == "blob":
        text: str = cell["base64"]
        return base64.b64decode(text + "=" * (-len(text) % 4))  # answers carry no padding
    if kind == "integer":
        return int(cell["value"])
    value: str | float | None = cell.get("value")
    return value


def _result(result: dict[str, Any]) -> Result:
    rows = [tuple(_from_wire(cell) for cell in row) for row in result["rows"]]
    return Result(rows, int(result.get("affected_row_count", 0)))


def _refused(error: dict[str, Any]) -> CloudError:
    code = str(error.get("code") or "")
    hint = "It is tried again." if code.startswith(_RETRYABLE) else ""
    return CloudError(f"The cloud refused: {error.get('message', 'no reason given')}", hint, sql_code=code)


def _http_error(response: "httpx.Response", *, writes: bool) -> UnavailableError:
    status = response.status_code
    if status == 401 or (status == 403 and not writes):
        return AuthRequiredError("The cloud refused the token.", "Set a valid TURSO_AUTH_TOKEN and start again.")
    if status == 403:
        return ReadOnlyError("The token may only read the cloud.", "Set a token that may write to send changes.")
    if status == 404:
        return CloudError("The cloud knows no such database.", "Check TURSO_DATABASE_URL.")
    return CloudError(f"The cloud answered {status}.", "It is tried again.", retry_after_s=_retry_after(response))


def _retry_after(response: "httpx.Response") -> float:
    """The header in seconds; its date form is rare and counts as absent."""
    try:
        return max(0.0, float(response.headers.get("Retry-After", "0")))
    except ValueError:
        return 0.0
