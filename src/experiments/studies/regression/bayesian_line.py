"""Bayesian regression of a line: posterior of its weights and of its noise (FCML 3.7).

w ~ N(mu_0, Sigma_0),  t | w ~ N(X w, sigma^2 I);    sigma^2 ~ IG(alpha, beta) for known w
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.datasets import load
from bythebook.models.probability.gaussian import log_density_1d
from bythebook.models.regression import bayesian_regression as bayes
from bythebook.models.regression.linear import least_squares, line
from bythebook.models.types import Floats


@dataclass
class BayesianLine(Study):
    """Posterior of the weights of a line with known noise, and of the noise (FCML 3.7)."""

    headline = {"w_1": "last(w_mean, over='observed')[1]", "noise_variance": "noise_variance"}
    quantities = {
        "inputs": quantity("scaled inputs of the data", "point"),
        "targets": quantity("targets of the data", "point"),
        "w_mean": quantity(
            "posterior mean of the weights", "observed weight", equation="FCML 3.23"
        ),
        "w_covariance": quantity(
            "posterior covariance of the weights", "observed weight other", equation="FCML 3.22"
        ),
        "log_determinant": quantity("log determinant of the posterior covariance", "observed"),
        "chance_of_falling": quantity("posterior probability of a negative slope", "observed"),
        "line_sd": quantity("posterior standard deviation of the line", "observed point"),
        "mean_line": quantity("posterior mean of the line", "observed x"),
        "lines": quantity("lines drawn from the posterior", "observed sample x"),
        "noise_variance": quantity("most likely noise variance"),
        "noise_alpha": quantity("first parameter of the posterior of the noise"),
        "noise_beta": quantity("second parameter of the posterior of the noise"),
        "noise_prior": quantity("prior density of the noise variance", "v"),
        "noise_posterior": quantity("posterior density of the noise variance", "v"),
        "scaled_input": quantity("input as it enters the line", "input"),
        "prediction": quantity("mean of the prediction", "input"),
        "prediction_variance": quantity("variance of the prediction", "input"),
        "density": quantity("predictive density at the first new input", "target"),
        "chance_below": quantity("probability that the target is below the threshold", "input"),
    }
    axes = {
        "point": axis_of("point of the data"),
        "observed": axis_of("observed points"),
        "weight": axis_of("weight"),
        "other": axis_of("second weight of a covariance"),
        "sample": axis_of("drawn line"),
        "x": axis_of("scaled input"),
        "v": axis_of("noise variance"),
        "input": axis_of("input of a prediction"),
        "target": axis_of("target"),
    }

    data: str = knob("olympics-100m-men", "the regression data", dataset="regression")
    shift: float = knob(1896.0, "inputs enter as (x - shift) / scale")
    scale: float = knob(4.0, "inputs enter as (x - shift) / scale", above=0)
    prior_mean: list[float] = knob([0.0, 0.0], "prior mean of intercept and slope")
    prior_variances: list[float] = knob([100.0, 5.0], "their prior variances", above=0)
    sigma2: float = knob(10.0, "variance of the noise, where it is known", above=0)
    alpha: float = knob(1.0, "first parameter of the noise's inverse gamma prior", above=0)
    beta: float = knob(0.05, "second parameter of the noise's inverse gamma prior", above=0)
    observed: list[int] = knob([0], "numbers of data that are seen", at_least=0)
    samples: int = knob(10, "lines to draw from each posterior", at_least=1, at_most=200)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)
    threshold: float | None = knob(None, "report the chance of a target below this")

    def problems(self) -> Iterator[str]:
        for name in ("prior_mean", "prior_variances"):
            if len(getattr(self, name)) != 2:
                yield f"study.{name}={getattr(self, name)}; allowed: two numbers"
        n = len(load(self.data).matrix)
        if self.observed != sorted(set(self.observed)) or self.observed[-1] > n:
            yield f"study.observed={self.observed}; allowed: ascending, at most {n}"

    def run(self, rng: Generator) -> Outcome:
        x, t = load(self.data).xt
        Phi, mu_0 = self._design(x), np.array(self.prior_mean)
        Sigma_0 = np.diag(self.prior_variances)
        beliefs = [
            bayes.posterior(Phi[:n], t[:n], self.sigma2, mu_0, Sigma_0)
            if n
            else bayes.Posterior(mu_0, Sigma_0)
            for n in self.observed
        ]
        mean, covariance = (np.array(part) for part in zip(*beliefs, strict=True))
        drawn = [rng.multivariate_normal(*b, self.samples, method="cholesky") for b in beliefs]
        line_sd = [np.sqrt(bayes.predictive(Phi, 0.0, belief).variance) for belief in beliefs]
        ends = self._design([x.min(), max(x.max(), *self.predict_at, x.min())])
        coords: dict[str, Any] = {
            "point": len(t),
            "observed": self.observed,
            "weight": 2,
            "other": 2,
            "sample": self.samples,
            "x": ends[:, 1],
        }
        found: dict[str, Any] = {}
        for places, values in (self._predictions(beliefs[-1]), self._noise(Phi, t)):
            coords |= places
            found |= values
        return outcome(
            coords,
            inputs=("point", Phi[:, 1]),
            targets=("point", t),
            w_mean=("observed weight", mean),
            w_covariance=("observed weight other", covariance),
            log_determinant=("observed", np.linalg.slogdet(covariance).logabsdet),
            chance_of_falling=("observed", ndtr(-mean[:, 1] / np.sqrt(covariance[:, 1, 1]))),
            line_sd=("observed point", line_sd),
            mean_line=("observed x", [ends @ belief.mean for belief in beliefs]),
            lines=("observed sample x", np.array(drawn) @ ends.T),
            **found,
        )

    def _design(self, x: Floats | list[float]) -> Floats:
        return line((np.asarray(x, dtype=np.float64) - self.shift) / self.scale)

    def _predictions(self, belief: bayes.Posterior) -> tuple[dict[str, Any], dict[str, Any]]:
        """The predictive density at the inputs `predict_at`."""
        if not self.predict_at:
            return {}, {}
        at = self._design(self.predict_at)
        mean, variance = bayes.predictive(at, self.sigma2, belief)
        target = mean[0] + np.sqrt(variance[0]) * np.linspace(-4, 4, 201)
        found: dict[str, Any] = {
            "scaled_input": ("input", at[:, 1]),
            "prediction": ("input", mean),
            "prediction_variance": ("input", variance),
            "density": ("target", np.exp(log_density_1d(target, mean[0], variance[0]))),
        }
        if self.threshold is not None:
            below = ndtr((self.threshold - mean) / np.sqrt(variance))
            found["chance_below"] = ("input", below)
        return {"input": self.predict_at, "target": target}, found

    def _noise(self, Phi: Floats, t: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
        """The density of the noise variance, for known weights (FCML Exercise 3.12)."""
        fit, prior = least_squares(Phi, t), bayes.InverseGamma(self.alpha, self.beta)
        after = bayes.noise_posterior(fit.residuals, prior)
        sd = 1 / np.sqrt(after.alpha)  # of the log of the noise variance
        v = after.beta / after.alpha * np.exp(12 * sd * np.linspace(-1, 1, 501))
        return {"v": v}, {
            "noise_variance": fit.sigma2,
            "noise_alpha": after.alpha,
            "noise_beta": after.beta,
            "noise_prior": ("v", np.exp(prior.log_density(v))),
            "noise_posterior": ("v", np.exp(after.log_density(v))),
        }
