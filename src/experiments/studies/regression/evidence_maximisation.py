"""Precisions of prior and noise that maximise the evidence (PRML 9.3.4, 10.3; notes 2.2.5, 2.7.2).

    w ~ N(0, A^-1),   t | w ~ N(Phi w, beta^-1 I),   A = alpha I, or a precision for each weight

The last is the relevance vector machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import SyntheticCurve
from bythebook.models.regression import evidence, variational_regression
from bythebook.models.regression.evidence import DIRECT, EM, Maximised, Precisions
from bythebook.models.types import Bools, Floats, Ints

VARIATIONAL, NOISE = "variational", "variational_noise"
METHODS = (DIRECT, EM, VARIATIONAL, NOISE)
_RESTS = 1e-7  # relative change of a precision that counts as convergence
_LN_ALPHA = np.round(np.arange(-6, 10.05, 0.1), 1)


@dataclass
class EvidenceMaximisation(SyntheticCurve, Study):
    """Re-estimation of precisions against a direct search for the largest evidence (PRML 9.3.4).

    The basis is a constant and Gaussian functions at equal distances, or one at each input.
    """

    headline = {"alpha": "median(alpha)", "log_evidence": "median(log_evidence)"}
    quantities = {
        "inputs": quantity("inputs of the first data set", "point"),
        "targets": quantity("targets of the first data set", "point"),
        "truth": quantity("true curve", "x"),
        "alpha": quantity("precision of the weights, shared by all", "method repetition"),
        "beta": quantity("precision of the noise", "method repetition"),
        "log_evidence": quantity(
            "log evidence at the final precisions", "method repetition", unit="nats"
        ),
        "converged": quantity("whether the precisions rest at the end", "method repetition"),
        "iterations_needed": quantity("iterations", "method repetition"),
        "searched_alpha": quantity("alpha of the largest evidence, by a search", "repetition"),
        "searched_beta": quantity("beta of the largest evidence, by a search", "repetition"),
        "noisy_searched_beta": quantity(
            "beta of the largest evidence, if the noise is searched for as well", "repetition"
        ),
        "curve_log_evidence": quantity(
            "log evidence along ln alpha, first data set", "ln_alpha", unit="nats"
        ),
        "curve_gamma": quantity(
            "gamma along ln alpha, first data set", "ln_alpha", equation="notes 2.31"
        ),
        "curve_fit": quantity("alpha m^T m along ln alpha, first data set", "ln_alpha"),
        "prediction": quantity("mean of the prediction, first data set", "fit x"),
        "prediction_sd": quantity("standard deviation of the prediction, first data set", "fit x"),
        "relevance": quantity(
            "how far the data fix a weight, 1 - alpha_i S_ii", "method repetition weight"
        ),
        "shared_log_evidence": quantity(
            "log evidence of a shared alpha", "repetition", unit="nats"
        ),
        "em_move": quantity(
            "largest change of a log precision by an EM step from the end of direct re-estimation",
            "repetition",
        ),
        "curve": quantity("mean prediction with a precision for each weight", "method x"),
    }
    axes = {
        "point": axis_of("point of the first data set"),
        "x": axis_of("input"),
        "method": axis_of("method of re-estimation"),
        "fit": axis_of("method of re-estimation, or the search"),
        "repetition": axis_of("data set"),
        "ln_alpha": axis_of("ln alpha"),
        "weight": axis_of("weight"),
    }

    n: int = knob(25, "points in a data set", at_least=2, at_most=500)
    design: str = knob("uniform", "inputs equally spaced or drawn", choices=("grid", "uniform"))
    basis: str = knob("gaussians", "centres of the functions", choices=("gaussians", "kernels"))
    functions: int = knob(9, "Gaussian functions next to a constant", at_least=1, at_most=100)
    width: float = knob(0.1, "standard deviation of a function", above=0)
    precisions: str = knob("shared", "by all weights, or one each", choices=("shared", "each"))
    known_noise: bool = knob(False, "use the true precision of the noise")
    methods: list[str] = knob([DIRECT, EM], "of re-estimation", choices=METHODS, distinct=True)
    repetitions: int = knob(40, "data sets to draw", at_least=1, at_most=10_000)
    iterations: int = knob(1000, "iterations at most", at_least=1, at_most=1_000_000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if self.noise == 0:
            yield "study.noise=0: a precision is searched for; allowed: > 0"
        if self.precisions == "each" and ({VARIATIONAL, NOISE} & set(self.methods)):
            yield "study.precisions=each; allowed study.methods: direct, em"

    def run(self, rng: Generator) -> Outcome:
        x, t = self.sample(rng, self.repetitions)
        Phi, grid = self.design_matrix(x, x), self.grid()
        coords = {
            "point": self.n,
            "x": grid,
            "method": self.methods,
            "repetition": self.repetitions,
        }
        fit = self._each if self.precisions == "each" else self._shared
        more, found = fit(x, t, Phi)
        return outcome(
            coords | more,
            inputs=("point", x[0]),
            targets=("point", t[0]),
            truth=("x", self.truth(grid)),
            **found,
        )

    def design_matrix(self, x: Floats, inputs: Floats) -> Floats:
        """A constant and the functions at x (..., n); kernels at the inputs (..., N)."""
        centres = inputs
        if self.basis == "gaussians":
            centres = np.linspace(self.low, self.high, self.functions)
        bumps = np.exp(-((x[..., None] - centres[..., None, :]) ** 2) / (2 * self.width**2))
        return np.concatenate([np.ones((*x.shape, 1)), bumps], axis=-1)

    def _start(self, Phi: Floats) -> Precisions:
        return evidence.started(Phi, 1.0, 1 / self.noise**2 if self.known_noise else 1.0)

    def _maximised(self, Phi: Floats, t: Floats, method: str, *, shared: bool) -> Maximised:
        return evidence.maximise(
            Phi,
            t,
            self._start(Phi),
            method,
            shared=shared,
            known_noise=self.known_noise,
            tol=_RESTS,
            max_iter=self.iterations,
        )

    def _shared(self, x: Floats, t: Floats, Phi: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
        """Re-estimation of one alpha for all weights, and a search for the largest evidence."""
        data = [evidence.summary(*one) for one in zip(Phi, t, strict=True)]
        known = 1 / self.noise**2 if self.known_noise else None
        best = np.array([evidence.search(one, known) for one in data]).T
        ends, rests, needed = [], [], []
        for name in self.methods:
            if name in evidence.METHODS:
                fit = self._maximised(Phi, t, name, shared=True)
                ends.append(np.stack([fit.at.alpha[:, 0], fit.at.beta]))
                rests.append(fit.converged)
                needed.append(fit.iterations)
            else:
                end, converged, count = self._variational(Phi, t, name)
                ends.append(end)
                rests.append(converged)
                needed.append(count)
        places = [[*zip(data, np.log(end).T, strict=True)] for end in ends]
        log_p = [[float(evidence.shared_log_evidence(d, *at)) for d, at in row] for row in places]
        found: dict[str, Any] = {
            "alpha": ("method repetition", [end[0] for end in ends]),
            "beta": ("method repetition", [end[1] for end in ends]),
            "log_evidence": ("method repetition", log_p),
            "converged": ("method repetition", rests),
            "iterations_needed": ("method repetition", needed),
            "searched_alpha": ("repetition", best[0]),
            "searched_beta": ("repetition", best[1]),
            **self._along_alpha(data[0], float(best[1, 0])),
            **self._predictions(x[0], t[0], [*(end[:, 0] for end in ends), best[:2, 0]]),
        }
        if NOISE in self.methods:
            noisy = [evidence.search(one)[1] for one in data]
            found["noisy_searched_beta"] = ("repetition", noisy)
        return {"ln_alpha": _LN_ALPHA, "fit": [*self.methods, "searched"]}, found

    def _variational(self, Phi: Floats, t: Floats, name: str) -> tuple[Floats, Bools, Ints]:
        """Means of the precisions (2, R), the mask of converged fits, and their iterations."""
        beta = None if name == NOISE else 1 / self.noise**2
        fit = variational_regression.fit(Phi, t, beta, tol=1e-13, max_iter=self.iterations)
        counts = np.isfinite(fit.history).sum(-1) - 1
        return np.stack([fit.a / fit.b, fit.beta]), fit.converged, counts

    def _along_alpha(self, data: evidence.Summary, beta: float) -> dict[str, Any]:
        """The first data set's evidence, gamma and alpha m^T m along ln alpha."""
        alpha, values = np.exp(_LN_ALPHA)[:, None], beta * data.s2
        m2 = (beta * values * data.c2 / (alpha + values) ** 2).sum(-1)
        curve = evidence.shared_log_evidence(data, _LN_ALPHA, np.log(beta))
        return {
            "curve_log_evidence": ("ln_alpha", curve),
            "curve_gamma": ("ln_alpha", (values / (alpha + values)).sum(-1)),
            "curve_fit": ("ln_alpha", alpha[:, 0] * m2),
        }

    def _predictions(self, x: Floats, t: Floats, ends: list[Floats]) -> dict[str, Any]:
        """Means and standard deviations along the curve of the first data set."""
        Phi, at = self.design_matrix(x, x), self.design_matrix(self.grid(), x)
        mean, sd = [], []
        for alpha, beta in ends:
            one = Precisions(
                np.full((1, Phi.shape[1]), alpha), np.array([beta]), np.ones((1, 1)) > 0
            )
            m, S = (part[0] for part in evidence.posterior(Phi[None], t[None], one))
            mean.append(at @ m)
            sd.append(np.sqrt(1 / beta + np.einsum("xm,mk,xk->x", at, S, at)))
        return {"prediction": ("fit x", mean), "prediction_sd": ("fit x", sd)}

    def _each(self, x: Floats, t: Floats, Phi: Floats) -> tuple[dict[str, Any], dict[str, Any]]:
        """Re-estimation of a precision for each weight, the relevance vector machine."""
        fits = {name: self._maximised(Phi, t, name, shared=False) for name in self.methods}
        posteriors = [evidence.posterior(Phi, t, fit.at) for fit in fits.values()]
        pairs = [*zip(fits.values(), posteriors, strict=True)]
        single = self._maximised(Phi, t, DIRECT, shared=True)
        curve = self.design_matrix(self.grid(), x[0])
        dims = "method repetition"
        found: dict[str, Any] = {
            "relevance": (f"{dims} weight", [evidence.relevance(f.at, q) for f, q in pairs]),
            "beta": (dims, [f.at.beta for f in fits.values()]),
            "log_evidence": (dims, [f.log_evidence for f in fits.values()]),
            "shared_log_evidence": ("repetition", single.log_evidence),
            "iterations_needed": (dims, [f.iterations for f in fits.values()]),
            "converged": (dims, [f.converged for f in fits.values()]),
            "curve": ("method x", [curve @ q.m[0] for q in posteriors]),
        }
        if DIRECT in fits:
            found["em_move"] = ("repetition", evidence.em_move(Phi, t, fits[DIRECT].at))
        return {"weight": Phi.shape[-1]}, found
