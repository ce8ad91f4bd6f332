"""Maximising a posterior is minimising a penalised error (FCML 3.7.4, notes 2.2.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from experiments.studies.regression.ridge_path import Penalised
from models.regression.bayesian_regression import posterior
from models.regression.ridge import ridge_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure


@dataclass
class MapIsRidge(Penalised, Study):
    """Most probable weights under a Gaussian prior, and regularised least squares (FCML 3.7.4)."""

    order: int = knob(1, "order (or number of bumps)", at_least=1, at_most=20)
    lambdas: list[float] = knob([1e-4, 1e-3, 1e-2, 0.1, 1.0], "penalties", above=0, distinct=True)
    sigma2: float = knob(0.09, "variance of the noise, known to the model", above=0)

    def run(self, rng: Generator) -> Outcome:
        x, t = (part[0] for part in self.sets(rng))
        Phi, lambdas = self.design_matrix(x, self.order), np.array(sorted(self.lambdas))
        penalties = self.total(lambdas, len(x))
        ridge = ridge_path(Phi, t, penalties).weights
        variances = self.sigma2 / penalties  # |t - Phi w|^2 / sigma^2 + w^T w / s, times sigma^2
        zero, eye = np.zeros(Phi.shape[1]), np.eye(Phi.shape[1])
        most_probable = np.array(
            [posterior(Phi, t, self.sigma2, zero, s * eye).mean for s in variances]
        )
        difference = np.max(np.abs(ridge - most_probable), axis=-1) / np.max(np.abs(ridge), axis=-1)
        metrics: dict[str, Any] = {
            "map_is_ridge": bool(difference.max() < 1e-8),
            "largest_difference": difference.max(),
        }
        for k, value in enumerate(lambdas):
            metrics[f"prior_variance_lambda_{value:g}"] = variances[k]
            metrics |= {f"weight_{j}_lambda_{value:g}": w for j, w in enumerate(ridge[k])}
            metrics |= {
                f"map_weight_{j}_lambda_{value:g}": w for j, w in enumerate(most_probable[k])
            }
        table = {"lambda": lambdas, "prior_variance": variances}
        table |= {f"ridge_{j}": column for j, column in enumerate(ridge.T)}
        table |= {f"map_{j}": column for j, column in enumerate(most_probable.T)}
        return Outcome(metrics, tables={"weights": {**table, "difference": difference}})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table = outcome.tables["weights"]
        count = sum(name.startswith("ridge_") for name in table)
        figure, axes = panels(1, 2)
        for j in range(count):
            look = {
                "color": f"C{j % 8}",
                "linestyle": "--" if j >= 8 else "-",
                "label": f"$w_{{{j}}}$",
            }
            axes[0].plot(table["lambda"], table[f"ridge_{j}"], **look)
            axes[0].plot(
                table["lambda"], table[f"map_{j}"], "o", color=f"C{j % 8}", markerfacecolor="none"
            )
        axes[0].set(xlabel="λ", ylabel="weight", xscale="log", yscale="symlog")
        axes[0].set_title(
            "lines: least squares with penalty\ncircles: most probable under the prior"
        )
        axes[1].plot(table["lambda"], table["prior_variance"], "o-", color="black")
        axes[1].set(xlabel="λ", ylabel="matching prior variance", xscale="log", yscale="log")
        figure.legend(
            *axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=min(count, 10)
        )
        return {"weights": figure}
