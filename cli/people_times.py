"""Spans and moments as people read them."""

import datetime as dt


def duration(seconds: float) -> str:
    """`42 s`, `3 min`, `5 h 10 min` or `3 d 4 h`."""
    if seconds < 90:
        return f"{seconds:.3g} s"
    minutes = round(seconds / 60)
    if minutes < 60:
        return f"{minutes} min"
    hours, minutes = divmod(minutes, 60)
    if hours < 24:
        return f"{hours} h {minutes} min"
    return f"{hours // 24} d {hours % 24} h"


def ago(seconds: float | None) -> str:
    """How long it is since something happened; `never` for None."""
    return "never" if seconds is None else f"{duration(seconds)} ago"


def moment(value: float | None) -> str:
    """A wall time in seconds since 1970, in the reader's time zone."""
    if value is None:
        return "never"
    return dt.datetime.fromtimestamp(value, dt.UTC).astimezone().strftime("%Y-%m-%d %H:%M")
