"""Precisions of prior and noise that maximise the evidence (PRML 9.3.4, 10.3; notes 2.2.5, 2.7.2).

Shared by all weights, or one for each: the relevance vector machine.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator
from scipy.stats import multivariate_normal

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Axis, Outcome, Quantity, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies._curves import SyntheticCurve
from bythebook.models.em import smallest_gain
from bythebook.models.regression import evidence, variational_regression
from bythebook.models.regression.evidence import DIRECT, EM, Maximised, Precisions
from bythebook.models.types import Bools, Floats

VARIATIONAL, NOISE = "variational", "variational_noise"
METHODS = (DIRECT, EM, VARIATIONAL, NOISE)
_DRAWS = 4000  # of weights and noise, for the width of a prediction
_RESTS = 1e-7  # relative change of a precision that counts as convergence


@dataclass
class EvidenceMaximisation(SyntheticCurve, Study):
    """Re-estimation of precisions against a direct search for the largest evidence (PRML 9.3.4).

    The basis is a constant and Gaussian functions at equal distances, or one at each input.
    """

    headline = {"alpha": "median(alpha)", "log_evidence": "median(log_evidence)"}
    more_quantities = True
    quantities = {
        "alpha": quantity("precision of the weights", "method repetition"),
        "log_evidence": quantity(
            "log evidence at the final precisions", "method repetition", unit="nats"
        ),
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
        Phi = self.design_matrix(x, x)
        if self.precisions == "each":
            return Outcome(**self.drawn(x[0], t[0]), **self._each(x, t, Phi))
        return Outcome(**self.drawn(x[0], t[0]), **self._shared(x, t, Phi, rng))

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

    def _shared(self, x: Floats, t: Floats, Phi: Floats, rng: Generator) -> dict[str, Quantity]:
        method, repetition = axis("method", self.methods), axis("repetition", len(t))
        beta_known = 1 / self.noise**2 if self.known_noise else None
        data = [evidence.summary(*one) for one in zip(Phi, t, strict=True)]
        best = np.array([evidence.search(one, beta_known) for one in data]).T
        ends, gains, first = np.empty((3, len(method), 2, len(t)))
        needed, rests = np.zeros((2, len(method), len(t)))
        for i, name in enumerate(self.methods):
            if name in evidence.METHODS:
                fit = self._maximised(Phi, t, name, shared=True)
                ends[i] = fit.at.alpha[:, 0], fit.at.beta
                first[i] = fit.first.alpha[:, 0], fit.first.beta
                history, needed[i], rests[i] = fit.history, fit.iterations, fit.converged
            else:
                ends[i], history, rests[i] = self._variational(Phi, t, name)
                first[i] = np.nan
            gains[i, 0] = [smallest_gain(row[None]) for row in history]
        log_p = [
            [
                float(evidence.shared_log_evidence(one, *place))
                for one, place in zip(data, np.log(end).T, strict=True)
            ]
            for end in ends
        ]
        re_estimated = [name in evidence.METHODS for name in self.methods]
        stepped = axis("method", [m for m in self.methods if m in evidence.METHODS])
        stepwise = {
            "first_alpha": over(first[re_estimated, 0], stepped, repetition),
            "first_noise": over(1 / first[re_estimated, 1], stepped, repetition),
            **self._first_by_matrices(Phi, t, stepped, repetition),
            "iterations_needed": over(needed[re_estimated].astype(int), stepped, repetition),
        }
        return {
            "alpha": over(ends[:, 0], method, repetition),
            "beta": over(ends[:, 1], method, repetition),
            "log_evidence": over(log_p, method, repetition),
            "smallest_gain": over(gains[:, 0], method, repetition),
            "converged": over(rests.astype(bool), method, repetition),
            "searched_alpha": repetition.of(best[0]),
            "searched_beta": repetition.of(best[1]),
            "searched_log_evidence": repetition.of(best[2]),
            **(stepwise if all(re_estimated) else {}),
            **self._stationary(Phi, t, best, repetition),
            **self._derivatives(Phi, best, repetition),
            **self._along_alpha(Phi[0], t[0], float(best[1, 0])),
            **self._predictions(x[0], t[0], ends[:, :, 0], best[:2, 0], rng),
            **self._with_noise(data, repetition),
        }

    def _variational(self, Phi: Floats, t: Floats, name: str) -> tuple[Floats, Floats, Bools]:
        """Means of the precisions (2, R), the bounds, and the mask of converged fits."""
        beta = None if name == NOISE else 1 / self.noise**2
        fit = variational_regression.fit(Phi, t, beta, tol=1e-13, max_iter=self.iterations)
        return np.stack([fit.a / fit.b, fit.beta]), fit.history, fit.converged

    def _stationary(
        self, Phi: Floats, t: Floats, best: Floats, repetition: Axis
    ) -> dict[str, Quantity]:
        """Both sides of the re-estimation equations at the end of the search."""
        R, _, M = Phi.shape
        at = Precisions(np.tile(best[0][:, None], M), best[1], np.ones((R, M), dtype=bool))
        way = axis("equation", list(evidence.METHODS))
        new = [
            evidence.re_estimate(Phi, t, at, name, shared=True, known_noise=False)
            for name in evidence.METHODS
        ]
        q = evidence.posterior(Phi, t, at)
        five_terms = evidence.log_evidence(Phi, t, at, q)  # notes 2.23
        values = best[1][:, None] * np.linalg.eigvalsh(Phi.mT @ Phi)
        gamma = [
            (values / (best[0][:, None] + values)).sum(-1),  # notes 2.31
            M - best[0] * np.trace(q.S, axis1=-2, axis2=-1),  # (9.64)
        ]
        by = axis("computed_by", ["eigenvalues", "trace"])
        return {
            "stationary_alpha": over([p.alpha[:, 0] for p in new], way, repetition),
            "stationary_noise": over([1 / p.beta for p in new], way, repetition),
            "stationary_gamma": over(gamma, by, repetition),
            "five_terms": repetition.of(five_terms),
        }

    def _first_by_matrices(
        self, Phi: Floats, t: Floats, method: Axis, repetition: Axis
    ) -> dict[str, Quantity]:
        """One step of each re-estimation with the posterior's mean and covariance written out."""
        new = [
            evidence.re_estimate(
                Phi, t, self._start(Phi), name, shared=True, known_noise=self.known_noise
            )
            for name in method.values.tolist()
        ]
        return {
            "matrix_first_alpha": over([p.alpha[:, 0] for p in new], method, repetition),
            "matrix_first_noise": over([1 / p.beta for p in new], method, repetition),
        }

    def _derivatives(self, Phi: Floats, best: Floats, repetition: Axis) -> dict[str, Quantity]:
        """Derivatives of ln|A| by formula and by difference, eigenvalues of A by difference."""
        alpha, beta = best[0], best[1]
        scatter = Phi.mT @ Phi
        eye = np.eye(scatter.shape[-1])
        values = np.linalg.eigvalsh(scatter)

        def log_det(a: Floats, b: Floats) -> Floats:
            A = a[:, None, None] * eye + b[:, None, None] * scatter
            return np.asarray(np.linalg.slogdet(A).logabsdet)

        h = 1e-5
        in_beta = beta[:, None] * values
        formula = [
            (1 / (in_beta + alpha[:, None])).sum(-1),  # notes 2.28
            (in_beta / (in_beta + alpha[:, None])).sum(-1) / beta,  # notes 2.33
        ]
        difference = [
            (log_det(alpha * (1 + h), beta) - log_det(alpha * (1 - h), beta)) / (2 * h * alpha),
            (log_det(alpha, beta * (1 + h)) - log_det(alpha, beta * (1 - h))) / (2 * h * beta),
        ]
        # E is quadratic, so that second differences with unit steps are its Hessian.
        steps = eye[:, None] + eye[None]
        energy = _energy(Phi, steps, alpha, beta)
        single = _energy(Phi, eye, alpha, beta)
        hessian = energy - single[:, :, None] - single[:, None, :]
        found = np.linalg.eigvalsh(hessian)
        error = np.abs(found - (alpha[:, None] + in_beta)).max(-1) / in_beta.max(-1)
        axes = axis("derived_by", ["formula", "difference"]), axis("of", ["alpha", "beta"])
        return {
            "derivative": over([formula, difference], *axes, repetition),
            "eigenvalue_error": repetition.of(error),
        }

    def _along_alpha(self, Phi: Floats, t: Floats, beta: float) -> dict[str, Quantity]:
        """The first data set's evidence, gamma and alpha m^T m along ln alpha."""
        log_alpha = axis("ln_alpha", np.round(np.arange(-6, 10.05, 0.1), 1))
        data = evidence.summary(Phi, t)
        alpha, values = np.exp(log_alpha.values)[:, None], beta * data.s2
        m2 = (beta * values * data.c2 / (alpha + values) ** 2).sum(-1)
        curve = evidence.shared_log_evidence(data, log_alpha.values, np.log(beta))
        return {
            "curve_log_evidence": log_alpha.of(curve),
            "curve_gamma": log_alpha.of((values / (alpha + values)).sum(-1)),
            "curve_fit": log_alpha.of(alpha[:, 0] * m2),
        }

    def _predictions(
        self, x: Floats, t: Floats, ends: Floats, best: Floats, rng: Generator
    ) -> dict[str, Quantity]:
        """Means and standard deviations along the curve of the first data set."""
        grid, names = axis("x", self.grid()), [*self.methods, "searched"]
        fit, Phi = axis("fit", names), self.design_matrix(x, x)
        at, mean, sd = self.design_matrix(grid.values, x), [], []
        for alpha, beta in [*ends, best]:
            one = Precisions(
                np.full((1, Phi.shape[1]), alpha), np.array([beta]), np.ones((1, 1)) > 0
            )
            m, S = (part[0] for part in evidence.posterior(Phi[None], t[None], one))
            mean.append(at @ m)
            sd.append(np.sqrt(1 / beta + np.einsum("xm,mk,xk->x", at, S, at)))
            if len(mean) == min(2, len(names)):  # of the second way, or the only one
                w = rng.multivariate_normal(m, S, _DRAWS, method="cholesky")
                noise = rng.standard_normal((_DRAWS, len(at))) / np.sqrt(beta)
                drawn = (w @ at.T + noise).std(0)
        return {
            "prediction": over(mean, fit, grid),
            "prediction_sd": over(sd, fit, grid),
            "drawn_prediction_sd": grid.of(drawn),
        }

    def _with_noise(self, data: list[evidence.Summary], repetition: Axis) -> dict[str, Quantity]:
        """Results of a search over the precision of the noise as well."""
        if NOISE not in self.methods:
            return {}
        return {"noisy_searched_beta": repetition.of([evidence.search(one)[1] for one in data])}

    def _each(self, x: Floats, t: Floats, Phi: Floats) -> dict[str, Quantity]:
        method, repetition = axis("method", self.methods), axis("repetition", len(t))
        weight, grid = axis("weight", Phi.shape[-1]), axis("x", self.grid())
        fits = {name: self._maximised(Phi, t, name, shared=False) for name in self.methods}
        posteriors = [evidence.posterior(Phi, t, fit.at) for fit in fits.values()]
        gamma = [
            evidence.relevance(f.at, q) for f, q in zip(fits.values(), posteriors, strict=True)
        ]
        densities = [
            [_density(*one) for one in zip(Phi, t, *f.at, strict=True)] for f in fits.values()
        ]
        single = self._maximised(Phi, t, DIRECT, shared=True)
        gains = [[smallest_gain(row[None]) for row in f.history] for f in fits.values()]
        curve = self.design_matrix(grid.values, x[0])
        found = {
            "relevance": over(gamma, method, repetition, weight),
            "beta": over([f.at.beta for f in fits.values()], method, repetition),
            "log_evidence": over([f.log_evidence for f in fits.values()], method, repetition),
            "marginal_log_density": over(densities, method, repetition),
            "shared_log_evidence": repetition.of(single.log_evidence),
            "iterations_needed": over([f.iterations for f in fits.values()], method, repetition),
            "converged": over([f.converged for f in fits.values()], method, repetition),
            "smallest_gain": over(gains, method, repetition),
            "curve": over([curve @ q.m[0] for q in posteriors], method, grid),
        }
        if DIRECT in fits:
            found |= self._m_step(Phi, t, repetition)
            found["em_move_at_direct"] = repetition.of(evidence.em_move(Phi, t, fits[DIRECT].at))
        return found

    def _m_step(self, Phi: Floats, t: Floats, repetition: Axis) -> dict[str, Quantity]:
        """The expected complete-data log likelihood after an M step, and next to it.

        Each precision is changed by one per cent either way.
        """
        start = evidence.started(Phi, 1.0, 1.0)
        q = evidence.posterior(Phi, t, start)
        new = evidence.re_estimate(Phi, t, start, EM, shared=False, known_noise=False)
        M = Phi.shape[-1]
        sides = [
            [new._replace(alpha=new.alpha * np.exp(by * (np.arange(M) == i))) for i in range(M)]
            + [new._replace(beta=new.beta * np.exp(by))]
            for by in (-0.01, 0.01)
        ]
        heights = [[evidence.expected_log_likelihood(Phi, t, q, p) for p in row] for row in sides]
        at_start, at_new = (evidence.expected_log_likelihood(Phi, t, q, p) for p in (start, new))
        entropy = (M * (1 + np.log(2 * np.pi)) + np.linalg.slogdet(q.S).logabsdet) / 2
        density = [_density(*one) for one in zip(Phi, t, *start, strict=True)]
        moved = axis("moved", [*(f"alpha_{i}" for i in range(M)), "beta"])
        return {
            "expected_at_start": repetition.of(at_start),
            "expected_after_m_step": repetition.of(at_new),
            "expected_beside": over(heights, axis("by", [-0.01, 0.01]), moved, repetition),
            "weights_entropy": repetition.of(entropy),  # of the posterior at the start
            "start_log_density": repetition.of(density),
        }


def _energy(Phi: Floats, w: Floats, alpha: Floats, beta: Floats) -> Floats:
    """Quadratic part of E(w) of notes (2.24) for weights (..., M), shape (R, ...)."""
    fitted = np.einsum("rnm,...m->r...n", Phi, w)
    shape = (-1, *(1,) * (w.ndim - 1))
    return np.asarray(
        beta.reshape(shape) * (fitted**2).sum(-1) / 2 + alpha.reshape(shape) * (w**2).sum(-1) / 2
    )


def _density(Phi: Floats, t: Floats, alpha: Floats, beta: float, kept: Floats) -> float:
    """Log density of the targets with the weights integrated out, by SciPy."""
    covariance = np.eye(len(t)) / beta + (Phi * kept / alpha) @ Phi.T
    return float(multivariate_normal(np.zeros(len(t)), covariance).logpdf(t))
