"""Asking a language model over HTTP: two styles of endpoint, masked text only, every reply checked by the caller.

`POST {"prompt", "max_tokens", "temperature"}` answered by `{"text"}` or `{"response"}`; or, where the path ends in
`/chat/completions`, an OpenAI-style chat. An endpoint on another machine has to stand in the configuration.
"""

import asyncio
import os
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import msgspec

from ..cloud_config import is_loopback
from ..config import Settings
from ..errors import ConfigError, UnavailableError
from ..foreign import decoded_json
from ..ingest.mask import mask_text

if TYPE_CHECKING:
    import httpx

CONNECT_TIMEOUT_S = 3.0
ANSWER_TOKENS = 1000
REPLY_LIMIT = 200_000
"""A longer reply [characters] makes no sense for anything that is asked here."""
BODY_LIMIT = 8 * REPLY_LIMIT
"""An answer's JSON is not read beyond this [bytes]."""
_CHAT = "/chat/completions"
_FENCED = re.compile(r"```(?:json)?[^\S\n]*+\n(.*?)```", re.DOTALL)


class LlmError(UnavailableError):
    """The model does not answer, or what it says makes no sense; rules answer instead."""

    code = "llm"


class Llm:
    """One endpoint. `transport` is for tests."""

    def __init__(
        self, url: str, *, model: str = "", key: str = "", timeout_s: float = 30.0,
        transport: "httpx.AsyncBaseTransport | None" = None,
    ) -> None:  # fmt: skip
        self._url = url
        self._model = model
        self._headers = {"Authorization": f"Bearer {key}"} if key else {}
        self._limit_s = timeout_s
        self._transport = transport

    async def complete(self, prompt: str) -> str:
        """The model's answer to a prompt, secrets masked on the way; raises `LlmError`."""
        import httpx  # 5 MB, which a memory without an endpoint does not need

        try:
            async with asyncio.timeout(self._limit_s):  # httpx counts from byte to byte
                text = self._text(decoded_json(await self._posted(self._body(mask_text(prompt)[0]))))
        except httpx.HTTPStatusError as error:
            raise LlmError(
                f"The LLM endpoint answers with status {error.response.status_code}.", "Check its URL, key and model."
            ) from None
        except (TimeoutError, httpx.ReadTimeout):
            raise LlmError(
                f"The LLM endpoint did not answer within {self._limit_s:g} s.", "Raise llm.timeout_s, or look at it."
            ) from None
        except (httpx.HTTPError, httpx.InvalidURL):
            raise LlmError("The LLM endpoint cannot be reached.", "Check its URL and whether it runs.") from None
        except (msgspec.DecodeError, LookupError, TypeError):
            raise LlmError("The LLM endpoint's reply has neither text nor choices.", "Check its style.") from None
        if not isinstance(text, str) or len(text) > REPLY_LIMIT:
            raise LlmError("The LLM endpoint's reply is no text, or far too long.", "Check the model.")
        return text

    async def complete_json(self, prompt: str) -> Any:
        """The answer as JSON, also from within a code fence; raises `LlmError`."""
        text = await self.complete(prompt)
        fenced = _FENCED.search(text)
        try:
            return decoded_json((fenced[1] if fenced else text).strip())
        except msgspec.DecodeError:
            raise LlmError("The model's answer is no JSON.", "Rules answer instead.") from None

    async def _posted(self, body: dict[str, Any]) -> bytes:
        """The answer's bytes, given up once they are more than any answer has."""
        import httpx

        answer = bytearray()
        timeout = httpx.Timeout(self._limit_s, connect=min(CONNECT_TIMEOUT_S, self._limit_s))
        async with (
            httpx.AsyncClient(transport=self._transport, timeout=timeout) as http,
            http.stream("POST", self._url, json=body, headers=self._headers) as response,
        ):
            response.raise_for_status()
            async for piece in response.aiter_bytes():
                answer += piece
                if len(answer) > BODY_LIMIT:
                    raise LlmError("The LLM endpoint's reply does not end.", "Check the model.")
        return bytes(answer)

    def _body(self, prompt: str) -> dict[str, Any]:
        shared: dict[str, Any] = {"max_tokens": ANSWER_TOKENS, "temperature": 0}
        if self._model:
            shared["model"] = self._model
        if urlsplit(self._url).path.endswith(_CHAT):
            return {"messages": [{"role": "user", "content": prompt}], **shared}
        return {"prompt": prompt, **shared}

    def _text(self, reply: Any) -> Any:
        if "choices" in reply:
            return reply["choices"][0]["message"]["content"]
        return reply["text"] if "text" in reply else reply["response"]


def llm_of(settings: Settings, named: str = "") -> Llm | None:
    """The endpoint that a command names, else the configured one; None if there is none.

    Raises `ConfigError` for another machine's endpoint that the configuration does not hold.
    """
    llm = settings.llm
    url = named or llm.endpoint
    if not url:
        return None
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname:
        # Not what was given: a key may stand in it.
        raise ConfigError(
            "What is given as the LLM endpoint is no http:// or https:// URL.", "E.g. http://localhost:8080/complete"
        )
    configured = url == llm.endpoint
    if not configured and not is_loopback(parts.hostname):
        raise ConfigError(
            f"{parts.hostname} is another machine, and words of your notes would go there.",
            f'If that is meant, set endpoint = "{url}" under [llm] in the configuration.',
        )
    key = os.environ.get(llm.api_key_env, "") if configured and llm.api_key_env else ""
    return Llm(url, model=llm.model, key=key, timeout_s=llm.timeout_s)
