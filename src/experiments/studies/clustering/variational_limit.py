"""A variational mixture and that of maximum likelihood as the data set grows (PRML 10.2.1, 10.2.3).

Also its predictive density, a mixture of Student's t, and the limit of that density.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import digamma

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.clustering._points import place_problems
from bythebook.models.approximation import variational_mixture as variational
from bythebook.models.approximation.variational_mixture import Prior, VariationalMixture
from bythebook.models.clustering import gaussian_mixture as gaussian
from bythebook.models.clustering.gaussian_mixture import GaussianMixture
from bythebook.models.clustering.gaussian_mixture_starts import start_from_labels
from bythebook.models.clustering.gaussian_mixture_variants import fit_with_floor
from bythebook.models.clustering.mixture import posterior
from bythebook.models.em import take
from bythebook.models.types import Floats, Ints

_PLACES = 20  # at which the predictive density is also a mean over draws
_HALF, _STEP = 30.0, 0.5  # the plane over which densities are added up, in spreads
_FLOOR = 1e-3  # the smallest variance of a component, in squared spreads: none may collapse
_NEW = 2000  # points to predict
_GAPS = ("mean_gap", "covariance_gap", "mixing_gap", "responsibility_gap")
_WIDTHS = ("mean_width", "precision_width", "mixing_width")


@dataclass
class VariationalLimit(Study):
    """Variational against maximum-likelihood mixtures as data grow, clusters of equal size."""

    headline = {"last_gap": "mean(last(responsibility_gap, over='n'))"}
    more_quantities = True
    quantities = {
        "responsibility_gap": quantity(
            "largest difference of a responsibility from maximum likelihood", "n repetition"
        ),
    }

    centres: list[list[float]] = knob([[-1.5, 0.0], [1.5, 0.0]], "of round clusters in the plane")
    spread: float = knob(1.0, "standard deviation of a cluster", above=0)
    sizes: list[int] = knob([50, 500, 5000], "points in a data set", at_least=4, distinct=True)
    repetitions: int = knob(8, "data sets of each size", at_least=1, at_most=1000)
    alpha0: float = knob(1.0, "of the Dirichlet prior", above=0)
    beta0: float = knob(1.0, "precision of a mean's prior, in those of its points", above=0)
    nu0: float = knob(2.0, "degrees of freedom of the Wishart prior", above=1)
    draws: int = knob(0, "from the factors, for the predictive density", at_least=0)

    def problems(self) -> Iterator[str]:
        yield from place_problems("centres", self.centres, 2)
        if min(self.sizes) < 4 * len(self.centres):
            yield f"study.sizes={self.sizes}; allowed: four points for each of study.centres"

    def run(self, rng: Generator) -> Outcome:
        K = len(self.centres)
        n, repetition = axis("n", self.sizes), axis("repetition", self.repetitions)
        gaps, widths = (
            np.empty((4, len(n), len(repetition))),
            np.empty((3, len(n), len(repetition))),
        )
        apart = np.empty((2, len(n), len(repetition)))
        new, _ = self._data(_NEW, rng)
        held = np.empty((2, len(n), len(repetition)))
        checked, areas = [], []
        plane = self._plane()
        prior = Prior(self.alpha0, self.beta0, np.zeros(2), self.spread**2 * np.eye(2), self.nu0)
        for i, j in np.ndindex(held.shape[1:]):
            X, labels = self._data(self.sizes[i], rng)
            start = (labels[:, None] == np.arange(K)).astype(np.float64)[None]
            vb = variational.fit(X, start, prior, tol=1e-7, max_iter=1000).theta
            begin, floor = start_from_labels(X, labels[None], K), _FLOOR * self.spread**2
            ml = fit_with_floor(X, begin, floor, tol=1e-7, max_iter=1000).theta
            gaps[:, i, j], widths[:, i, j] = _gaps(X, vb, ml), _widths(vb)
            log_p = variational.log_predictive(plane, vb)[0]
            others = _gaussians(vb), ml
            cell = (_STEP * self.spread) ** 2
            p = cell * np.exp(log_p)
            apart[:, i, j] = [
                np.abs(p - cell * np.exp(gaussian.log_density(plane, other)[0])).sum() / 2
                for other in others
            ]
            held[:, i, j] = (
                variational.log_predictive(new, vb).mean(),
                gaussian.log_density(new, ml).mean(),
            )
            if j == 0:
                areas.append(p.sum())
                checked.append(self._drawn(new[:_PLACES], take(vb, 0), rng) if self.draws else None)
        method = axis("method", ["variational", "likelihood"])
        x = axis("x", 10.0 ** np.arange(7))
        found: dict[str, Quantity] = {}
        if self.draws:
            names, place = (
                ("student_density", "drawn_density", "drawn_error"),
                axis("place", _PLACES),
            )
            columns = np.array(checked).swapaxes(0, 1)
            found |= {k: over(v, n, place) for k, v in zip(names, columns, strict=True)}
        return Outcome(
            **{k: over(v, n, repetition) for k, v in zip(_GAPS, gaps, strict=True)},
            **{k: over(v, n, repetition) for k, v in zip(_WIDTHS, widths, strict=True)},
            gaussian_gap=over(apart[0], n, repetition),  # total variation, to Gaussians alike
            likelihood_gap=over(apart[1], n, repetition),  # and to those of maximum likelihood
            held_out=over(held, method, n, repetition),
            area=n.of(areas),
            digamma_excess=x.of(x.values * np.abs(digamma(x.values) - np.log(x.values))),
            **found,
        )

    def _data(self, N: int, rng: Generator) -> tuple[Floats, Ints]:
        """Points (N, 2) and their clusters (N,), as even as N allows."""
        labels = np.arange(N) % len(self.centres)
        where = np.array(self.centres)[labels]
        return where + self.spread * rng.standard_normal((N, 2)), labels

    def _plane(self) -> Floats:
        side = self.spread * np.arange(-_HALF, _HALF + _STEP / 2, _STEP)
        middle = np.mean(self.centres, axis=0)
        plane = np.stack(np.meshgrid(side, side), axis=-1).reshape(-1, 2) + middle
        return np.asarray(plane)

    def _drawn(self, X: Floats, theta: VariationalMixture, rng: Generator) -> Floats:
        """The predictive density, its mean over draws from the factors, and the error, (3, M)."""
        pi, Lambda, mu = variational.draw_parameters(theta, self.draws, rng)
        away = X[:, None] - mu[:, None]  # (S, M, K, 2)
        square = np.einsum("smkd,skde,smke->smk", away, Lambda, away)
        height = pi * np.sqrt(np.linalg.det(Lambda)) / (2 * np.pi)
        density = (height[:, None] * np.exp(-square / 2)).sum(-1)  # (10.80)
        one = VariationalMixture(*(field[None] for field in theta))
        right = np.exp(variational.log_predictive(X, one)[0])
        return np.array([right, density.mean(0), density.std(0) / np.sqrt(self.draws)])


def _gaps(X: Floats, vb: VariationalMixture, ml: GaussianMixture) -> Floats:
    """The largest differences of means, covariances, coefficients and responsibilities."""
    weight = vb.alpha / vb.alpha.sum(-1, keepdims=True)
    r = posterior(variational.log_rho(X, vb))[0]
    pairs = (
        (vb.m, ml.mu),
        (variational.expected_covariance(vb), ml.Sigma),
        (weight, ml.pi),
        (r, gaussian.responsibilities(X, ml)),
    )
    return np.array([np.abs(a - b).max() for a, b in pairs])


def _widths(theta: VariationalMixture) -> Floats:
    """The largest standard deviations: of a mean, of a precision and a coefficient relatively."""
    mean = np.sqrt(np.diagonal(variational.expected_covariance(theta), axis1=-2, axis2=-1))
    total = theta.alpha.sum(-1, keepdims=True)
    mixing = np.sqrt((total - theta.alpha) / (theta.alpha * (total + 1)))
    found = mean / np.sqrt(theta.beta)[..., None], np.sqrt(2 / theta.nu), mixing
    return np.array([width.max() for width in found])


def _gaussians(theta: VariationalMixture) -> GaussianMixture:
    """Gaussians with the means, precisions and weights of the Student's t (10.82)."""
    scale = (1 + theta.beta) / ((theta.nu - 1) * theta.beta)  # nu + 1 - D in the plane
    weight = theta.alpha / theta.alpha.sum(-1, keepdims=True)
    return GaussianMixture(weight, theta.m, scale[..., None, None] * theta.W_inv)
