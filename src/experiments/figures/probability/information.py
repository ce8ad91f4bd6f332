"""Bits per symbol of block codes, divergence of learnt models, entropies of densities."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.probability.information import Information


def draw(study: Information, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, middle, right) = subplots(1, 3)
    block = outcome["huffman_bits"].coord("block")
    excess = outcome["huffman_bits"].values - outcome["entropy_bits"].values
    left.plot(block, excess, color="C0", lw=0.4, alpha=0.4)
    left.plot(block, excess.mean(1), "ko-")
    left.set(xlabel="symbols a codeword", ylabel="Huffman's code less entropy, bits", xticks=block)
    model = outcome["model_divergence"]
    middle.loglog(model.coord("training"), model.values, color="C1", lw=0.4, alpha=0.4)
    middle.loglog(model.coord("training"), model.values.mean(1), "ko-")
    middle.set(xlabel="symbols seen", ylabel="divergence of the model, bits")
    density = outcome["density_entropy"]
    deviation = study.deviations[min(1, len(study.deviations) - 1)]
    values = density.sel(deviation=deviation).values
    rows = np.arange(len(values))
    right.barh(rows, values)
    right.set_yticks(rows, [str(name) for name in density.coord("density")])
    right.invert_yaxis()
    right.set(xlabel=f"entropy in nats, deviation {deviation:g}", xlim=(values.min() - 0.1, None))
    yield "information", figure
