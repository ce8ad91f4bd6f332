"""Probabilistic PCA by variational Bayes: the bound and the latent clusters (FCML 7.5)."""

from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator
from scipy.special import digamma
from scipy.stats import gamma

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from experiments.studies.latent.principal_components import HiddenClusters, scatter
from models.classification.knn import fold_errors
from models.latent.variational_ppca import Posterior, bound, fit
from models.probability.gaussian import log_density
from models.regression.bayesian_regression import posterior
from models.regression.curves import quadrature
from models.regression.gaussian_bound import bound as regression_bound
from models.types import Floats, Ints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SCALES = (1.0, 0.5, 2.0)  # covariances of Q to show, in units of the posterior's


@dataclass
class VariationalPca(HiddenClusters, Study):
    """The bound and the posterior means, with the f of the text and with the corrected one."""

    latent: int = knob(2, "latent dimensions D", at_least=1, at_most=20)
    a: float = knob(1.0, "shape of the prior of the precision tau", above=0)
    b: float = knob(1.0, "rate of the prior of the precision tau", above=0)
    tol: float = knob(1e-3, "stop when the bound gains no more", above=0)

    def run(self, rng: Generator) -> Outcome:
        Y = self.objects(rng)
        Y = Y - Y.mean(axis=1, keepdims=True)
        all_seen = np.ones_like(Y)
        solve = partial(fit, Y, all_seen, self.latent, a=self.a, b=self.b, tol=self.tol)
        right, printed = solve(rng), solve(rng, as_printed=True)
        q = right.q
        best = bound(q, all_seen, self.a, self.b)
        nearby = [bound(q._replace(f=q.f * c), all_seen, self.a, self.b) for c in (0.98, 1.02)]
        ends = np.nanmax(right.bound, axis=1), np.nanmax(printed.bound, axis=1)
        error = confusion(q.mu_x, self.labels)
        metrics: dict[str, Scalar] = {
            "bound_never_falls": path_never_falls(right.bound),
            "median_iterations": float(np.median(right.iterations)),
            "most_iterations": int(right.iterations.max()),
            "mean_precision": float(q.tau.mean()),
            "mean_precision_printed_f": float(printed.q.tau.mean()),
            "mean_bound_lost_by_printed_f": float((ends[0] - ends[1]).mean()),
            "printed_f_reaches_the_bound": bool((ends[1] >= ends[0] - self.tol).all()),
            "bound_never_falls_with_printed_f": path_never_falls(printed.bound),
            "corrected_f_is_best": bool((best > np.max(nearby, axis=0)).all()),
            "neighbours_of_another_cluster": float(error.mean()),
            "log_precision_must_be_sampled": not _log_precision_is_closed(q),
        }
        path = right.bound[0, : right.iterations[0]]
        return Outcome(
            metrics,
            series={"bound": Series(list(range(1, len(path) + 1)), path.tolist())},
            arrays={
                "Y": Y[0],
                "X": q.mu_x[0],
                "iterations": right.iterations,
                "bounds": np.stack(ends, axis=1),
                "precision": np.stack([q.tau, printed.q.tau], axis=1),
            },
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.clusters import grid, whole_steps

        figure, axes = grid(1, 3, 0.95)
        scatter(axes[0, 0], outcome.arrays["Y"], self.labels)
        axes[0, 0].set(xlabel="$y_1$", ylabel="$y_2$", title="First two variables")
        axes[0, 1].plot(*outcome.series["bound"], marker="o", markersize=3)
        axes[0, 1].set(xlabel="Iteration", ylabel="Natural log units", title="Lower bound")
        whole_steps(axes[0, 1])
        if self.latent > 1:
            scatter(axes[0, 2], outcome.arrays["X"], self.labels)
        axes[0, 2].set(xlabel=r"$\langle x_1 \rangle$", ylabel=r"$\langle x_2 \rangle$")
        axes[0, 2].set_title("Posterior means")
        return {"ppca": figure}


@dataclass
class VariationalBound(HiddenClusters, Study):
    """The bound against the log evidence, against sampling, and about its maximum (FCML 7.9)."""

    n: int = knob(20, "observations of the regression", at_least=1, at_most=10_000)
    noise: float = knob(0.5, "its noise variance", above=0)
    missing: float = knob(0.1, "probability that a value is missing", at_least=0, below=1)
    samples: int = knob(2000, "samples of Q for the check of the bound", at_least=10)

    def run(self, rng: Generator) -> Outcome:
        regression, curves = self._regression(rng)
        return Outcome(regression | self._ppca(rng), arrays=curves)

    def _regression(self, rng: Generator) -> tuple[dict[str, Scalar], dict[str, Floats]]:
        """Exercise 7.1 in a model with a known posterior and evidence."""
        Phi = rng.standard_normal((self.n, 3))
        t = Phi @ rng.standard_normal(3) + np.sqrt(self.noise) * rng.standard_normal(self.n)
        m, V = posterior(Phi, t, self.noise, np.zeros(3), np.eye(3))
        covariance = self.noise * np.eye(self.n) + Phi @ Phi.T
        evidence = float(log_density(t[None], np.zeros(self.n), covariance)[0])
        gap = evidence - regression_bound(Phi, t, self.noise, m, V)
        others = [
            evidence - regression_bound(Phi, t, self.noise, m + shift, scale * V)
            for shift in 0.1 * rng.standard_normal((20, 3))
            for scale in (0.8, 1.0, 1.25)
        ]
        shifts, sd = np.linspace(-2, 2, 81), np.sqrt(np.diagonal(V))
        curves = {
            "shift": shifts,
            "evidence": np.array(evidence),
            "bounds": np.array(
                [
                    [regression_bound(Phi, t, self.noise, m + s * sd, c * V) for s in shifts]
                    for c in SCALES
                ]
            ),
        }
        return {
            "gap_at_posterior": gap,
            "bound_is_evidence_at_posterior": bool(abs(gap) < 1e-9 * abs(evidence)),
            "bound_is_lower_elsewhere": bool(min(others) > 0),
        }, curves

    def _ppca(self, rng: Generator) -> dict[str, Scalar]:
        """Exercises 7.2 and 7.3: the printed terms, and updates that maximise them."""
        Y = self.objects(rng)
        Y = Y - Y.mean(axis=1, keepdims=True)
        seen = (rng.random(Y.shape) >= self.missing).astype(float)
        q = fit(Y, seen, 2, rng, tol=1e-9, max_iter=2000).q
        value = bound(q, seen, 1.0, 1.0)
        sampled, error = _sampled_bound(Y[0], seen[0], q, self.samples, rng)
        worse = [bound(moved, seen, 1.0, 1.0) < value for moved in _moved(q, rng)]
        whole, seed = np.ones_like(Y), int(rng.integers(2**32))
        one = fit(Y, whole, 2, np.random.default_rng(seed)).q
        two = fit(Y, whole, 2, np.random.default_rng(seed), treatment="latent").q
        change = max(float(np.abs(x - y).max()) for x, y in zip(one, two, strict=True))
        return {
            "bound": float(value[0]),
            "sampled_bound": sampled,
            "terms_agree_with_sampling": bool(abs(sampled - value[0]) < 4 * error),
            "every_update_is_a_maximum": bool(np.all(worse)),
            "nothing_missing_change": change,
            "nothing_missing_recovers_complete": bool(change < 1e-10),
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        for i, (scale, values) in enumerate(zip(SCALES, outcome.arrays["bounds"], strict=True)):
            label = "covariance of the posterior" if scale == 1 else f"{scale:g} times that"
            ax.plot(outcome.arrays["shift"], values, color=f"C{i}", label=label)
        ax.axhline(float(outcome.arrays["evidence"]), color="0.3", linestyle="--", label="evidence")
        ax.set(xlabel="Mean of Q off the posterior's (standard deviations)")
        ax.set(ylabel="Bound (natural log units)")
        ax.legend(loc="lower center")
        return {"bound": figure}


def confusion(X: Floats, labels: Ints) -> Floats:
    """Share of objects whose nearest neighbour is of another cluster, shape (R,)."""
    apart, C = np.arange(len(labels))[None], int(labels.max()) + 1
    return np.array([fold_errors(x, labels, [1], apart, C)[0, 0] for x in X])


def path_never_falls(path: Floats) -> bool:
    return not bool((np.diff(path) < -1e-9 * np.nanmax(np.abs(path))).any())


def _log_precision_is_closed(q: Posterior) -> bool:
    """Whether digamma(e) - log f is <log tau>, an average over the quantiles of tau."""
    rule = quadrature(0.0, 1.0, 400)
    tau = gamma.ppf(rule.x, q.e[0], scale=1 / q.f[0])
    return bool(np.isclose(rule.weight @ np.log(tau), digamma(q.e[0]) - np.log(q.f[0]), atol=1e-5))


def _sampled_bound(
    Y: Floats, seen: Floats, q: Posterior, S: int, rng: Generator
) -> tuple[float, float]:
    """E_Q[log p - log Q] by sampling, and its standard error, for the first data set."""
    x, w = (
        mu + np.einsum("nij,snj->sni", np.linalg.cholesky(Sigma), noise)
        for mu, Sigma, noise in (
            (mu[0], Sigma[0], rng.standard_normal((S, *mu[0].shape)))
            for mu, Sigma in ((q.mu_x, q.Sigma_x), (q.mu_w, q.Sigma_w))
        )
    )
    tau = rng.gamma(q.e[0], 1 / q.f[0], S)
    errors = (seen * (Y - x @ w.swapaxes(1, 2)) ** 2).sum(axis=(1, 2))
    value = seen.sum() / 2 * np.log(tau / (2 * np.pi)) - tau * errors / 2 - tau  # Gamma(1, 1)
    value -= gamma.logpdf(tau, q.e[0], scale=1 / q.f[0])
    for v, mu, Sigma in ((x, q.mu_x[0], q.Sigma_x[0]), (w, q.mu_w[0], q.Sigma_w[0])):
        white = np.linalg.solve(np.linalg.cholesky(Sigma), (v - mu)[..., None])
        half_log_det = np.linalg.slogdet(Sigma)[1].sum() / 2
        value += (white**2).sum(axis=(1, 2, 3)) / 2 + half_log_det - (v**2).sum(axis=(1, 2)) / 2
    return float(value.mean()), float(value.std() / np.sqrt(S))


def _moved(q: Posterior, rng: Generator) -> list[Posterior]:
    """Posteriors with one factor a little away from where it is."""
    moved = []
    for name in ("mu_x", "mu_w"):
        mu = getattr(q, name)
        moved += [q._replace(**{name: mu + 0.01 * rng.standard_normal(mu.shape)}) for _ in range(5)]
    for name in ("Sigma_x", "Sigma_w", "e", "f"):
        moved += [q._replace(**{name: getattr(q, name) * c}) for c in (0.95, 1.05)]
    return moved
