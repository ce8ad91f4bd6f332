"""Bayesian regression of a line: posterior of its weights and of its noise (FCML 3.7)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.special import ndtr

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.models.datasets import load
from bythebook.models.regression import bayesian_regression as bayes
from bythebook.models.regression.linear import least_squares, line
from bythebook.models.types import Floats

_SHOWN = ("data", "posterior", "lines", "predictive", "noise")


@dataclass
class BayesianLine(Study):
    """Posterior of the weights of a line with known noise, and of the noise (FCML 3.7)."""

    headline = {"w_1": "last(w_mean, over='observed')[1]", "noise_variance": "noise_variance"}
    quantities = {
        "w_mean": quantity("posterior mean of the weights", "observed weight"),
        "noise_variance": quantity("most likely noise variance"),
        "inputs": quantity("inputs of the data", "point"),
        "targets": quantity("targets of the data", "point"),
        "w_covariance": quantity("posterior covariance of the weights", "observed weight other"),
        "prior_area": quantity("area under the prior, by its normaliser", "normaliser"),
        "log_determinant": quantity("log determinant of the posterior covariance", "observed"),
        "chance_of_falling": quantity("posterior probability of a negative slope", "observed"),
        "line_sd": quantity("posterior standard deviation of the line", "observed point"),
        "mean_line": quantity("posterior mean of the line", "observed x"),
        "lines": quantity("lines drawn from the posterior", "observed sample x"),
        "noise_alpha": quantity("first parameter of the posterior of the noise"),
        "noise_beta": quantity("second parameter of the posterior of the noise"),
        "noise_prior": quantity("prior density of the noise variance", "v"),
        "noise_posterior": quantity("posterior density of the noise variance", "v"),
        "noise_product": quantity(
            "prior times likelihood of the noise variance, scaled to area one", "v"
        ),
        "scaled_input": quantity("input as it enters the line", "input"),
        "prediction": quantity("mean of the prediction", "input"),
        "prediction_variance": quantity("variance of the prediction", "input"),
        "chance_below": quantity("probability that the target is below the threshold", "input"),
    }
    axes = {
        "input": axis_of("input of a prediction"),
        "normaliser": axis_of("normaliser of the prior"),
        "observed": axis_of("observed points"),
        "other": axis_of("second weight of a covariance"),
        "point": axis_of("point of the data"),
        "sample": axis_of("drawn line"),
        "v": axis_of("noise variance"),
        "weight": axis_of("weight"),
        "x": axis_of("input"),
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
    samples: int = knob(10, "lines to draw from each belief", at_least=1, at_most=200)
    predict_at: list[float] = knob([], "inputs to predict at", may_be_empty=True, distinct=True)
    threshold: float | None = knob(None, "report the chance of a target below this")
    show: list[str] = knob(["posterior", "lines"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> Iterator[str]:
        for name in ("prior_mean", "prior_variances"):
            if len(getattr(self, name)) != 2:
                yield f"study.{name}={getattr(self, name)}; allowed: two numbers"
        n = len(load(self.data).matrix)
        if self.observed != sorted(set(self.observed)) or self.observed[-1] > n:
            yield f"study.observed={self.observed}; allowed: ascending, at most {n}"
        if "predictive" in self.show and not self.predict_at:
            yield "study.show=predictive needs study.predict_at"

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
        seen, point = axis("observed", self.observed), axis("point", len(t))
        weight, end = axis("weight", 2), axis("x", ends[:, 1])
        # 3.7.4 prints half the number of data, not of weights, for the power of 2 pi.
        powers = {"printed": len(t) / 2, "corrected": len(mu_0) / 2}
        areas = [bayes.prior_area(self.prior_variances, power) for power in powers.values()]
        return Outcome(
            inputs=point.of(Phi[:, 1]),  # scaled
            targets=point.of(t),
            w_mean=over(mean, seen, weight),
            w_covariance=over(covariance, seen, weight, axis("other", 2)),
            prior_area=axis("normaliser", list(powers)).of(areas),
            log_determinant=seen.of(np.linalg.slogdet(covariance).logabsdet),
            chance_of_falling=seen.of(ndtr(-mean[:, 1] / np.sqrt(covariance[:, 1, 1]))),  # w_1 < 0
            line_sd=over(line_sd, seen, point),
            mean_line=over([ends @ belief.mean for belief in beliefs], seen, end),
            lines=over(np.array(drawn) @ ends.T, seen, axis("sample", self.samples), end),
            **self._predictions(beliefs[-1]),
            **self._noise(Phi, t),
        )

    def _design(self, x: Floats | list[float]) -> Floats:
        return line((np.asarray(x, dtype=np.float64) - self.shift) / self.scale)

    def _predictions(self, belief: bayes.Posterior) -> dict[str, Quantity]:
        """The predictive density at the inputs `predict_at`."""
        if not self.predict_at:
            return {}
        at, place = self._design(self.predict_at), axis("input", self.predict_at)
        mean, variance = bayes.predictive(at, self.sigma2, belief)
        found = {"scaled_input": at[:, 1], "prediction": mean, "prediction_variance": variance}
        if self.threshold is not None:
            found["chance_below"] = ndtr((self.threshold - mean) / np.sqrt(variance))
        return {name: place.of(values) for name, values in found.items()}

    def _noise(self, Phi: Floats, t: Floats) -> dict[str, Quantity]:
        """The density of the noise variance, for known weights (FCML Exercise 3.12)."""
        fit, prior = least_squares(Phi, t), bayes.InverseGamma(self.alpha, self.beta)
        after = bayes.noise_posterior(fit.residuals, prior)
        densities = bayes.noise_densities(fit.residuals, prior)
        v = axis("v", densities.v)
        return {
            "noise_variance": Quantity(fit.sigma2),  # the most likely
            "noise_alpha": Quantity(after.alpha),
            "noise_beta": Quantity(after.beta),
            "noise_prior": v.of(densities.prior),
            "noise_posterior": v.of(densities.posterior),
            "noise_product": v.of(densities.product),
        }
