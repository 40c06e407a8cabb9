"""How much a fact matters today (docs/memory.md, 3)."""

import math

from ..config import ScoringSettings

HOT_POTENTIAL = 0.7
"""A fact is promoted only while its importance, strengthened by reads, reaches this."""
HOT_SCORE = 0.5
"""A fact is promoted only while its score reaches this."""
FROZEN_BELOW = 0.05
"""A fact that is neither hot nor warm is cold from this score on."""


def age_of(latest_day: int, on_page: bool, today: int) -> int:
    """Whole days since the latest mention; 0 for what stands on MEMORY.md and for dates to come."""
    return 0 if on_page else max(0, today - latest_day)


def potential(importance: float, access_days: int, scoring: ScoringSettings) -> float:
    """Importance strengthened by the days on which the fact was read, at most 1: the score of a new fact."""
    return min(1.0, importance * (1 + scoring.reinforcement_boost * access_days))


def score(importance: float, age_days: int, access_days: int, scoring: ScoringSettings) -> float:
    """Give importance × exp(−age / e-folding time) × (1 + boost × access days), at most 1 (docs/memory.md, 3)."""
    return min(1.0, importance * _decay(age_days, scoring) * (1 + scoring.reinforcement_boost * access_days))


def promoted(importance: float, age_days: int, access_days: int, scoring: ScoringSettings) -> bool:
    """Whether hot state takes the fact by itself: important enough, and not too long ago."""
    return (
        potential(importance, access_days, scoring) >= HOT_POTENTIAL
        and score(importance, age_days, access_days, scoring) >= HOT_SCORE
    )


def days_above(least: float, scoring: ScoringSettings) -> int:
    """For how many days the score of a fact that nobody reads can stay at `least` or more."""
    return max(0, math.floor(scoring.half_life_days * math.log(1 / least))) if least > 0 else 0


def days_gained(access_days: int, scoring: ScoringSettings) -> int:
    """For how many days more, at most, reads let a score stay where that of an unread fact no longer is."""
    grown = max(1.0, 1 + scoring.reinforcement_boost * access_days)
    return math.ceil(max(0.0, scoring.half_life_days) * math.log(grown)) + 1


def _decay(age_days: int, scoring: ScoringSettings) -> float:
    if scoring.half_life_days <= 0:
        return 1.0 if age_days <= 0 else 0.0
    return math.exp(-age_days / scoring.half_life_days)
