"""Over-fitting: what high orders do to data about a known curve (notes 2.1, Ghahramani 1.3)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.polynomial.polynomial import polyval
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Series
from experiments.contract.study import Study, knob
from experiments.studies.regression.curve_data import CurveOrData, draw_fit, tiles
from models.regression.bayesian_regression import posterior
from models.regression.curves import expected_loss, powers, quadrature
from models.regression.polynomials import (
    fit_orders,
    monomial_weights,
    predict_orders,
    training_loss,
)
from models.regression.ridge import ridge_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure


@dataclass
class _Orders(CurveOrData):
    """One data set, a known curve, many orders."""

    data: str | None = knob(
        "curve-fitting", "an embedded data set in place of a drawn one", dataset=True
    )
    orders: list[int] = knob(
        list(range(10)), "orders to fit", at_least=0, at_most=20, distinct=True
    )

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if self.curve == "unknown":
            yield "study.curve=unknown: the error on new data needs the true curve"
        if max(self.orders) >= self.size:
            yield f"study.orders={self.orders}: {self.size} points; allowed: orders < {self.size}"


@dataclass
class Overfitting(_Orders, Study):
    """Training and expected test error by order, and how noise moves the fits (notes 2.1.1)."""

    show: list[int] = knob([0, 1, 3, 9], "orders whose fits are drawn", at_least=0, distinct=True)

    def problems(self) -> "Iterator[str]":
        yield from super().problems()
        if not set(self.show) <= set(self.orders):
            yield f"study.show={self.show}; allowed: some of study.orders={self.orders}"

    def run(self, rng: Generator) -> Outcome:
        orders = sorted(self.orders)
        x, t = (part[0] for part in self.sets(rng))
        fits = fit_orders(x, t, orders[-1])
        nodes, grid = quadrature(self.low, self.high), self.grid()
        loss = expected_loss(
            predict_orders(fits, nodes.x), self.truth(nodes.x), nodes.weight, self.noise
        )
        training, test = np.sqrt(training_loss(fits))[orders], np.sqrt(loss)[orders]
        # Fits are linear in t: unit changes of single targets tell what independent noise does.
        unit = predict_orders(fit_orders(x, np.eye(len(x)), orders[-1]), nodes.x)
        shake = self.noise * np.sqrt((unit**2).sum(axis=0) @ nodes.weight)[orders]
        columns = {"training_rms": training, "test_rms": test, "noise_in_fit": shake}
        best = int(np.argmin(test))
        metrics: dict[str, Any] = {
            "test_best_order": orders[best],
            "training_never_rises": bool(np.all(np.diff(training) <= 1e-12)),
            "lowest_order_underfits": bool(test[0] > test[best] and training[0] > training[best]),
            "highest_order_overfits": bool(test[-1] > test[best] and training[-1] < training[best]),
            "noise_in_fit_always_rises": bool(np.all(np.diff(shake) > 0)),
            "highest_over_best_test_rms": float(test[-1] / test[best]),
        }
        for name, values in columns.items():
            metrics |= {
                f"{name}_order_{k}": v for k, v in zip(orders, values.tolist(), strict=True)
            }
        arrays = {"x": x, "t": t, "grid": grid, "truth": self.truth(grid)}
        arrays["curves"] = predict_orders(fits, grid)[self.show]
        series = {name: Series(orders, values.tolist()) for name, values in columns.items()}
        return Outcome(metrics, series, {"orders": {"order": orders, **columns}}, arrays)

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table, arrays = outcome.tables["orders"], outcome.arrays
        figure, ax = panels()
        names = {
            "training_rms": "training",
            "test_rms": "new data",
            "noise_in_fit": "noise in the fit",
        }
        for (name, label), style in zip(names.items(), ("o-", "s-", "^:"), strict=True):
            ax.plot(table["order"], table[name], style, label=label)
        ax.set(xlabel="polynomial order", ylabel="root mean square", xticks=table["order"])
        ax.set_ylim(-0.03 * max(table["test_rms"]), 1.1 * max(table["test_rms"]))
        ax.legend(loc="upper center", bbox_to_anchor=(0.5, -0.16), ncols=3)
        fits, axes = tiles(len(self.show), *self.labels(), sharex=True, sharey=True)
        for panel, order, curve in zip(axes, self.show, arrays["curves"], strict=True):
            draw_fit(panel, arrays, curve)
            panel.set(title=f"order {order}")
        fits.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return {"error": figure, "fits": fits}


@dataclass
class CoefficientGrowth(_Orders, Study):
    """The weights of 1, x, x^2, ... by order (notes 2.1.1)."""

    orders: list[int] = knob(
        [0, 1, 3, 6, 9], "orders to fit", at_least=0, at_most=20, distinct=True
    )

    def run(self, rng: Generator) -> Outcome:
        orders = sorted(self.orders)
        x, t = (part[0] for part in self.sets(rng))
        fits = fit_orders(x, t, orders[-1])
        weights = {order: monomial_weights(fits, order) for order in orders}
        largest = [float(np.max(np.abs(w))) for w in weights.values()]
        metrics: dict[str, Any] = {
            "largest_weight_ratio": largest[-1] / largest[0],
            "largest_weight_always_rises": bool(np.all(np.diff(largest) > 0)),
        }
        metrics |= {f"largest_weight_order_{k}": v for k, v in zip(orders, largest, strict=True)}
        table: dict[str, list[float | None]] = {"power": [float(k) for k in range(orders[-1] + 1)]}
        for order, w in weights.items():
            metrics |= {f"weight_{k}_order_{order}": v for k, v in enumerate(w.tolist())}
            table[f"order_{order}"] = [*w.tolist(), *[None] * (orders[-1] - order)]
        series = {"largest_weight": Series(orders, largest)}
        return Outcome(metrics, series, {"weights": table})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        figure, ax = panels()
        table = outcome.tables["weights"]
        for i, order in enumerate(sorted(self.orders)):
            sizes = [abs(w) for w in table[f"order_{order}"] if w is not None]
            ax.plot(
                table["power"][: order + 1], sizes, "os^Dv"[i % 5] + "-", label=f"order {order}"
            )
        ax.set(
            xlabel="power of x",
            ylabel="size of its weight, |w|",
            yscale="log",
            xticks=table["power"],
        )
        ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
        return {"weights": figure}


@dataclass
class LikelihoodOverfits(_Orders, Study):
    """Maximum and penalised likelihood by order, on old and new data (Ghahramani 1.3)."""

    noise: float = knob(0.3, "standard deviation of the noise, known to the model", above=0)
    prior_variance: float = knob(200.0, "variance of the weights' Gaussian prior", above=0)

    def run(self, rng: Generator) -> Outcome:
        orders, sigma2 = sorted(self.orders), self.noise**2
        x, t = (part[0] for part in self.sets(rng))
        fits = fit_orders(x, t, orders[-1])
        nodes = quadrature(self.low, self.high)
        h = self.truth(nodes.x)
        penalised = np.empty((len(orders), 2))  # squared loss on old and new data
        difference = 0.0
        for row, order in enumerate(orders):
            Phi = powers(x, order)
            w = ridge_path(Phi, t, np.array([sigma2 / self.prior_variance])).weights[0]
            prior = self.prior_variance * np.eye(order + 1)
            w_map = posterior(Phi, t, sigma2, np.zeros(order + 1), prior).mean
            difference = max(difference, float(np.max(np.abs(w - w_map)) / np.max(np.abs(w))))
            new = expected_loss(polyval(nodes.x, w), h, nodes.weight, self.noise)
            penalised[row] = np.mean((t - Phi @ w) ** 2), new
        new = expected_loss(predict_orders(fits, nodes.x), h, nodes.weight, self.noise)[orders]
        loss = {
            "log_likelihood": training_loss(fits)[orders],
            "test_log_likelihood": new,
            "penalised_log_likelihood": penalised[:, 0],
            "penalised_test_log_likelihood": penalised[:, 1],
        }
        # Gaussian with known noise: the log likelihood per point is a matter of the squared loss.
        values = {k: -(np.log(2 * np.pi * sigma2) + v / sigma2) / 2 for k, v in loss.items()}
        test, rescued = values["test_log_likelihood"], values["penalised_test_log_likelihood"]
        metrics: dict[str, Any] = {
            "likelihood_never_falls": bool(np.all(np.diff(values["log_likelihood"]) >= -1e-9)),
            "test_best_order": orders[int(np.argmax(test))],
            "highest_order_overfits": bool(test[-1] < np.max(test)),
            "penalty_protects": bool(rescued[-1] > test[-1]),
            "penalised_is_map": difference < 1e-8,
            "penalised_map_difference": difference,
        }
        for name, curve in values.items():
            metrics |= {f"{name}_order_{k}": v for k, v in zip(orders, curve.tolist(), strict=True)}
        series = {name: Series(orders, curve.tolist()) for name, curve in values.items()}
        return Outcome(metrics, series, {"orders": {"order": orders, **values}})

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        table = outcome.tables["orders"]
        figure, axes = panels(1, 2, sharex=True)
        for ax, part, title in zip(axes, ("", "test_"), ("training data", "new data"), strict=True):
            ax.plot(
                table["order"], table[f"{part}log_likelihood"], "o-", label="maximum likelihood"
            )
            name = f"penalised_{part}log_likelihood"
            ax.plot(table["order"], table[name], "s--", label="penalised likelihood")
            ax.set(xlabel="polynomial order", title=title, xticks=table["order"])
        axes[0].set_ylabel("log likelihood per point (nats)")
        figure.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return {"likelihood": figure}
