"""The data, the bound by iteration, and posterior means; a regression's bound."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.latent import before_curve_after, plot_objects
from bythebook.experiments.studies.latent.variational_pca import VariationalPca


def draw(study: VariationalPca, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield ("bound", _regression(outcome)) if study.samples else ("ppca", _ppca(study, outcome))


def _ppca(study: VariationalPca, outcome: Outcome) -> Figure:
    look = {"xlabel": "Iteration", "ylabel": "Natural log units", "title": "Lower bound"}
    figure, _, climb, after = before_curve_after(outcome["points"].values, study.labels, **look)
    bound = outcome["bound"].sel(f="corrected", repetition=0)
    taken = int(outcome["iterations"].values[0])
    climb.plot(bound.coord("iteration")[:taken], bound.values[:taken], marker="o", markersize=3)
    if study.latent > 1:
        plot_objects(after, outcome["posterior_means"].values, study.labels, "Posterior means")
    return figure


def _regression(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    bound = outcome["regression_bound"]
    for i, scale in enumerate(bound.coord("scale")):
        label = "covariance of the posterior" if scale == 1 else f"{scale:g} times that"
        ax.plot(bound.coord("shift"), bound.values[i], color=f"C{i}", label=label)
    ax.axhline(outcome["log_evidence"].item, color="0.3", linestyle="--", label="evidence")
    ax.set(xlabel="Mean of Q off the posterior's (standard deviations)")
    ax.set(ylabel="Bound (natural log units)")
    ax.legend(loc="lower center")
    return figure
