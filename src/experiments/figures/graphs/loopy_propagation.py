"""Beliefs against the truth, coupling by coupling; errors round by round."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.graphs.loopy_propagation import LoopyPropagation

STYLES = ("-", "--", ":", "-.")


def draw(study: LoopyPropagation, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    share = study.dampings[0]
    left.plot([0, 1], [0, 1], color="0.6", lw=1)
    for k, coupling in enumerate(study.couplings):
        truth = outcome["exact_belief"].sel(coupling=coupling).values.ravel()
        found = outcome["belief"].sel(coupling=coupling, damping=share).values.ravel()
        left.plot(truth, found, ".", ms=4, color=f"C{k}")
        for style, damping in zip(STYLES, study.dampings, strict=False):
            errors = outcome["round_error"].sel(coupling=coupling, damping=damping)
            middle = np.maximum(np.median(errors.values, axis=0), 1e-17)
            label = f"coupling {coupling:g}" + (f", damped {damping:g}" if damping else "")
            right.semilogy(errors.coord("round"), middle, style, color=f"C{k}", label=label)
    damped = f", damped {share:g}" if share else ""
    left.set(xlabel="P(x = 1)", ylabel=f"belief after {study.rounds} rounds{damped}")
    right.set(xlabel="round", ylabel="largest error of a belief, median")
    shared_legend(figure, right, 4)
    yield "beliefs", figure
