"""Equations of PRML 12.2.1, independent parameters of covariances."""

from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.graphs.dimension import dimension, full_covariance, low_rank_covariance


@equation(
    "section 12.2.1, general covariance",
    section="12.2.1",
    latex=r"\frac{D (D + 1)}{2}",
)
def parameters_of_a_covariance(rng: Generator) -> Sides:
    """The number of independent parameters of a general covariance, as the rank of a Jacobian."""
    D = int(rng.integers(2, 9))
    return Sides(truth=dimension(full_covariance(D), rng), printed=D * (D + 1) / 2)


@equation(
    "12.51",
    section="12.2.1",
    latex=r"D M + 1 - \frac{M (M - 1)}{2}",
)
def parameters_of_principal_components(rng: Generator) -> Sides:
    """The number of independent parameters of probabilistic PCA with M < D.

    The reference is the rank of the Jacobian of the covariance, at a random point.
    """
    D = int(rng.integers(2, 9))
    M = int(rng.integers(0, D))
    truth = dimension(low_rank_covariance(D, M, isotropic=True), rng)
    return Sides(truth=truth, printed=D * M + 1 - M * (M - 1) / 2)


@equation(
    "section 12.2.1, M = D - 1",
    section="12.2.1",
    latex=r"M = D - 1: \quad \frac{D (D + 1)}{2}",
)
def as_many_as_a_general_covariance(rng: Generator) -> Sides:
    """With M = D - 1, probabilistic PCA has as many parameters as a general covariance."""
    D = int(rng.integers(2, 9))
    truth = dimension(low_rank_covariance(D, D - 1, isotropic=True), rng)
    return Sides(truth=truth, printed=D * (D + 1) / 2)


@equation(
    "section 12.2.1, growth with D",
    section="12.2.1",
    latex=r"M \text{ fixed}: \quad \text{number} = a + M D",
)
def linear_growth_with_dimension(rng: Generator) -> Sides:
    """For fixed M, each further dimension adds M independent parameters."""
    D = int(rng.integers(2, 7))
    M = int(rng.integers(1, D))
    counts = [dimension(low_rank_covariance(d, M, isotropic=True), rng) for d in range(D, D + 3)]
    return Sides(truth=counts, printed=[counts[0] + M * more for more in range(3)])
