r"""How wrong Laplace's integral of likelihood times prior is, for two weights.

It is exact where the product is a Gaussian in w: both factors must be. Likelihoods are `gaussian`
(targets with noise of variance one) and `sigmoid` (labels); priors `gaussian` and `logistic`, a
density of the same kind with heavier tails.
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from models.types import Floats

LIKELIHOODS = ("gaussian", "sigmoid")
PRIORS = ("gaussian", "logistic")


def log_product(w: Floats, Phi: Floats, t: Floats, likelihood: str, prior: str) -> Floats:
    """Log of likelihood times prior for weights (..., 2); labels are the signs of targets t."""
    a = w @ Phi.T
    if likelihood == "gaussian":
        log_l = -((t - a) ** 2 + np.log(2 * np.pi)).sum(-1) / 2
    else:
        log_l = -np.logaddexp(0, -np.sign(t) * a).sum(-1)
    if prior == "gaussian":
        return np.asarray(log_l - (w**2 + np.log(2 * np.pi)).sum(-1) / 2)
    return np.asarray(log_l + (w - 2 * np.logaddexp(0, w)).sum(-1))


def gap(Phi: Floats, t: Floats, likelihood: str, prior: str) -> float:
    """Laplace's log integral less that of a fine sum over the plane, for Phi (N, 2)."""

    def height(w: Floats) -> float:
        return -float(log_product(w, Phi, t, likelihood, prior))

    best = minimize(height, np.zeros(2), method="BFGS", options={"gtol": 1e-9}).x
    h, eye = 1e-3, np.eye(2)
    shifts = [
        [best + h * (i * a + j * b) for i in (1, -1) for j in (1, -1)] for a in eye for b in eye
    ]
    values = log_product(np.array(shifts), Phi, t, likelihood, prior)
    hessian = (values @ [1, -1, -1, 1] / (4 * h**2)).reshape(2, 2)
    laplace = -height(best) + np.log(2 * np.pi) - np.linalg.slogdet(-hessian).logabsdet / 2
    width = np.sqrt(np.diagonal(np.linalg.solve(-hessian, eye)).max())
    side = 20 * width * np.linspace(-1, 1, 401)
    plane = best + np.stack(np.meshgrid(side, side), axis=-1)
    exact = logsumexp(log_product(plane, Phi, t, likelihood, prior)) + 2 * np.log(side[1] - side[0])
    return float(laplace - exact)
