"""Equations of PRML 11.1.4 and 11.6, importance sampling and ratios of partition functions."""

from itertools import pairwise, product

import numpy as np
from numpy.random import Generator
from scipy.integrate import quad
from scipy.stats import norm

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.sampling.importance import log_ratio, named, weigh
from bythebook.models.sampling.partition import Model
from bythebook.models.types import Floats


@equation(
    "11.18",
    section="11.1.4",
    latex=r"\mathbb{E}[f] \simeq \sum_{l=1}^L p(\mathbf{z}^{(l)}) f(\mathbf{z}^{(l)})",
    within=1e-5,
)
def sum_over_a_grid(rng: Generator) -> Sides:
    """The expectation as a sum over a uniform grid, with the probabilities of its cells.

    Read to the letter, with a density p, the sum lacks the volume of a cell.
    """
    law, (a, b) = norm(rng.normal(), rng.uniform(0.5, 2)), rng.uniform(0.5, 2, 2)
    low, high = law.ppf([1e-12, 1 - 1e-12])
    edges = np.linspace(low, high, 20_001)
    z, p = (edges[1:] + edges[:-1]) / 2, np.diff(law.cdf(edges))
    truth = quad(lambda x: law.pdf(x) * (x**2 + np.sin(a * x + b)), low, high, limit=200)[0]
    return Sides(truth=truth, printed=p @ (z**2 + np.sin(a * z + b)))


def _average_over_sets(q: Floats, L: int, value: object) -> Floats:
    """The expected value of a function of L independent draws from q, by enumeration."""
    sets = product(range(len(q)), repeat=L)
    return np.asarray(sum(np.prod(q[list(l)]) * np.array(value(list(l))) for l in sets))  # type: ignore[operator]


@equation(
    "11.19 to 11.21",
    section="11.1.4",
    latex=r"\mathbb{E}[f] \simeq \frac{Z_q}{Z_p} \frac{1}{L} \sum_{l=1}^L \tilde{r}_l"
    r" f(\mathbf{z}^{(l)}), \quad \frac{Z_p}{Z_q} \simeq \frac{1}{L} \sum_{l=1}^L \tilde{r}_l,"
    r" \quad \tilde{r}_l = \frac{\tilde{p}(\mathbf{z}^{(l)})}{\tilde{q}(\mathbf{z}^{(l)})}",
)
def importance_averages(rng: Generator) -> Sides:
    """The expected values of the averages over L draws are the expectation and Z_p / Z_q.

    All sets of L draws of a discrete variable are enumerated. (11.19) is the case of normalised
    distributions.
    """
    K, L = int(rng.integers(3, 6)), int(rng.integers(2, 5))
    p, q, f = rng.uniform(0.2, 3, K), rng.uniform(0.2, 3, K), rng.standard_normal(K)
    Z_p, Z_q, r = p.sum(), q.sum(), p / q

    def averages(l: list[int]) -> list[float]:
        return [Z_q / Z_p * (r[l] @ f[l]) / L, r[l].sum() / L, (p / Z_p / (q / Z_q))[l] @ f[l] / L]

    expectation = p @ f / Z_p
    return Sides(
        truth=(expectation, Z_p / Z_q, expectation),
        printed=tuple(_average_over_sets(q / Z_q, L, averages)),
    )


@equation(
    "11.22, 11.23",
    section="11.1.4",
    latex=r"\mathbb{E}[f] \simeq \sum_{l=1}^L w_l f(\mathbf{z}^{(l)}), \quad"
    r" w_l = \frac{\tilde{r}_l}{\sum_m \tilde{r}_m}",
)
def normalised_weights(rng: Generator) -> Sides:
    """The weighted sum without either constant, against the project's estimate in logs."""
    target, (mean, sd) = named(f"bumps {rng.uniform(1, 5):.3f}"), (rng.normal(), rng.uniform(1, 3))
    z = rng.normal(mean, sd, int(rng.integers(3, 40)))
    log_r = log_ratio(target, mean, sd, z)
    r = np.exp(target.log_p(z)) / norm(mean, sd).pdf(z)
    w = r / r.sum()
    return Sides(truth=weigh(target, log_r, z, ["square"]).normalised[0], printed=w @ z**2)


