"""Equations of MLAPP 16.5.6.1: a prior with a precision for each kind of weights."""

from typing import cast

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.networks import neural_network as networks
from bythebook.models.types import Floats


class _Ones:
    """A generator whose Gaussian numbers are one."""

    def standard_normal(self, shape: tuple[int, int]) -> Floats:
        return np.ones(shape)


@equation(
    "16.79",
    section="16.5.6.1",
    latex=r"p(\theta) = \mathcal{N}(\mathbf{W} | \mathbf{0}, \frac{1}{\alpha_w} \mathbf{I})"
    r" \mathcal{N}(\mathbf{V} | \mathbf{0}, \frac{1}{\alpha_v} \mathbf{I}) \mathcal{N}(\mathbf{b} |"
    r" \mathbf{0}, \frac{1}{\alpha_b} \mathbf{I}) \mathcal{N}(\mathbf{c} | \mathbf{0},"
    r" \frac{1}{\alpha_c} \mathbf{I})",
)
def variances_of_the_prior(rng: Generator) -> Sides:
    """The project's draws, for standard Gaussian numbers of one, have these variances."""
    D, H, K = (int(n) for n in rng.integers(1, 5, 3))
    v, w, b, c = rng.uniform(0.1, 5, 4)
    precision = networks.per_layer((D, H, K), (v, w), (b, c))
    theta = networks.sample_prior(precision, 1, cast(Generator, _Ones()))[0]
    printed = [1 / v] * (H * D) + [1 / b] * H + [1 / w] * (K * H) + [1 / c] * K
    return Sides(truth=theta**2, printed=np.array(printed))
