"""An expectation by averaging samples: how the estimate settles (FCML 2.4 and 2.5.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from models.sampling.monte_carlo import INTEGRANDS, running_mean

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_NAMES = {"square": "y²", "sine": "sin y"}


@dataclass
class MonteCarloExpectation(Study):
    """E{f(y)} for uniform y, exactly and from growing samples (FCML 2.5.1, exercise 2.4)."""

    function: str = knob("square", "the function f", choices=tuple(INTEGRANDS))
    low: float = knob(0.0, "the smallest y")
    high: float = knob(1.0, "the largest y")
    samples: int = knob(10_000, "samples in a sequence", at_least=10, at_most=1_000_000)
    sequences: int = knob(200, "independent sequences", at_least=20, at_most=10_000)
    look_at: list[int] = knob([100, 10_000], "sizes to report", at_least=1, distinct=True)

    def problems(self) -> "Iterator[str]":
        if self.low >= self.high:
            yield f"study.low={self.low:g}, study.high={self.high:g}; allowed: low < high"
        if max(self.look_at) > self.samples:
            yield f"study.look_at={self.look_at}; allowed: <= {self.samples}, the samples drawn"
        if self.samples * self.sequences > 20_000_000:
            yield "study.samples times study.sequences; allowed: <= 20000000"

    def run(self, rng: Generator) -> Outcome:
        f, mean, square = INTEGRANDS[self.function]
        exact = mean(self.low, self.high)
        variance = square(self.low, self.high) - exact**2
        y = rng.uniform(self.low, self.high, (self.sequences, self.samples))
        sizes = np.unique(np.geomspace(1, self.samples, 80).round().astype(int))
        sizes = np.union1d(sizes, self.look_at)
        averages = running_mean(f(y))[:, sizes - 1]
        rms = np.sqrt(np.mean((averages - exact) ** 2, axis=0))
        metrics: dict[str, Scalar] = {
            "expectation": exact,
            "reciprocal_expectation": 1 / exact if exact != 0 else np.inf,
            "variance_of_f": variance,
            # The slope of a straight line through the logs: -1/2 for the square-root law.
            "rate_of_decay": float(np.polyfit(np.log(sizes), np.log(rms), 1)[0]),
            "error_falls": bool(rms[-1] < rms[sizes >= self.samples / 100][0] < rms[0]),
            "errors_as_theory": bool(  # an rms of K Gaussian errors is off by 1 / sqrt(2 K)
                np.all(np.abs(rms / np.sqrt(variance / sizes) - 1) < 4.5 / np.sqrt(2 * len(y)))
            ),
        }
        arrays = {"sizes": sizes, "one_sequence": averages[0], "sd": np.sqrt(variance / sizes)}
        for S in self.look_at:
            at = averages[:, sizes == S][:, 0]
            metrics[f"relative_error_{S}"] = float(rms[sizes == S][0] / abs(exact))
            arrays[f"estimates_{S}"] = at
        return Outcome(metrics, {"rms_error": Series(sizes.tolist(), rms.tolist())}, {}, arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays, exact = outcome.arrays, outcome.metrics["expectation"]
        name = _NAMES[self.function]
        sizes, rms = outcome.series["rms_error"]
        figure, axes = panels(1, 2)
        band = 2 * arrays["sd"]
        axes[0].fill_between(sizes, exact - band, exact + band, alpha=0.2, linewidth=0)
        axes[0].plot(sizes, arrays["one_sequence"], color="C0", label="one sequence")
        axes[0].axhline(exact, color="black", linestyle="--", label=f"exact, {exact:.4f}")
        reach = 1.15 * np.max(np.abs(arrays["one_sequence"] - exact))
        axes[0].set(ylim=(exact - reach, exact + reach), ylabel=f"average of {name}")
        axes[1].plot(sizes, rms, "o", markersize=3, label=f"{self.sequences} sequences")
        axes[1].plot(sizes, arrays["sd"], color="black", linestyle="--", label=f"sd({name}) / √S")
        axes[1].set(yscale="log", ylabel="root mean square error")
        for ax in axes:
            ax.set(xscale="log", xlabel="samples S")
            ax.legend(loc="upper right")
        return {"convergence": figure}
