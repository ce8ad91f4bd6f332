"""Losses against the order, the least one marked; the fits of a few orders, and their weights."""

from collections.abc import Iterator
from typing import Any

from matplotlib.figure import Figure

from experiments.contract.outcome import Outcome
from experiments.drawing.canvas import panels
from experiments.drawing.labels import axis_names
from experiments.studies.regression.polynomial_order import PolynomialOrder

# The quantities of each method, and how the panels of its figure are headed.
PANELS = {
    "training": {"training_loss": "Training"},
    "loo": {"loo_loss": "Leave-one-out"},
    "kfold": {"kfold_loss": "Held-out folds"},
    "holdout": {"holdout_training_loss": "Training part", "holdout_loss": "Held-out part"},
    "likelihood": {"log_likelihood": "Maximised log likelihood"},
}
CHOOSING = ("loo_loss", "kfold_loss", "holdout_loss")  # the least of these chooses an order


def draw(study: PolynomialOrder, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if study.curves:
        yield "fits", _fits(study, outcome)
    for method in study.methods:
        if method in PANELS:
            yield method, _losses(study, outcome, PANELS[method])
    if "weights" in study.methods:
        yield "weights", _weights(outcome)
    if "refits" in study.methods:
        yield "cost", _cost(outcome)


def _losses(study: PolynomialOrder, outcome: Outcome, quantities: dict[str, str]) -> Figure:
    figure, axes = panels(1, len(quantities), squeeze=False)
    for ax, (name, title) in zip(axes[0], quantities.items(), strict=True):
        orders, values = outcome[name].along("order"), outcome[name].values
        ax.plot(orders, values, marker="o")
        label = axis_names(study.data).loss if name.endswith("loss") else "Log likelihood"
        ax.set(xlabel="Polynomial order", ylabel=label, title=title, xticks=orders)
        if name in CHOOSING:
            best = values.argmin()
            ax.plot(
                orders[best], values[best], "D", color="C1", label=f"lowest: order {orders[best]}"
            )
            ax.legend()
        if name == "holdout_loss":
            ax.set_yscale("log")  # as FCML Figure 1.12(b)
    return figure


def _fits(study: PolynomialOrder, outcome: Outcome) -> Figure:
    names, curves = axis_names(study.data), outcome["curve"]
    x, t = outcome["inputs"].values, outcome["targets"].values
    figure, ax = panels()
    heights = [t.min(), t.max()]
    for i, order in enumerate(study.curves):
        ax.plot(curves.along("x"), curves.values[i], label=f"order {order}")
        for place in study.predict_at:
            height = outcome["prediction"].at(order=order, input=place).item
            ax.plot(place, height, "D", color=f"C{i}")
            heights.append(height)
    held = study.held_out(x)
    ax.plot(x[~held], t[~held], "o", color="black", label="data")
    if held.any():
        ax.plot(x[held], t[held], "o", color="black", markerfacecolor="white", label="held out")
    if study.predict_at:
        ax.plot([], [], "D", color="grey", label="prediction")
    room = (max(heights) - min(heights)) / 5  # high orders leave the page outside the data
    ax.set(xlabel=names.x, ylabel=names.t, ylim=(min(heights) - room, max(heights) + room))
    ax.legend()
    return figure


def _weights(outcome: Outcome) -> Figure:
    figure, ax = panels()
    sizes = outcome["weight"]
    orders, terms = sizes.along("order"), sizes.along("term")
    for i, order in enumerate(orders):
        used = slice(order + 1)
        mark, label = "os^Dv"[i % 5] + "-", f"order {order}"
        ax.plot(terms[used], abs(sizes.values[i, used]), mark, label=label)
    ax.set(xlabel="power of x", ylabel="size of its weight, |w|", yscale="log", xticks=terms)
    ax.legend(loc="center left", bbox_to_anchor=(1, 0.5))
    return figure


def _cost(outcome: Outcome) -> Figure:
    """Fits that a loss takes, and its spread over partitions, by the number of folds."""
    counts = [str(count) for count in outcome["fits"].along("folds")]
    names = [*counts[:-1], f"{counts[-1]}\n(leave-one-out)"]
    figure, (left, right) = panels(1, 2)
    left.bar(names, outcome["fits"], color="C0")
    left.set(xlabel="folds", ylabel="fits for one loss")
    look: dict[str, Any] = {"whis": (0, 100), "widths": 0.4, "medianprops": {"color": "C1"}}
    right.boxplot(outcome["refitted_loss"].values.T, tick_labels=names, **look)
    right.set(xlabel="folds", ylabel="squared loss, over partitions")
    return figure
