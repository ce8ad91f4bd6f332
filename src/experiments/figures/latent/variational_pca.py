"""The data, the bound's climb, and the posterior means; a regression's bound off its maximum."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.latent import curve_between, objects
from experiments.studies.latent.variational_pca import VariationalPca


def draw(study: VariationalPca, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    yield ("bound", _regression(outcome)) if study.samples else ("ppca", _ppca(study, outcome))


def _ppca(study: VariationalPca, outcome: Outcome) -> Figure:
    look = {"xlabel": "Iteration", "ylabel": "Natural log units", "title": "Lower bound"}
    figure, _, climb, after = curve_between(outcome["points"].values, study.labels, **look)
    bound = outcome["bound"].at(f="corrected", repetition=0)
    taken = int(outcome["iterations"].values[0])
    climb.plot(bound.along("iteration")[:taken], bound.values[:taken], marker="o", markersize=3)
    if study.latent > 1:
        objects(after, outcome["posterior_means"].values, study.labels, "Posterior means")
    return figure


def _regression(outcome: Outcome) -> Figure:
    figure, ax = panels()
    bound = outcome["regression_bound"]
    for i, scale in enumerate(bound.along("scale")):
        label = "covariance of the posterior" if scale == 1 else f"{scale:g} times that"
        ax.plot(bound.along("shift"), bound.values[i], color=f"C{i}", label=label)
    ax.axhline(outcome["log_evidence"].item, color="0.3", linestyle="--", label="evidence")
    ax.set(xlabel="Mean of Q off the posterior's (standard deviations)")
    ax.set(ylabel="Bound (natural log units)")
    ax.legend(loc="lower center")
    return figure
