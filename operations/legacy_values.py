"""Values of the original skill's files: numbers, times and lists, whatever somebody wrote there."""

import math
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from ..clock import MOST_DAYS
from ..model import Metadata


def count_of(value: Any) -> int:
    """A number of days, from none to all that dates have; what is no number is none."""
    number = number_of(value)
    return 0 if number is None else int(min(MOST_DAYS, max(0, number)))


def number_of(value: Any) -> float | None:
    """A number as it is, None for what is none and for what no machine's number holds."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return None
    return number if math.isfinite(number) else None


def time_of(entry: Mapping[str, Any], names: tuple[str, ...]) -> float | None:
    """The first time that one of the fields gives: epoch seconds, or an ISO date."""
    for name in names:
        value = entry.get(name)
        if (number := number_of(value)) is not None and number > 0:
            return number
        if isinstance(value, str):
            try:
                moment = datetime.fromisoformat(value)
            except ValueError:
                continue
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    return None


def metadata_of(given: Any) -> Metadata:
    """Links, commands and paths; what is no list of texts is none."""

    def texts(name: str) -> list[str]:
        found = given.get(name) if isinstance(given, dict) else None
        return [each for each in found if isinstance(each, str)] if isinstance(found, list) else []

    return Metadata(urls=texts("urls"), commands=texts("commands"), paths=texts("paths"))
