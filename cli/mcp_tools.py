"""The MCP tools: generated from the table of operations, without logic of their own.

What a tool does not get: whose memory it is (the server is bound to one agent), files of this machine, and endpoints
to send words to. A language model fills the arguments in, and may have been talked into it by what it has read.
"""

from typing import Any

import msgspec

from ..operations.table import OPERATIONS, Operation

_NOT_OFFERED = frozenset({"agent_id", "all_agents", "llm_endpoint", "line"})
"""`line` is of use only beside a file."""
_PRIVATE_KEYS = ("flags", "path", "metavar", "argument", "title")
"""What only the command line reads of a field's schema."""


def offered(*, read_only: bool) -> dict[str, Operation]:
    """The operations that are tools, by name; `read_only`: only those that change nothing."""
    kinds = ("read",) if read_only else ("read", "add", "change")
    return {name: operation for name, operation in OPERATIONS.items() if operation.tool in kinds}


def input_schema(operation: Operation) -> dict[str, Any]:
    """The JSON schema of a tool's arguments: the request's, without the fields that are not offered."""
    _, components = msgspec.json.schema_components([operation.request], ref_template="#/$defs/{name}")
    schema = components[operation.request.__name__]
    properties = {
        name: {key: value for key, value in field.items() if key not in _PRIVATE_KEYS}
        for name, field in schema["properties"].items()
        if _is_offered(name, field)
    }
    required = [name for name in schema.get("required", []) if name in properties]
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def _is_offered(name: str, field: dict[str, Any]) -> bool:
    return name not in _NOT_OFFERED and not field.get("path", False)
