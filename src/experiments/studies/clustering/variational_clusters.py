"""Gaussian mixtures with factorised posteriors: what is left of K components (PRML 10.2)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaln, softmax

from experiments.contract.outcome import Axis, Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.clustering._points import Clusters, numbered, of_points
from models.approximation import variational_mixture as variational
from models.approximation import variational_mixture_checks as checks
from models.approximation.variational_mixture import Prior, VariationalMixture
from models.clustering import gaussian_mixture as gaussian
from models.clustering.gaussian_mixture_starts import start_at_points, weighted_moments
from models.clustering.kmeans import assign, random_points
from models.clustering.mixture import posterior
from models.em import EMFit, held, smallest_gain, take
from models.types import Floats

_BEFORE = 2  # iterations after which an update is looked at, far from rest
_DRAWS = 1000  # from the factors, for each term of the bound
_OVERLAPS = 200  # draws for the overlap of copies
_COPIED = 6  # components at most whose K! copies are told apart
_FACTOR = ["alpha", "beta", "first mean", "last mean", "first spread", "cross spread", "nu"]
_SPLIT_STARTS = 4  # of each fit to half of the points


@dataclass
class VariationalClusters(Clusters, Study):
    """Variational mixtures from random starts: components left, bounds, and checks of both.

    The prior is Dir(alpha0) for the coefficients and, for each component, N(0, (beta0 Lambda)^-1)
    W(w0 I, nu0). alpha0 = 0 stands for coefficients that are parameters (10.83). A start takes each
    point to the nearest of K random ones.
    """

    headline = {"components_left": "median(count(points_taken >= 1, over='component'))"}

    k: list[int] = knob([6], "numbers of components", at_least=1, at_most=40, distinct=True)
    alpha0: list[float] = knob(
        [0.001], "of the Dirichlet prior; 0: coefficients are parameters", at_least=0, distinct=True
    )
    beta0: float = knob(1.0, "precision of a mean's prior, in those of its points", above=0)
    nu0: float = knob(2.0, "degrees of freedom of the Wishart prior", above=0)
    w0: float = knob(1.0, "the Wishart prior's scale matrix is w0 I", above=0)
    restarts: int = knob(20, "starts of each fit", at_least=1, at_most=10_000)
    iterations: int = knob(500, "iterations at most", at_least=1, at_most=100_000)
    tol: float = knob(1e-6, "stop when the bound gains no more", above=0)
    shown: list[int] = knob([0], "iterations of the best start that are drawn", at_least=0)
    checks: int = knob(0, "iterations whose bounds are taken term by term", at_least=0)
    splits: int = knob(0, "times that half of the points is left out", at_least=0, at_most=1000)
    copies: list[int] = knob(
        [], "of study.k, whose exchanged copies are added", may_be_empty=True, distinct=True
    )

    def rules(self) -> Iterator[str]:
        N, D = self.size
        if self.nu0 <= D - 1:
            yield f"study.nu0={self.nu0:g} of {D} variables; allowed: > {D - 1}"
        if max(self.k) > N // 2:
            yield f"study.k={self.k}: there are {N} points; allowed: at most half as many"
        if not set(self.copies) <= set(self.k) or max(self.copies, default=0) > _COPIED:
            yield f"study.copies={self.copies}; allowed: some of study.k, at most {_COPIED}"
        if 0 in self.alpha0 and (self.splits or self.copies):
            yield "study.alpha0 has 0: study.splits and study.copies need a Dirichlet factor"

    def prior(self, alpha0: float) -> Prior:
        D = self.size[1]
        return Prior(alpha0, self.beta0, np.zeros(D), np.eye(D) / self.w0, self.nu0)

    def run(self, rng: Generator) -> Outcome:
        X = self.points(rng)
        alpha0, k = axis("alpha0", self.alpha0), axis("k", self.k)
        restart, component = axis("restart", self.restarts), numbered("component", max(self.k))
        axes = alpha0, k, restart
        taken, moved = np.zeros((2, *map(len, axes), len(component)))
        bound, steps = np.empty((2, *map(len, axes)))
        gain = np.empty((len(alpha0), len(k)))
        gains: dict[tuple[int, int], float] = {}
        starts = [self._start(X, K, self.restarts, rng) for K in self.k]
        for (i, j), _ in np.ndenumerate(gain):
            prior, K = self.prior(self.alpha0[i]), self.k[j]
            first = (i, K) == (0, max(self.k))
            em = self._fit(X, starts[j], prior, self.tol, self.shown if first else [])
            taken[i, j, :, :K] = em.theta.alpha - prior.alpha0
            moved[i, j, :, :K] = variational.components_kl(em.theta, prior)
            bound[i, j], steps[i, j], gain[i, j] = (
                em.final,
                em.iterations,
                smallest_gain(em.objective),
            )
            if first:
                drawn = self._shown(em, component)
            if K in self.copies:
                best = take(em.theta, [em.best])
                r = posterior(variational.log_rho(X, best))[0][0]
                one = r, take(best, 0), prior, _OVERLAPS, rng
                gains[i, self.copies.index(K)] = checks.copies_gain(*one)
        found: dict[str, Quantity] = {}
        if self.copies:
            found["copies_gain"] = over(
                [[gains[i, j] for j in range(len(self.copies))] for i in range(len(alpha0))],
                *(alpha0, axis("copied", self.copies)),
            )
        if self.checks:
            found |= self._checks(X, starts[0], self.prior(self.alpha0[0]), restart, rng)
        if self.splits:
            found |= self._splits(X, k, rng)
        return Outcome(
            points=of_points(X),
            points_taken=over(taken, *axes, component),
            from_prior=over(moved, *axes, component),  # nats: KL(q(mu_k, Lambda_k) || p)
            bound=over(bound, *axes),
            iterations=over(steps.astype(int), *axes),
            smallest_gain=over(gain, alpha0, k),
            log_copies=k.of(gammaln(k.values + 1)),  # ln K!
            **drawn,
            **found,
        )

    def _start(self, X: Floats, K: int, restarts: int, rng: Generator) -> Floats:
        nearest = assign(X, random_points(X, K, rng, restarts))
        return np.asarray(nearest[..., None] == np.arange(K), dtype=np.float64)

    def _fit(
        self, X: Floats, start: Floats, prior: Prior, tol: float, shown: list[int]
    ) -> EMFit[VariationalMixture]:
        limits = {"tol": tol, "max_iter": self.iterations}
        return variational.fit(X, start, prior, snapshots=shown, **limits)  # type: ignore[arg-type]

    def _shown(self, em: EMFit[VariationalMixture], component: Axis) -> dict[str, Quantity]:
        """The best start on its way: what Figure 10.6 shows."""
        variable = numbered("variable", em.theta.m.shape[-1])
        step, other = axis("step", self.shown), numbered("other", len(variable))
        kept = [take(em.snapshots[t], em.best) for t in self.shown]
        history = held(em.objective)[em.best]
        return {
            "shown_coefficient": over([q.alpha / q.alpha.sum() for q in kept], step, component),
            "shown_mean": over([q.m for q in kept], step, component, variable),
            "shown_covariance": over(
                [variational.expected_covariance(q) for q in kept], step, component, variable, other
            ),
            "history": axis("iteration", len(history)).of(history),
        }

    def _checks(
        self, X: Floats, start: Floats, prior: Prior, restart: Axis, rng: Generator
    ) -> dict[str, Quantity]:
        """The bound of the smallest K, in half steps and about an update of the first start."""
        halves = checks.half_steps(X, start, prior, self.checks)
        point = prior.alpha0 == 0
        limits = {"tol": -np.inf, "max_iter": _BEFORE}
        early = variational.fit(X, start, prior, **limits)  # type: ignore[arg-type]
        before = take(early.theta, 0)
        R = posterior(variational.log_rho(X, early.theta, point=point))[0]
        updated = variational.factors(weighted_moments(X, R), X.mean(0), prior)
        r, theta = R[0], take(updated, 0)
        near = checks.differences(X, before, r, theta, prior)
        wrong = checks.differences(X, before, r, theta._replace(nu=theta.nu + 1), prior)
        gaps = checks.searched(X, r, theta, prior, rng)
        block, parameter = axis("block", list(near.slope)), axis("parameter", checks.PARAMETERS)
        term = axis("term", checks.TERMS)
        found = {
            "half_step_bound": over(
                halves.sum(-1), restart, axis("half_step", range(1, 2 * self.checks + 1))
            ),
            "slope": block.of(list(near.slope.values())),
            "curvature": block.of(list(near.curvature.values())),
            "searched_gap": parameter.of([gaps[name] for name in checks.PARAMETERS]),
            "slope_as_shifted": parameter.of([wrong.slope[name] for name in checks.PARAMETERS]),
            "short_bound": restart.of(early.final),
            "early_terms": over(checks.terms(X, R, early.theta, prior), restart, term),
            "update": over(
                [_kept(theta), _kept(_as_printed(X, r, prior))],
                axis("form", ["fit", "printed"]), axis("factor", _FACTOR),
                numbered("component_of", len(theta.m)),
            ),
            "responsibility": over(
                [r, _printed_responsibilities(X, before, point)],
                axis("form", ["fit", "printed"]), axis("point", len(X)),
                numbered("component_of", len(theta.m)),
            ),
        }  # fmt: skip
        if not point:
            drawn = checks.drawn_terms(X, r, theta, prior, checks.draw(r, theta, _DRAWS, rng))
            found |= {
                "updated_term": term.of(checks.terms(X, r, theta, prior)),
                "drawn_term": term.of(drawn.mean(0)),
                "drawn_error": term.of(drawn.std(0) / np.sqrt(_DRAWS)),
                "entropy": axis("q_term", checks.TERMS[4:]).of(checks.entropies(r, theta)),
            }
        return found

    def _splits(self, X: Floats, k: Axis, rng: Generator) -> dict[str, Quantity]:
        """Mean log density of points left out: the variational mixture's and the likeliest's."""
        method, split = axis("method", ["variational", "likelihood"]), axis("split", self.splits)
        found = np.empty((len(method), len(k), self.splits))
        prior = self.prior(self.alpha0[0])
        for i in range(self.splits):
            order = rng.permutation(len(X))
            seen, left = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
            for j, K in enumerate(self.k):
                start = self._start(seen, K, _SPLIT_STARTS, rng)
                vb = self._fit(seen, start, prior, self.tol, [])
                best = take(vb.theta, [vb.best])
                found[0, j, i] = variational.log_predictive(left, best).mean()
                ml = gaussian.fit(
                    seen,
                    start_at_points(seen, K, rng, _SPLIT_STARTS),
                    min_eigenvalue=1e-4,  # what collapses is left out
                    tol=1e-4,
                    max_iter=self.iterations,
                )
                likely = take(ml.theta, [ml.best])
                found[1, j, i] = gaussian.log_density(left, likely).mean()
        return {"held_out": over(found, method, k, split)}


def _kept(q: VariationalMixture) -> Floats:
    """What is compared of an update, (7, K)."""
    spread = q.W_inv[:, 0]
    return np.array([q.alpha, q.beta, q.m[:, 0], q.m[:, -1], spread[:, 0], spread[:, -1], q.nu])


def _as_printed(X: Floats, r: Floats, prior: Prior) -> VariationalMixture:
    """10.51 to 10.53 and 10.58 to 10.63, component by component, for r (N, K)."""
    N = r.sum(0)
    mean = (r.T @ X) / N[:, None]
    S = [np.atleast_2d(np.cov(X.T, aweights=weight, ddof=0)) for weight in r.T]
    beta = prior.beta0 + N
    m = (prior.beta0 * prior.m0 + N[:, None] * mean) / beta[:, None]
    off = [np.outer(a, a) for a in mean - prior.m0]
    pull = (prior.beta0 * N / beta)[:, None, None]
    W_inv = prior.W0_inv + N[:, None, None] * np.array(S) + pull * np.array(off)
    return VariationalMixture(prior.alpha0 + N, beta, m, W_inv, prior.nu0 + N)


def _printed_responsibilities(X: Floats, q: VariationalMixture, point: bool) -> Floats:
    """10.64 to 10.67, with 10.83 where coefficients are parameters, (N, K)."""
    D, K = X.shape[1], len(q.m)
    log_pi = np.log(q.alpha / len(X)) if point else digamma(q.alpha) - digamma(q.alpha.sum())
    rho = np.empty((len(X), K))
    for k in range(K):
        W, off = np.linalg.inv(q.W_inv[k]), X - q.m[k]
        degrees = (q.nu[k] + 1 - np.arange(1, D + 1)) / 2
        log_det = digamma(degrees).sum() + D * np.log(2) + np.log(np.linalg.det(W))
        square = D / q.beta[k] + q.nu[k] * np.einsum("nd,de,ne->n", off, W, off)
        rho[:, k] = log_pi[k] + log_det / 2 - square / 2
    return np.asarray(softmax(rho, axis=1))
