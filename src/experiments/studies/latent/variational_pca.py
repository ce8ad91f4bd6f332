"""Probabilistic PCA by variational Bayes: the bound and the latent clusters (FCML 7.5, 7.9)."""

from copy import deepcopy
from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.random import Generator
from scipy.special import digamma, gammaincinv

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.latent._hidden_clusters import HiddenClusters, second_moment
from bythebook.models.em import held
from bythebook.models.latent.groups import astray
from bythebook.models.latent.variational_ppca import Posterior, bound, error_as_printed, fit
from bythebook.models.latent.variational_ppca_checks import moved, sampled_bound
from bythebook.models.regression import gaussian_bound
from bythebook.models.regression.curves import quadrature
from bythebook.models.types import Floats

SCALES = [1.0, 0.5, 2.0]  # covariances of Q in a regression, in units of the posterior's


@dataclass
class VariationalPca(HiddenClusters, Study):
    """Bound and posterior means of variational PCA, with the f of the text and corrected.

    Also all factors of the first data set after one iteration. With samples of Q also exercises 7.1
    to 7.3: the value of the bound and the place of its maximum.
    """

    headline = {
        "mean_precision": "mean(precision['corrected'])",
        "median_iterations": "median(iterations)",
        "neighbours_of_another_cluster": "mean(neighbours_of_another_cluster)",
    }
    more_quantities = True
    quantities = {
        "iterations": quantity("iterations until the bound converges", "repetition"),
        "precision": quantity("mean of the noise precision", "f repetition"),
        "neighbours_of_another_cluster": quantity(
            "share of the points whose nearest neighbour is of another cluster", "repetition"
        ),
        "points": quantity("values of the first data set", "object variable"),
        "posterior_means": quantity("posterior mean of the latent variables", "object latent"),
        "bound": quantity(
            "variational lower bound on the log evidence", "f repetition iteration", unit="nats"
        ),
        "neighbours_in_the_data": quantity(
            "share of the points whose nearest data neighbour is of another cluster", "repetition"
        ),
        "expected_log_precision": quantity("expected log of the noise precision", "by"),
        "x_mean": quantity("posterior mean of a latent variable", "object latent"),
        "x_precision": quantity(
            "posterior precision of the latent variables", "object latent other_latent"
        ),
        "x_square": quantity(
            "posterior second moment of the latent variables", "object latent other_latent"
        ),
        "x_log_volume": quantity(
            "log determinant of the covariance of the latent variables", "object"
        ),
        "w_mean": quantity("posterior mean of the weights", "variable latent"),
        "w_precision": quantity(
            "posterior precision of the weights", "variable latent other_latent"
        ),
        "w_square": quantity(
            "posterior second moment of the weights", "variable latent other_latent"
        ),
        "w_log_volume": quantity("log determinant of the covariance of the weights", "variable"),
        "seen": quantity("whether a value is seen", "object variable"),
        "start_mean": quantity("weights at the start", "variable latent"),
        "start_square": quantity(
            "second moment of the weights at the start", "variable latent other_latent"
        ),
        "first_e": quantity("first parameter of the noise after one iteration"),
        "first_f": quantity("second parameter of the noise after one iteration", "f"),
        "first_bound": quantity("bound after one iteration", unit="nats"),
        "log_evidence": quantity("log evidence of a regression", unit="nats"),
        "sampled_bound": quantity("bound from samples of Q", unit="nats"),
        "sampling_error": quantity("standard error of the bound from samples", unit="nats"),
    }

    latent: int = knob(2, "latent dimensions D", at_least=1, at_most=20)
    tol: float = knob(1e-3, "stop when the bound gains no more", above=0)
    missing: float = knob(0.0, "probability that a value is missing", at_least=0, below=1)
    samples: int = knob(0, "samples of Q that check the bound; 0 is none", at_least=0)

    def run(self, rng: Generator) -> Outcome:
        checks = _regression(rng) if self.samples else {}
        Y = self.objects(rng)
        Y = Y - Y.mean(axis=1, keepdims=True)
        uniform = rng.random(Y.shape) if self.missing else np.ones_like(Y)
        seen = (uniform >= self.missing).astype(float)
        solve = partial(fit, Y, seen, self.latent, rng, tol=self.tol, max_iter=2000)
        fits = [solve()]
        q = fits[0].q
        checks |= self._exercises(Y, seen, q, rng) if self.samples else {}
        fits.append(solve(as_printed=True))
        longest = max(done.bound.shape[1] for done in fits)
        scales = [0.98, 1.0, 1.02]  # f, and values close to it
        nearby = [bound(q._replace(f=q.f * c), seen, 1.0, 1.0) for c in scales]
        rule = quadrature(0.0, 1.0, 400)  # <log tau>: the closed form, and over its quantiles
        log_tau = np.log(gammaincinv(q.e[0], rule.x) / q.f[0])
        f, repetition = axis("f", ["corrected", "printed"]), axis("repetition", len(Y))
        thing, iteration = axis("object", Y.shape[1]), axis("iteration", range(1, longest + 1))
        return Outcome(
            points=over(Y[0], thing, axis("variable", Y.shape[2])),
            posterior_means=over(q.mu_x[0], thing, axis("latent", self.latent)),
            bound=over([held(done.bound, longest) for done in fits], f, repetition, iteration),
            iterations=repetition.of(fits[0].iterations),
            precision=over([done.q.tau for done in fits], f, repetition),
            bound_at_scaled_f=over(nearby, axis("factor", scales), repetition),
            neighbours_of_another_cluster=repetition.of(astray(q.mu_x, self.labels)),
            neighbours_in_the_data=repetition.of(astray(Y, self.labels)),  # of another cluster
            expected_log_precision=axis("by", ["closed form", "quadrature"]).of(
                [digamma(q.e[0]) - np.log(q.f[0]), rule.weight @ log_tau]
            ),
            **self._first_iteration(Y[:1], seen[:1], rng.spawn(1)[0]),
            **checks,
        )

    def _exercises(
        self, Y: Floats, seen: Floats, q: Posterior, rng: Generator
    ) -> dict[str, float | Quantity]:
        """Exercises 7.2 and 7.3: the printed terms, and updates that maximise them."""
        sampled = sampled_bound(Y[0], seen[0], q, self.samples, rng)
        displaced = np.stack([bound(aside, seen, 1.0, 1.0) for aside in moved(q, rng)])
        whole, seed = np.ones_like(Y), int(rng.integers(2**32))
        one, two = (
            fit(Y, whole, self.latent, np.random.default_rng(seed), treatment=treatment).q
            for treatment in ("switches", "latent")
        )
        return {
            "bound_beside": over(
                displaced, axis("move", len(displaced)), axis("repetition", len(Y))
            ),
            "sampled_bound": float(sampled.mean()),  # of the first data set
            "sampling_error": float(sampled.std() / np.sqrt(self.samples)),
            "treatments_apart": max(  # with nothing missing
                float(np.abs(x - y).max()) for x, y in zip(one, two, strict=True)
            ),
        }

    def _first_iteration(
        self, Y: Floats, seen: Floats, rng: Generator
    ) -> dict[str, float | Quantity]:
        """All factors of one data set after one iteration, and the initial weights."""
        D, variable = self.latent, axis("variable", Y.shape[2])
        start = deepcopy(rng).standard_normal((Y.shape[2], D))  # the draws that the fit makes next
        done = fit(Y, seen, D, rng, max_iter=1)
        q, latent = done.q, (axis("latent", D), axis("other_latent", D))
        as_printed = 1 + (seen * error_as_printed(q)).sum() / 2
        sides = {"x": axis("object", Y.shape[1]), "w": variable}
        factors = {"x": (q.mu_x[0], q.Sigma_x[0]), "w": (q.mu_w[0], q.Sigma_w[0])}
        found = dict[str, float | Quantity]()
        for name, side in sides.items():
            mean, covariance = factors[name]
            found |= {
                f"{name}_mean": over(mean, side, latent[0]),
                f"{name}_precision": over(np.linalg.inv(covariance), side, *latent),
                f"{name}_square": over(second_moment(mean, covariance), side, *latent),
                f"{name}_log_volume": side.of(np.log(np.linalg.det(covariance))),
            }
        return {
            **found,
            "seen": over(seen[0], *sides.values()),
            "start_mean": over(start, variable, latent[0]),
            "start_square": over(second_moment(start, np.eye(D)), variable, *latent),
            "first_e": float(q.e[0]),
            "first_f": axis("f", ["corrected", "printed"]).of([q.f[0], as_printed]),
            "first_bound": float(done.bound[0, 0]),
        }


def _regression(rng: Generator) -> dict[str, float | Quantity]:
    """Exercise 7.1 in a model with a known posterior and evidence."""
    known = gaussian_bound.example(20, 3, 0.5, rng)
    others = [
        known.bound(known.m + step, scale * known.V)
        for step in 0.1 * rng.standard_normal((20, 3))
        for scale in (0.8, 1.0, 1.25)
    ]
    shift, sd = axis("shift", np.linspace(-2, 2, 81)), np.sqrt(np.diagonal(known.V))
    about = [[known.bound(known.m + s * sd, c * known.V) for s in shift.values] for c in SCALES]
    return {
        "log_evidence": known.log_evidence,
        "regression_bound": over(about, axis("scale", SCALES), shift),
        "regression_bound_elsewhere": axis("other", len(others)).of(others),
    }
