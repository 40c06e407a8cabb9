"""Search: one tokeniser, the full-text index, the ranking."""

from .index import Entry, remove_entry, write_entries, write_entry
from .rank import Found, find
from .tokens import index_tokens, query_tokens

__all__ = ["Entry", "Found", "find", "index_tokens", "query_tokens", "remove_entry", "write_entries", "write_entry"]
