"""Occupied components against the number of points, under the prior and after seeing them."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.clustering.dirichlet_process import DirichletProcess


def draw(study: DirichletProcess, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    for i, alpha in enumerate(study.concentrations):
        drawn = outcome["prior_clusters"].sel(concentration=alpha).values
        low, high = np.quantile(drawn, [0.05, 0.95], axis=1)
        mean = outcome["expected_prior_clusters"].sel(concentration=alpha).values
        left.fill_between(study.sizes, low, high, color=f"C{i}", alpha=0.2, lw=0)
        left.plot(
            study.sizes, mean, "o-", color=f"C{i}", ms=4, label=f"prior, $\\alpha$ = {alpha:g}"
        )
    for name, label, colour in (
        ("sampled_clusters", "posterior, Gibbs sampling", "C4"),
        ("truncated_clusters", "posterior, variational", "C5"),
    ):
        values = outcome[name].values.mean(1)
        left.plot(study.fitted_sizes, values, "s--", ms=4, color=colour, label=label)
    left.set(xlabel="points", ylabel="occupied components", xscale="log", yscale="log")
    exact, chains = outcome["exact_count_probability"], outcome["drawn_count_probability"]
    count = exact.coord("count")
    right.bar(count - 0.2, exact.values, 0.38, color="C0", label="all partitions")
    right.bar(count + 0.2, chains.values, 0.38, color="C4", label="Gibbs sampling")
    right.set(xlabel=f"components of {study.enumerated} points", ylabel="posterior probability")
    right.legend()
    shared_legend(figure, left, 3)
    yield "components", figure
