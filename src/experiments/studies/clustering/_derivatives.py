"""Derivatives of a mixture's log likelihood for its means (PRML 9.16, Notes 3.18)."""

import numpy as np

from experiments.contract.outcome import Quantity, axis, over
from models.clustering.gaussian_mixture import GaussianMixture
from models.clustering.gaussian_mixture_score import (
    mean_terms_as_printed,
    mean_terms_by_differences,
    score,
)
from models.types import Floats


def mean_derivatives(X: Floats, theta: GaussianMixture) -> Quantity:
    """Of one mixture: by differences of the log likelihood, as printed, and with the inverse."""
    found = {
        "numerical": mean_terms_by_differences(X, theta),
        "printed": mean_terms_as_printed(X, theta),
        "corrected": score(X, theta).mu,
    }
    _, K, D = theta.mu.shape
    return over(
        np.concatenate(list(found.values())),
        axis("formula", list(found)),
        axis("component", np.arange(1, K + 1)),
        axis("variable", np.arange(1, D + 1)),
    )
