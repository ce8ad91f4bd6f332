"""The bound against the log evidence, against sampling, and about its maximum (FCML 7.9)."""

from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, Quantity, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.latent._hidden_clusters import HiddenClusters
from models.latent.variational_ppca import bound, fit
from models.latent.variational_ppca_checks import moved, sampled_bound
from models.probability.gaussian import log_density
from models.regression.bayesian_regression import posterior
from models.regression.gaussian_bound import bound as regression_bound

SCALES = [1.0, 0.5, 2.0]  # covariances of Q, in units of the posterior's


@dataclass
class VariationalBound(HiddenClusters, Study):
    """Exercises 7.1 to 7.3: a regression whose evidence is known, and PPCA with missing values."""

    headline = {"first_bound": "bound[0]"}

    n: int = knob(20, "observations of the regression", at_least=1, at_most=10_000)
    noise: float = knob(0.5, "its noise variance", above=0)
    missing: float = knob(0.1, "probability that a value is missing", at_least=0, below=1)
    samples: int = knob(2000, "samples of Q for the check of the bound", at_least=10)

    def run(self, rng: Generator) -> Outcome:
        return Outcome(**self._regression(rng), **self._ppca(rng))

    def _regression(self, rng: Generator) -> dict[str, float | Quantity]:
        """Exercise 7.1 in a model with a known posterior and evidence."""
        Phi = rng.standard_normal((self.n, 3))
        t = Phi @ rng.standard_normal(3) + np.sqrt(self.noise) * rng.standard_normal(self.n)
        m, V = posterior(Phi, t, self.noise, np.zeros(3), np.eye(3))
        covariance = self.noise * np.eye(self.n) + Phi @ Phi.T
        others = [
            regression_bound(Phi, t, self.noise, m + step, scale * V)
            for step in 0.1 * rng.standard_normal((20, 3))
            for scale in (0.8, 1.0, 1.25)
        ]
        shift, sd = axis("shift", np.linspace(-2, 2, 81)), np.sqrt(np.diagonal(V))
        about = [
            [regression_bound(Phi, t, self.noise, m + s * sd, c * V) for s in shift.values]
            for c in SCALES
        ]
        return {
            "log_evidence": float(log_density(t[None], np.zeros(self.n), covariance)[0]),
            "regression_bound": over(about, axis("scale", SCALES), shift),
            "regression_bound_elsewhere": axis("other", len(others)).of(others),
        }

    def _ppca(self, rng: Generator) -> dict[str, float | Quantity]:
        """Exercises 7.2 and 7.3: the printed terms, and updates that maximise them."""
        Y = self.objects(rng)
        Y = Y - Y.mean(axis=1, keepdims=True)
        seen = (rng.random(Y.shape) >= self.missing).astype(float)
        q = fit(Y, seen, 2, rng, tol=1e-9, max_iter=2000).q
        sampled = sampled_bound(Y[0], seen[0], q, self.samples, rng)
        beside = np.stack([bound(aside, seen, 1.0, 1.0) for aside in moved(q, rng)])
        whole, seed = np.ones_like(Y), int(rng.integers(2**32))
        one, two = (
            fit(Y, whole, 2, np.random.default_rng(seed), treatment=treatment).q
            for treatment in ("switches", "latent")
        )
        repetition = axis("repetition", len(Y))
        return {
            "bound": repetition.of(bound(q, seen, 1.0, 1.0)),
            "bound_beside": over(beside, axis("move", len(beside)), repetition),
            "sampled_bound": float(sampled.mean()),  # of the first data set
            "sampling_error": float(sampled.std() / np.sqrt(self.samples)),
            "treatments_apart": max(  # with nothing missing
                float(np.abs(x - y).max()) for x, y in zip(one, two, strict=True)
            ),
        }
