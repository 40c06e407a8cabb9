"""Making the cloud's four tables; two of them are the original skill's, which may be there (docs/data.md, 4)."""

import secrets

from ..errors import CloudStoppedError
from .hrana import CloudClient, CloudError, Statement
from .wire import PLAIN, cloud_value

_TRIES = 3
"""Several devices may make the schema at once; the one that meets a half-changed table looks again."""

_COLD = """CREATE TABLE IF NOT EXISTS cold_memories (id TEXT PRIMARY KEY, agent_id TEXT NOT NULL, text TEXT NOT NULL,
 category TEXT NOT NULL, importance REAL DEFAULT 0.5, created_at INTEGER NOT NULL, access_count INTEGER DEFAULT 0,
 tier TEXT, metadata TEXT)"""
_TABLES = (
    "CREATE TABLE IF NOT EXISTS meta (k TEXT PRIMARY KEY, v ANY NOT NULL) STRICT",
    """CREATE TABLE IF NOT EXISTS segments (device TEXT, idx INTEGER, prev TEXT, sha256 TEXT, first INTEGER,
 part INTEGER, parts INTEGER, rows INTEGER, at INTEGER, payload BLOB, PRIMARY KEY (device, idx)) STRICT""",
    _COLD,
    "CREATE INDEX IF NOT EXISTS idx_cold_agent_category ON cold_memories (agent_id, category)",
    "CREATE INDEX IF NOT EXISTS idx_cold_agent_created ON cold_memories (agent_id, created_at)",
    """CREATE TABLE IF NOT EXISTS critical_state (agent_id TEXT PRIMARY KEY, data TEXT NOT NULL,
 updated_at INTEGER NOT NULL)""",
)
_OLD_NAME = "cold_memories_v1"


async def make_schema(client: CloudClient, key_id: str = PLAIN) -> str:
    """Make what is missing, in one transaction; returns the value of `meta` that holds from now on.

    A cloud that is new names the key `key_id`.
    """
    for attempt in range(1, _TRIES + 1):
        columns = await _columns(client, "cold_memories")
        offer = Statement(
            "INSERT INTO meta VALUES ('cloud', ?) ON CONFLICT DO NOTHING", (cloud_value(secrets.token_hex(8), key_id),)
        )
        try:
            await client.transact([*_changes(columns), *(Statement(sql) for sql in _TABLES), offer])
            break
        except CloudError as error:
            if attempt == _TRIES or not ("duplicate column" in error.message or "already" in error.message):
                raise
    (meta,) = await client.query(Statement("SELECT v FROM meta WHERE k = 'cloud'"))
    if not meta.rows:
        raise CloudStoppedError("The cloud lost its meta row while it was made.", "Check who else writes there.")
    return str(meta.rows[0][0])


async def _columns(client: CloudClient, table: str) -> set[str]:
    (result,) = await client.query(Statement("SELECT name FROM pragma_table_info(?)", (table,)))
    return {str(row[0]) for row in result.rows}


def _changes(columns: set[str]) -> list[Statement]:
    """What the original's `cold_memories` needs; its first version had no agents and is kept under another name."""
    if not columns:
        return []
    if "agent_id" not in columns:
        kept = ", ".join(
            name for name in ("id", "text", "category", "importance", "created_at", "access_count") if name in columns
        )
        return [
            Statement(f"ALTER TABLE cold_memories RENAME TO {_OLD_NAME}"),
            Statement(_COLD),
            Statement(f"INSERT INTO cold_memories (agent_id, {kept}) SELECT 'default', {kept} FROM {_OLD_NAME}"),
        ]
    return [
        Statement(f"ALTER TABLE cold_memories ADD COLUMN {name} TEXT")
        for name in ("tier", "metadata")
        if name not in columns
    ]
