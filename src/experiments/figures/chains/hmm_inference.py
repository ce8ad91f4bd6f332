"""Messages against all paths, their costs and their end; the best path among probable states."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import shared_legend, subplots
from bythebook.experiments.studies.chains.hmm_inference import HmmInference

STATES = 3  # of the chains whose costs are drawn


def draw(study: HmmInference, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    if "marginals" in study.ask:
        yield "messages", _messages(outcome)
    if "path" in study.ask:
        yield "path", _path(outcome)
    if "scaling" in study.ask:
        yield "underflow", _underflow(study, outcome)


def _messages(outcome: Outcome) -> Figure:
    figure, (left, right) = subplots(1, 2)
    last = outcome["last_state"]
    step = last.coord("step")
    for i, (name, mark) in enumerate((("filtered", "s"), ("smoothed", "o"))):
        messages, exact = last.sel(belief=name).values
        dash = ("--", "-")[i]
        left.plot(step, messages, dash, color=f"C{i}", label=f"{name}, recursion")
        look: dict[str, Any] = {"color": f"C{i}", "fillstyle": "none", "markersize": 9 - 2 * i}
        left.plot(step, exact, mark, label=f"{name}, all paths", **look)
    two = outcome["last_state_two_filters"].values
    left.plot(step, two, "x", color="black", label="smoothed, two filters")
    left.set(xlabel="Step", ylabel="p(last state | data)", ylim=(-0.02, 1.02), xticks=step)
    left.set_title("Beliefs by messages and by all paths")
    paths = outcome["path_products"].sel(states=STATES)
    messages = outcome["forward_products"].sel(states=STATES)
    right.plot(paths.coord("short_length"), paths.values, "--o", color="C3", label="all paths")
    right.plot(messages.coord("length"), messages.values, color="C2", label="recursion")
    right.set(xlabel="Length of the chain", ylabel="Products", yscale="log")
    right.set_title(f"Cost for {STATES} states")
    right.legend()
    shared_legend(figure, left, 3)
    return figure


def _path(outcome: Outcome) -> Figure:
    marginals, states = outcome["shown_marginals"], outcome["shown_states"].values
    step, state = marginals.coord("step"), marginals.coord("state")
    figure, ax = subplots()
    image = ax.imshow(
        marginals.values.T, aspect="auto", cmap="Greys", vmin=0, vmax=1.4, origin="lower",
        extent=(0.5, len(step) + 0.5, 0.5, len(state) + 0.5),
    )  # fmt: skip
    for (t, k), p in np.ndenumerate(marginals.values):
        ax.text(t + 1, k + 0.75, f"{p:.2f}", ha="center", va="center", fontsize=9)
    image.set_rasterized(True)
    path = outcome["shown_path"].values
    ax.plot(step, path + 0.06, "-o", color="C0", label="most probable path")
    ax.plot(step, states - 0.02, "--D", color="C1", label="most probable states")
    into = np.flatnonzero(outcome["shown_transitions"].values == 0)
    ax.plot(
        step[into] - 0.5, (states[into - 1] + states[into]) / 2 - 0.02,
        "X", color="black", markersize=11, linestyle="none", label="impossible step",
    )  # fmt: skip
    ax.grid(visible=False)
    ax.set(xlabel="Step", ylabel="State", xticks=step, yticks=state)
    ax.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=3)
    return figure


def _underflow(study: HmmInference, outcome: Outcome) -> Figure:
    """The log evidence along long sequences, and where unscaled messages lose it."""
    floor = np.log(np.nextafter(0, 1))
    figure, ax = subplots()
    curves, lost = outcome["first_log_evidence"], outcome["underflow"].values
    labels = ["casino's dice", *(f"Gaussian, {D}-d" for D in study.dimensions)]
    for i, (curve, ends, label) in enumerate(zip(curves.values, lost, labels, strict=True)):
        shown = f"{label}: lost after {np.median(ends):.0f} steps (median)"
        ax.plot(curves.coord("long_step"), curve, color=f"C{i}", label=shown)
        if np.isfinite(ends[0]):
            ax.plot(ends[0], curve[int(ends[0]) - 1], "X", color=f"C{i}", markersize=8)
    ax.axhline(floor, color="0.4", linestyle=":", linewidth=1)
    furthest = max((end for end in lost[:, 0] if np.isfinite(end)), default=study.long)
    right = min(1.25 * furthest, study.long)
    ax.set(xlabel="Steps of the chain", ylabel="Log evidence so far (nats)", xlim=(0, right))
    ax.set_ylim(-1000, 20)
    ax.text(right, floor + 10, "smallest double", color="0.3", fontsize=9, ha="right")
    ax.legend(loc="upper right")
    return figure
