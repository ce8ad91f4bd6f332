"""Figures of the study `equations`: none."""

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.core.study import Study


def draw(study: Study, outcome: Outcome) -> dict[str, Figure]:
    """No figure."""
    return {}
