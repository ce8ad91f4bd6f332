"""Equations of FCML 2.5.1: expectations under a uniform density."""

from numpy.random import Generator
from scipy.integrate import quad

from bythebook.experiments.core.equations import Sides, equation


@equation(
    "section 2.5.1, E{y^2}",
    section="2.5.1",
    latex=r"\mathbf{E}_{p(y)} \{y^2\} = \int_{y=a}^b \frac{y^2}{b - a} \, dy"
    r" = \frac{b^3 - a^3}{3 (b - a)}",
)
def mean_square_of_uniform(rng: Generator) -> Sides:
    """The expected value of y^2 under a uniform density."""
    a = rng.normal()
    b = a + rng.uniform(0.3, 4)
    truth = quad(lambda y: y**2 / (b - a), a, b)[0]
    return Sides(truth=truth, printed=(b**3 - a**3) / (3 * (b - a)))