@equation(
    "11.2, 11.3",
    section="11",
    latex=r"\hat{f} = \frac{1}{L} \sum_{l=1}^L f(\mathbf{z}^{(l)}), \quad \mathbb{E}[\hat{f}]"
    r" = \mathbb{E}[f], \quad \text{var}[\hat{f}] = \frac{1}{L} \mathbb{E} [(f -"
    r" \mathbb{E}[f])^2]",
)
def moments_of_an_average(rng: Generator) -> Sides:
    """Mean and variance of the average of f over L independent draws (Exercise 11.1).

    All sets of L draws of a discrete variable are enumerated.
    """
    K, L = int(rng.integers(3, 6)), int(rng.integers(2, 5))
    p, f = rng.dirichlet(np.ones(K)), rng.standard_normal(K)
    mean = p @ f
    variance = p @ (f - mean) ** 2 / L
    average = _average_over_sets(p, L, lambda l: [f[l].sum() / L])
    spread = _average_over_sets(p, L, lambda l: [(f[l].sum() / L) ** 2]) - average**2
    return Sides(truth=(average, spread), printed=(np.array([mean]), np.array([variance])))


@equation(
    "11.72",
    section="11.6",
    latex=r"\frac{Z_E}{Z_G} = \mathbb{E}_{G(\mathbf{z})}[\exp(-E + G)] \simeq \sum_l"
    r" \exp(-E(\mathbf{z}^{(l)}) + G(\mathbf{z}^{(l)}))",
    corrected=r"\frac{Z_E}{Z_G} = \mathbb{E}_{G(\mathbf{z})}[\exp(-E + G)] \simeq \frac{1}{L}"
    r" \sum_l \exp(-E(\mathbf{z}^{(l)}) + G(\mathbf{z}^{(l)}))",
    cause="sum-without-number-of-samples",
)
def ratio_of_partition_functions(rng: Generator) -> Sides:
    """The expected value of the estimate over all sets of L draws of a discrete variable."""
    K, L = int(rng.integers(3, 6)), int(rng.integers(2, 5))
    E, G = rng.normal(0, 1.5, (2, K))
    Z_E, Z_G = np.exp(-E).sum(), np.exp(-G).sum()
    total = _average_over_sets(np.exp(-G) / Z_G, L, lambda l: [np.exp(-E[l] + G[l]).sum()])[0]
    return Sides(truth=Z_E / Z_G, printed=total, corrected=total / L)


@equation(
    "11.74, 11.75",
    section="11.6",
    latex=r"\frac{Z_M}{Z_1} = \frac{Z_2}{Z_1} \frac{Z_3}{Z_2} \cdots \frac{Z_M}{Z_{M-1}}, \quad"
    r" E_\alpha(\mathbf{z}) = (1 - \alpha) E_1(\mathbf{z}) + \alpha E_M(\mathbf{z})",
)
def chained_ratios(rng: Generator) -> Sides:
    """The product of the intermediate ratios, each an expectation under the distribution before.

    The energies are those of the project's wells on a line; Z is a sum over a fine grid.
    """
    model = Model(1, rng.uniform(1, 4), rng.uniform(0.7, 2))
    alphas = np.concatenate([[0], np.sort(rng.random(int(rng.integers(1, 5)))), [1]])
    z = np.linspace(-9, 9, 3001)[:, None]
    first, last = z[:, 0] ** 2 / (2 * model.width**2), model.depth * (z[:, 0] ** 2 - 1) ** 2
    ratios = []
    for a, b in pairwise(alphas):
        energies = [(1 - alpha) * first + alpha * last for alpha in (a, b)]
        p = np.exp(-energies[0]) / np.exp(-energies[0]).sum()
        ratios.append(p @ np.exp(energies[0] - energies[1]))
    ends = [np.exp(-model.energy(z, alpha)).sum() for alpha in (0.0, 1.0)]
    return Sides(truth=ends[1] / ends[0], printed=np.prod(ratios))
