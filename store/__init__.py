"""The embedded libSQL file: adapter, numbered migrations, queries."""

from .adapter import Database, ResultRow, Value
from .store import Store, Tx, new_device_id

__all__ = ["Database", "ResultRow", "Store", "Tx", "Value", "new_device_id"]
