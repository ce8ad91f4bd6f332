"""The likelihood epoch by epoch, and estimates of all runs against the maximum."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.graphs.stochastic_likelihood import WAYS, StochasticLikelihood


def draw(study: StochasticLikelihood, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, (left, right) = subplots(1, 2)
    best = outcome["maximum"].values
    for k, way in enumerate(WAYS):
        for style, steps in zip(("-", "--", ":", "-."), study.gibbs_steps, strict=False):
            course = outcome["course"].sel(way=way, gibbs_steps=steps)
            label = f"{way}, {steps} sweep{'s' * (steps > 1)} a step"
            left.semilogx(course.coord("epoch"), course.values, style, color=f"C{k}", label=label)
        steps = study.gibbs_steps[0]
        found = outcome["estimate"].sel(way=way, gibbs_steps=steps).values
        right.errorbar(best, found.mean(0), found.std(0), fmt="o^"[k], ms=4, lw=1, color=f"C{k}")
    ends = [best.min(), best.max()]
    right.plot(ends, ends, color="0.6", lw=1)
    left.set(xlabel="epoch", ylabel="log likelihood a case, mean of all runs")
    right.set(xlabel="maximum likelihood, with all states")
    right.set_ylabel(f"mean and spread of {study.runs} runs, {steps} sweep{'s' * (steps > 1)}")
    shared_legend(figure, left, 2)
    yield "runs", figure
