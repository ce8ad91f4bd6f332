"""A Gaussian and its two halves, with their means."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.probability.truncated_normal import TruncatedNormal


def draw(study: TruncatedNormal, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, ax = panels()
    density = outcome["density"]
    for i, name in enumerate(density.along("curve")):
        (line,) = ax.plot(density.along("x"), density.values[i], "-" if i else "--", color=f"C{i}")
        line.set_label("not truncated")
        if i:
            value = outcome["expected_value"].at(cut=name).item
            ax.axvline(value, color=f"C{i}", linewidth=1, linestyle=":")
            line.set_label(f"{name}, mean {value:.3f} (dotted)")
    ax.set(xlabel="x", ylabel="Density p(x)", ylim=(0, None))
    ax.legend()
    yield "densities", figure
