r"""Do the errors of a fit depend on the input? Tests by Student's t.

    correlation        rho sqrt((N - 2) / (1 - rho^2)) ~ t with N - 2
    rank correlation   the same of the ranks
    curvature          the weight of x^2 beside a line, over its standard error ~ t with N - 3

Correlations see a relation in one direction (Spearman's without being swayed by an outlier), the
last test a bend.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import stdtr

from models.regression.linear import least_squares, line
from models.types import Floats


class Check(NamedTuple):
    """A statistic, and how often chance alone goes as far from zero."""

    statistic: float
    p_value: float


def rank_correlation(a: Floats, b: Floats) -> Check:
    """Spearman's rho of two samples without ties."""
    ranks = np.argsort(np.argsort(np.stack([a, b]))).astype(np.float64)
    return correlation(ranks[0], ranks[1])


def correlation(a: Floats, b: Floats) -> Check:
    """Pearson's rho of two samples."""
    rho = float(np.atleast_2d(np.corrcoef(a, b))[0, 1])
    dof = len(a) - 2
    if abs(rho) >= 1 - 1e-15:
        return Check(rho, 0.0)
    return Check(rho, _two_sided(rho * np.sqrt(dof / (1 - rho**2)), dof))


def curvature(x: Floats, t: Floats) -> Check:
    """Student's t of a squared input beside a line; inputs are centred for the digits' sake."""
    centred = (x - x.mean()) / np.ptp(x)
    fit = least_squares(np.column_stack([line(centred), centred**2]), t)
    dof = len(t) - 3
    error = np.sqrt(fit.covariance[2, 2] * len(t) / dof)  # the unbiased noise variance
    statistic = float(fit.w[2] / error)
    return Check(statistic, _two_sided(statistic, dof))


def p_values(x: Floats, t: Floats, errors: Floats) -> dict[str, float]:
    """Does the direction, the size or the course of a line's errors follow the input?"""
    size = np.abs(errors)
    checks = {
        "direction by ranks": rank_correlation(x, errors),
        "size by ranks": rank_correlation(x, size),
        "size by values": correlation(x, size),
        "bend": curvature(x, t),
    }
    return {name: check.p_value for name, check in checks.items()}


def _two_sided(statistic: float, dof: int) -> float:
    return float(2 * stdtr(dof, -abs(statistic)))
