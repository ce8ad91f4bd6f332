"""The marginal likelihood of a coin's tosses as a function of the prior (FCML 3.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.drawing.clusters import whole_steps
from models.probability.coin import Beta, best_prior, log_beta_binomial, log_binomial

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("heads", "contours")


@dataclass
class CoinEvidence(Study):
    """Compare and optimise beta priors by the marginal likelihood of the tosses (FCML 3.4)."""

    heads: int = knob(14, "heads seen", at_least=0)
    tosses: int = knob(20, "tosses seen", at_least=1, at_most=10_000)
    alphas: list[float] = knob([1.0, 50.0, 5.0], "first parameter of each prior", above=0)
    betas: list[float] = knob([1.0, 50.0, 1.0], "second parameter of each prior", above=0)
    alpha_max: int = knob(50, "the search ends here", at_least=2, at_most=500)
    beta_max: int = knob(30, "the search ends here", at_least=2, at_most=500)
    show: list[str] = knob(["heads"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        if self.heads > self.tosses:
            yield f"study.heads={self.heads}; allowed: at most study.tosses={self.tosses}"
        priors = list(zip(self.alphas, self.betas, strict=False))
        if len(self.alphas) != len(self.betas) or len(set(priors)) < len(priors):
            yield f"study.alphas={self.alphas}, study.betas={self.betas}; allowed: different pairs"

    def run(self, rng: Generator) -> Outcome:
        names = [f"prior_{a:g}_{b:g}" for a, b in zip(self.alphas, self.betas, strict=True)]
        priors = Beta(np.array(self.alphas)[:, None], np.array(self.betas)[:, None])
        y = np.arange(self.tosses + 1)
        predicted = np.exp(log_beta_binomial(y, self.tosses, priors))  # (P, N + 1)
        evidence = predicted[:, self.heads]
        order = np.argsort(-evidence, kind="stable").tolist()
        metrics: dict[str, Scalar] = {
            f"evidence_{name}": value for name, value in zip(names, evidence.tolist(), strict=True)
        }
        metrics |= {f"evidence_rank_{names[i]}": k for k, i in enumerate(order, 1)}
        # Whole parameters, as the book's; zero is left out, where the prior does not exist.
        alpha, beta = np.arange(1.0, self.alpha_max + 1), np.arange(1.0, self.beta_max + 1)
        box = Beta(alpha[:, None], beta)
        surface = np.exp(log_beta_binomial(self.heads, self.tosses, box))
        i, j = np.unravel_index(np.argmax(surface), surface.shape)
        best = best_prior(self.heads, self.tosses, self.alpha_max, self.beta_max)
        share = self.heads / self.tosses
        metrics |= {
            "best_alpha": int(alpha[i]),
            "best_beta": int(beta[j]),
            "best_evidence": float(surface[i, j]),
            "best_is_on_the_edge": bool(i == len(alpha) - 1 or j == len(beta) - 1),
            "best_alpha_not_whole": float(best.alpha),
            "best_beta_not_whole": float(best.beta),
            "best_evidence_not_whole": float(
                np.exp(log_beta_binomial(self.heads, self.tosses, best))
            ),
            "evidence_without_bounds": float(np.exp(log_binomial(self.heads, self.tosses, share))),
        }
        table = {"prior": names, "alpha": self.alphas, "beta": self.betas, "evidence": evidence}
        arrays = {"y": y, "predicted": predicted, "alpha": alpha, "beta": beta, "surface": surface}
        return Outcome(metrics, tables={"priors": table}, arrays=arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {"heads": self._draw_heads, "contours": self._draw_contours}
        return {name: draws[name](outcome) for name in self.show}

    def _draw_heads(self, outcome: Outcome) -> "Figure":
        """What each prior expected; the height at the observed count is its evidence."""
        from experiments.drawing.canvas import panels

        arrays, table = outcome.arrays, outcome.tables["priors"]
        figure, ax = panels()
        for k, curve in enumerate(arrays["predicted"]):
            prior = f"Beta({table['alpha'][k]:g}, {table['beta'][k]:g})"
            label = f"{prior}, {table['evidence'][k]:.4f}"
            ax.plot(arrays["y"], curve, "os^Dv"[k % 5] + "-", color=f"C{k}", label=label)
        seen = f"{self.heads} heads were seen"
        ax.axvline(self.heads, color="black", linewidth=1, linestyle=":", label=seen)
        ax.set(
            xlabel=f"heads in {self.tosses} tosses", ylabel="marginal likelihood", ylim=(0, None)
        )
        whole_steps(ax)
        figure.legend(loc="outside lower center", ncols=2)
        return figure

    def _draw_contours(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        arrays, metrics = outcome.arrays, outcome.metrics
        figure, ax = panels()
        filled = ax.contourf(arrays["alpha"], arrays["beta"], arrays["surface"].T, levels=12)
        ax.contour(filled, colors="white", linewidths=0.5)
        figure.colorbar(filled, ax=ax, label="marginal likelihood")
        where = f"best: {metrics['best_alpha']}, {metrics['best_beta']}"
        ax.plot(
            metrics["best_alpha"],
            metrics["best_beta"],
            "o",
            color="C1",
            markersize=10,
            markeredgecolor="black",
            clip_on=False,
            zorder=5,
            label=where,
        )
        ax.set(xlabel="α (heads)", ylabel="β (tails)")
        ax.grid(visible=False)
        figure.legend(loc="outside lower center")
        return figure
