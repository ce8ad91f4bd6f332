"""Equations of PRML 14.2, committees."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.regression.committees import committee_errors


@equation(
    "14.7, 14.10, 14.11",
    section="14.2",
    latex=r"E_{\text{AV}} = \frac{1}{M} \sum_{m=1}^M \mathbb{E}_{\mathbf{x}}"
    r" [\epsilon_m(\mathbf{x})^2], \quad E_{\text{COM}} = \mathbb{E}_{\mathbf{x}} \left[ \left\{"
    r" \frac{1}{M} \sum_{m=1}^M y_m(\mathbf{x}) - h(\mathbf{x}) \right\}^2 \right]",
)
def committee_error(rng: Generator) -> Sides:
    """The errors of members and committee, against those that the study computes."""
    M, G = int(rng.integers(2, 9)), int(rng.integers(5, 30))
    y, h = rng.normal(size=(M, G)) + rng.normal(size=G), rng.normal(size=G)
    average = sum(np.mean((y[m] - h) ** 2) for m in range(M)) / M
    committee = np.mean((y.sum(0) / M - h) ** 2)
    return Sides(truth=tuple(committee_errors(y, h)), printed=(average, committee))


@equation(
    "14.14, exercise 14.2",
    section="14.2",
    latex=r"E_{\text{COM}} = \frac{1}{M} E_{\text{AV}}",
)
def uncorrelated_committee(rng: Generator) -> Sides:
    """The error of a committee whose members' errors have means and products of zero.

    The errors at the inputs are orthogonal vectors of different lengths, orthogonal to ones.
    """
    M = int(rng.integers(2, 9))
    G = int(rng.integers(M + 2, 40))
    basis = np.linalg.qr(np.column_stack([np.ones(G), rng.normal(size=(G, M))]))[0][:, 1:]
    errors = basis.T * rng.uniform(0.3, 4, (M, 1))
    h = rng.normal(size=G)
    average = ((errors**2).mean(1)).mean()
    return Sides(truth=committee_errors(h + errors, h).committee, printed=average / M)
