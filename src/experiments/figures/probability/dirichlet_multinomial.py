"""Word probabilities by each estimate, and the likelihood of a new text."""

from collections.abc import Iterator

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.studies.probability.dirichlet_multinomial import DirichletMultinomial


def draw(study: DirichletMultinomial, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = panels(1, 2)
    word, width = outcome["ml_estimate"].along("word"), 0.8 / (1 + len(study.alphas))
    names = [rf"MAP, $\alpha$ = {alpha:g}" for alpha in study.alphas]
    estimates = [outcome["ml_estimate"].values, *outcome["map_estimate"].values]
    for k, (name, values) in enumerate(zip(["maximum likelihood", *names], estimates, strict=True)):
        axes[0].bar(word + (k - len(estimates) / 2 + 0.5) * width, values, width, label=name)
    axes[0].set(xlabel="Word", ylabel="Probability of the word", xticks=word)
    axes[0].legend(fontsize=7)
    for what, look, label in (("map", "o-", "MAP"), ("expected", "s--", "expected")):
        likelihood = outcome[f"{what}_likelihood"]
        axes[1].plot(likelihood.along("alpha"), likelihood.values, look, label=label)
    axes[1].set(xlabel=r"$\alpha$", ylabel="Likelihood of the new text", ylim=(0, None))
    axes[1].legend()
    yield "estimates", figure
