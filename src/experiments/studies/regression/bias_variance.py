"""Bias, variance and noise against a model's flexibility (notes 2.2.2, FCML 2.8)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.polynomial.legendre import legvander
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series, Table
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import SyntheticCurve
from models.regression.bias_variance import (
    Decomposition,
    decompose,
    gaussian_basis,
    ridge_decomposition,
    ridge_predictions,
)
from models.types import Floats

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_AXES = {
    "order": "polynomial order",
    "gaussians": "number of Gaussians",
    "ln_lambda": r"$\ln \lambda$",
}
_FITS = 20  # drawn for each of three models


@dataclass
class BiasVariance(SyntheticCurve, Study):
    """Squared bias, variance and noise over order, number of bases, penalty and N (notes 2.2.2)."""

    noise: float = knob(0.3, "standard deviation of the noise", above=0)
    more_n: list[int] = knob(
        [], "further sizes of a data set", at_least=2, may_be_empty=True, distinct=True
    )
    basis: str = knob("polynomial", "the functions weighted", choices=("polynomial", "gaussian"))
    sizes: list[int] = knob(
        [1, 3, 9], "orders, or numbers of Gaussians", at_least=0, at_most=200, distinct=True
    )
    width: float = knob(0.1, "a Gaussian's standard deviation, over the range of x", above=0)
    ln_lambdas: list[float] = knob(
        [], "ln of the penalties on the squared weights; none: no penalty", may_be_empty=True
    )
    repetitions: int = knob(1000, "data sets to fit", at_least=2, at_most=100_000)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if len(self.sizes) > 1 and len(self.ln_lambdas) > 1:
            yield "study.sizes and study.ln_lambdas both have several entries; vary one of them"
        if not self.ln_lambdas and max(self.sizes) >= min(self._ns):
            yield (
                f"study.sizes={self.sizes} without penalty: {min(self._ns)} points;"
                f" allowed: < {min(self._ns)}, or give study.ln_lambdas"
            )

    @property
    def _ns(self) -> list[int]:
        return [self.n, *self.more_n]

    @property
    def _axis(self) -> str:
        if len(self.ln_lambdas) > 1:
            return "ln_lambda"
        return "order" if self.basis == "polynomial" else "gaussians"

    @property
    def _places(self) -> list[float]:
        """The models along the axis, from rigid to flexible."""
        if self._axis == "ln_lambda":
            return sorted(self.ln_lambdas, reverse=True)
        return [*sorted(self.sizes)]

    def run(self, rng: Generator) -> Outcome:
        grid, places = self.grid(101), self._places
        h = self.truth(grid)
        metrics: dict[str, Scalar] = {}
        columns: Table = {"n": [], self._axis: []}
        found = []
        for n in self._ns:
            y, exact = self._fits(n, grid, rng)
            parts = decompose(y, h, self.noise**2)
            # New targets for every data set: the loss that the identity (2.17) is about.
            e = self.noise * rng.standard_normal(y.shape[1:])
            loss = ((y - h - e) ** 2).mean(-1)
            direct = ((y - h) ** 2).mean((-2, -1)) + self.noise**2
            excess = loss - ((y - h) ** 2).mean(-1) - self.noise**2
            z = excess.mean(-1) / (excess.std(-1) / np.sqrt(len(e)))
            best = exact or parts
            found.append(
                {
                    "gap": np.max(np.abs(direct / parts.expected_loss - 1)),
                    "z": np.max(np.abs(z)),
                    "truth_wins": np.all((e**2).mean() < loss.mean(-1)),
                    "bias2": best.bias2,
                    "variance": best.variance,
                }
            )
            table = {"bias2": best.bias2, "variance": best.variance, "test_loss": loss.mean(-1)}
            if exact is not None:
                table |= {"simulated_bias2": parts.bias2, "simulated_variance": parts.variance}
                found[-1]["theory_z"] = _theory_z(y, parts, exact)
            columns["n"] += [n] * len(places)
            columns[self._axis] += places
            for name, values in table.items():
                columns.setdefault(name, []).extend(values.tolist())
                suffix = "" if n == self.n else f"_n_{n}"
                for place, value in zip(places, values, strict=True):
                    metrics[f"{name}_{self._axis}_{place:g}{suffix}"] = value
            if n == self.n:
                total = best.bias2 + best.variance
                shown = sorted({0, int(np.argmin(total)), len(places) - 1})
                arrays = {"grid": grid, "truth": h, "fits": y[shown, :_FITS]}
                arrays |= {"mean_fits": best.mean[shown], "shown": np.array(places)[shown]}
                metrics[f"best_{self._axis}"] = places[int(np.argmin(total))]
                series = {
                    name: Series(list(range(len(places))), getattr(best, name))
                    for name in ("bias2", "variance")
                }
        metrics |= self._statements(found) | noise_terms(self.noise)
        return Outcome(metrics, series, {"parts": columns}, arrays)

    def _design(self, x: Floats, size: int) -> Floats:
        """Legendre polynomials, or a constant and Gaussians, on the range of x; (..., n, M)."""
        unit = (x - self.low) / (self.high - self.low)
        if self.basis == "polynomial":
            return np.asarray(legvander(2 * unit - 1, size))
        return gaussian_basis(unit, size, self.width)

    def _fits(self, n: int, grid: Floats, rng: Generator) -> tuple[Floats, Decomposition | None]:
        """Fits on the grid, (models, data sets, grid), and their exact moments for fixed inputs."""
        x, t = self.sample(rng, self.repetitions, n)
        shared = self.design == "grid"
        lambdas = np.exp(sorted(self.ln_lambdas, reverse=True)) if self.ln_lambdas else np.zeros(1)
        y, exact = [], []
        for size in sorted(self.sizes):
            Phi, Phi_grid = self._design(x[0] if shared else x, size), self._design(grid, size)
            y.append(ridge_predictions(Phi, t, Phi_grid, lambdas))
            if shared:
                h, noise2 = self.truth(x[0]), self.noise**2
                args = (Phi, h, Phi_grid, self.truth(grid), noise2, lambdas)
                exact.append(ridge_decomposition(*args))
        moments = None
        if shared:
            bias2, variance, mean = (
                np.concatenate([getattr(one, name) for one in exact])
                for name in ("bias2", "variance", "mean")
            )
            moments = Decomposition(bias2, variance, self.noise**2, mean)
        return np.concatenate(y), moments

    def _statements(self, found: list[dict[str, Floats]]) -> dict[str, Scalar]:
        bias2, variance = (np.array([one[name] for one in found]) for name in ("bias2", "variance"))
        scale = 1e-9 * (bias2.max() + self.noise**2)  # a bias of zero is zero up to rounding
        by_n = np.argsort(self._ns)
        statements: dict[str, Scalar] = {
            "identity_gap": max(float(one["gap"]) for one in found),
            "identity_holds": all(bool(one["gap"] < 1e-12) for one in found),
            "test_loss_largest_z": max(float(one["z"]) for one in found),
            "test_loss_agrees": all(bool(one["z"] < 4) for one in found),
            "truth_has_least_loss": all(bool(one["truth_wins"]) for one in found),
            "bias2_never_rises": bool(np.all(np.diff(bias2) <= scale)),
            "variance_always_rises": bool(np.all(np.diff(variance) > 0)),
            "rigid_has_more_bias": bool(np.all(bias2[:, 0] > bias2[:, -1] + scale)),
        }
        if len(self._ns) > 1:
            falls = np.diff(variance[by_n], axis=0) < 0
            statements["variance_falls_with_n"] = bool(np.all(falls))
        if self.design == "grid":
            worst = max(float(one["theory_z"]) for one in found)
            statements |= {"theory_largest_z": worst, "simulation_agrees": worst < 4}
            if not self.ln_lambdas:
                gap = max(self._in_sample_gap(n) for n in self._ns)
                statements["in_sample_variance_gap"] = gap
                statements["in_sample_variance_is_share_of_weights"] = gap < 1e-9
        return statements

    def _in_sample_gap(self, n: int) -> float:
        """The variance at the training inputs against noise^2 weights / n, largest relative gap."""
        x = np.linspace(self.low, self.high, n)
        gaps = []
        for size in self.sizes:
            Phi = self._design(x, size)
            part = ridge_decomposition(Phi, self.truth(x), Phi, self.truth(x), 1.0)
            gaps.append(abs(float(part.variance[0]) * n / Phi.shape[-1] - 1.0))
        return float(max(gaps))

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table = {name: np.array(values) for name, values in outcome.tables["parts"].items()}
        figure, axes = panels(1, len(self._ns), squeeze=False, sharey=True)
        total = table["bias2"] + table["variance"]
        low = min(table["variance"].min(), total.min()) / 3
        wide = total.max() > 100 * total.min()
        for ax, n in zip(axes[0], sorted(self._ns), strict=True):
            rows = table["n"] == n
            x = table[self._axis][rows]
            many = len(x) > 15
            for i, (values, label) in enumerate(
                (
                    (table["bias2"], r"bias$^2$"),
                    (table["variance"], "variance"),
                    (total, r"bias$^2$ + variance"),
                    (table["test_loss"], "test loss, with noise"),
                )
            ):
                mark = None if many else "os^D"[i]
                ax.plot(x, values[rows], marker=mark, label=label, color=f"C{i}")
            ax.set(xlabel=_AXES[self._axis], title=f"N = {n}", yscale="log" if wide else "linear")
            ax.set_ylim(bottom=low if wide else 0)
        axes[0, 0].set_ylabel("squared error")
        handles, labels = axes[0, 0].get_legend_handles_labels()
        narrow = len(self._ns) == 1
        if not narrow:
            figure.set_size_inches(*(figure.get_size_inches() * (0.7, 0.9)))
        figure.legend(handles, labels, loc="outside lower center", ncols=2 if narrow else 4)
        return {"decomposition": figure, "fits": self._draw_fits(outcome)}

    def _draw_fits(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, axes = panels(1, len(arrays["shown"]), squeeze=False, sharey=True)
        for ax, place, fits, mean in zip(
            axes[0], arrays["shown"], arrays["fits"], arrays["mean_fits"], strict=True
        ):
            ax.plot(arrays["grid"], fits.T, "-", color="C4", linewidth=0.6, alpha=0.6)
            ax.plot([], [], "-", color="C4", linewidth=0.6, label=f"{len(fits)} of the fits")
            ax.plot(arrays["grid"], arrays["truth"], "-", color="C2", label="true curve")
            ax.plot(arrays["grid"], mean, "--", color="C1", label="mean of all fits")
            equals = " = " if self._axis == "ln_lambda" else " "
            ax.set(xlabel="x", title=f"{_AXES[self._axis]}{equals}{place:g}")
        spread = np.ptp(arrays["truth"])
        middle = (arrays["truth"].max() + arrays["truth"].min()) / 2
        axes[0, 0].set(ylabel="t", ylim=(middle - 0.9 * spread, middle + 0.9 * spread))
        figure.set_size_inches(*(figure.get_size_inches() * (0.7, 0.9)))
        handles, labels = axes[0, 0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=3)
        return figure


def _theory_z(y: Floats, drawn: Decomposition, exact: Decomposition) -> float:
    """The largest gap between simulated and exact moments, in standard errors."""
    L = y.shape[1]
    spread = ((y - drawn.mean[:, None]) ** 2).mean(-1)
    variance = np.abs(drawn.variance - exact.variance) / (spread.std(-1) / np.sqrt(L))
    # The mean fit errs by sqrt(variance / L): squared in bias^2, and as a product with the bias.
    point = np.sqrt(exact.variance / L)
    bias2 = np.abs(drawn.bias2 - exact.bias2) / (point * (point + np.sqrt(exact.bias2)))
    return float(max(variance.max(), bias2.max()))


def noise_terms(noise: float) -> dict[str, Scalar]:
    """The noise term of (2.11), weighted by p(x, t) and by p(x) alone as printed.

    With p(x) alone the square of t - h(x) is integrated over all t: the wider the range, the more.
    """
    right, printed = [], []
    for reach in (10.0, 20.0):  # standard deviations on either side
        e = noise * np.linspace(-reach, reach, 4001)
        density = np.exp(-0.5 * (e / noise) ** 2) / (noise * np.sqrt(2 * np.pi))
        right.append(float(np.trapezoid(e**2 * density, e)))
        printed.append(float(np.trapezoid(e**2, e)))
    return {
        "noise_weighted_by_joint": right[-1],
        "noise_weighted_by_joint_converges": abs(right[1] / right[0] - 1) < 1e-6,
        "noise_weighted_by_inputs_converges": abs(printed[1] / printed[0] - 1) < 1e-6,
    }
