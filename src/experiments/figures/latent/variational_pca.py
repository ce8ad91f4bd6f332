"""The data, the bound's climb, and the posterior means."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.clusters import grid, whole_steps
from experiments.drawing.latent import objects
from experiments.studies.latent.variational_pca import VariationalPca


def draw(study: VariationalPca, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = grid(1, 3, 0.95)
    before, climb, after = axes[0]
    objects(before, outcome["points"].values, study.labels, "First two variables", "y_%d")
    bound = outcome["bound"].at(f="corrected", repetition=0)
    taken = int(outcome["iterations"].values[0])
    climb.plot(bound.along("iteration")[:taken], bound.values[:taken], marker="o", markersize=3)
    climb.set(xlabel="Iteration", ylabel="Natural log units", title="Lower bound")
    whole_steps(climb)
    if study.latent > 1:
        objects(after, outcome["posterior_means"].values, study.labels, "Posterior means")
    yield "ppca", figure
