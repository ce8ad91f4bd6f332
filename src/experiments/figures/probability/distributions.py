"""Bars of probabilities or curves of densities, with their parameters; a Gaussian's two halves."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.probability.distributions import PARAMETERS, Distributions


def draw(study: Distributions, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.family == "truncated":
        yield "densities", _halves(study, outcome)
    else:
        yield "distributions", _curves(study, outcome)


def _curves(study: Distributions, outcome: Outcome) -> Figure:
    figure, ax = subplots()
    discrete = "probability" in outcome
    for k, row in enumerate(study.parameters):
        names = PARAMETERS.get(study.family, ())
        label = ", ".join(f"{n} = {v:g}" for n, v in zip(names, row, strict=False))
        if discrete:
            y, p = outcome["probability"].coord("y"), outcome["probability"].values[k]
            seen = p > 1e-6 * p.max()  # the remainder would be an empty part of the axis
            ax.bar(y[seen], p[seen], 0.8, color=f"C{k}", label=label, alpha=0.8)
            continue
        x, p = outcome["place"].values[k], np.exp(outcome["log_density"].values[k])
        seen = p > 1e-4 * p.max()
        x, p = x[seen], p[seen]
        if study.family == "uniform":  # the density drops to zero at its ends
            x, p = np.concatenate([x[:1], x, x[-1:]]), np.concatenate([[0], p, [0]])
        ax.plot(x, p, "-" if k % 2 == 0 else "--", color=f"C{k}", label=label)
    ax.set(xlabel="y", ylabel="P(y)" if discrete else "p(y)")
    if study.family != "categorical":
        ax.legend()
    return figure


def _halves(study: Distributions, outcome: Outcome) -> Figure:
    """Truncations of the first Gaussian, with their means."""
    density, names = outcome["density"], {1.0: "positive", -1.0: "negative"}
    figure, ax = subplots()
    for k, (*shape, side) in enumerate(study.parameters):
        if shape != study.parameters[0][:2]:
            continue
        (line,) = ax.plot(density.coord("x"), density.values[k], "-" if side else "--")
        line.set_label("not truncated")
        if side:
            mean = outcome["expected_value"].values[k]
            line.set_label(f"{names[side]}, mean {mean:.3f} (dotted)")
            ax.axvline(mean, color=line.get_color(), linewidth=1, linestyle=":")
    ax.set(xlabel="x", ylabel="Density p(x)", ylim=(0, None))
    ax.legend()
    return figure
