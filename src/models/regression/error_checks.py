r"""Tests of a dependence of a fit's errors on the input: p-values of Student's t.

    correlation        rho sqrt((N - 2) / (1 - rho^2)) ~ t with N - 2
    rank correlation   the same of the ranks
    curvature          the same with N - 3, rho^2 being the share of a line's squared errors that a
                       additional squared input explains: the weight of x^2 over its standard error

The p-value is an incomplete beta function of 1 - rho^2. Correlations detect a monotone relation
(Spearman's is robust to outliers), the last test detects curvature.
"""

import numpy as np
from scipy.special import betainc

from bythebook.models.regression.linear import least_squares, line
from bythebook.models.types import Floats


def rank_correlation(a: Floats, b: Floats) -> float:
    """P-value for two samples without ties, by Spearman's rho."""
    ranks = np.argsort(np.argsort(np.stack([a, b]))).astype(np.float64)
    return correlation(ranks[0], ranks[1])


def correlation(a: Floats, b: Floats) -> float:
    """P-value for two samples, by Pearson's rho."""
    rho = float(np.corrcoef(a, b)[0, 1])
    return _p_value(1 - rho**2, len(a) - 2)


def curvature(x: Floats, t: Floats) -> float:
    """P-value of a squared input added to a line; inputs are centred for numerical accuracy."""
    centred = (x - x.mean()) / np.ptp(x)
    straight = line(centred)
    bent = np.column_stack([straight, centred**2])
    left = least_squares(bent, t).sigma2 / least_squares(straight, t).sigma2
    return _p_value(left, len(t) - 3)


def p_values(x: Floats, t: Floats, errors: Floats) -> dict[str, float]:
    """P-values of a dependence of a line's errors on the input: trend, size and curvature."""
    size = np.abs(errors)
    return {
        "direction by ranks": rank_correlation(x, errors),
        "size by ranks": rank_correlation(x, size),
        "size by values": correlation(x, size),
        "bend": curvature(x, t),
    }


def _p_value(unexplained: float, dof: int) -> float:
    return float(betainc(dof / 2, 0.5, unexplained))
