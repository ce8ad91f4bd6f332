"""A step of the particle filter, beliefs of two modes or of many Gaussians; errors by particles."""

from collections.abc import Iterator

import numpy as np
from matplotlib.colors import PowerNorm
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.plotting.densities import gaussian_curve, particle_histogram
from bythebook.experiments.studies.state_space.filters import Filters

NOISES = {"linear": "Gaussian noise", "student": "Student noise", "growth": "growth model"}
LOOKS = {"extended": ("linearisation", "C0", "--"), "unscented": ("unscented filter", "C2", "-.")}


def draw(study: Filters, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    first = study.systems[0]
    if first == "mixture":
        yield "growth", _components(outcome)
    elif first == "growth":
        yield "beliefs", _beliefs(outcome)
        yield "errors", _median_errors(outcome)
    else:
        yield "step", _step(outcome)
        yield "errors", _errors(outcome)


def _components(outcome: Outcome) -> Figure:
    """Gaussians in the exact belief against the step; and the last belief, exact and not."""
    figure, (left, right) = subplots(1, 2)
    components, step = outcome["components"], outcome.axes["step"].values
    starts = components.sel(model="mixture_start", step=1).item
    for name, label, look in (
        ("mixture_emission", "emission of 2 Gaussians", "C1-o"),
        ("mixture_start", f"start of {starts} Gaussians", "C0-s"),
        ("gaussian", "all Gaussian", "C2-^"),
    ):
        left.semilogy(step, components.sel(model=name), look, label=label)
    left.set(xlabel="step $n$", ylabel="Gaussians in the exact belief")
    left.legend(loc="upper left")
    exact, one = outcome["exact_density"].values, outcome["collapsed_density"].values
    z, particles = outcome.axes["z"].values, outcome["particle_state"].values
    weights, edges = outcome["particle_weight"].values, np.linspace(z[0], z[-1], 36)
    particle_histogram(right, particles, weights, edges)
    right.plot(z, exact, "-", color="C1", label="exact")
    right.plot(z, one, "--", color="C0", label="one Gaussian")
    right.set(xlabel=f"state $z_{{{step[-1]}}}$", ylabel="posterior density")
    right.set_ylim(top=1.35 * max(exact.max(), one.max()))
    right.legend(loc="upper left")
    return figure


def _step(outcome: Outcome) -> Figure:
    """PRML Figure 13.23: the belief, the mixture, the likelihood and the new belief."""
    n, density = int(outcome["shown_step"].values), outcome["density"]
    (z0, z1), (w0, w1) = outcome["particle_state"].values, outcome["particle_weight"].values
    even, points = np.full(len(z1), 1 / len(z1)), density.coord("z")
    now, new = f"z_{{{n}}} | X_{{{n}}}", f"z_{{{n + 1}}}"
    rows = [
        (density.sel(step=n), f"$p({now})$", z0, w0, "weights"),
        (outcome["mixture"], f"$p({new} | X_{{{n}}})$, (13.119)", z1, even, "samples"),
        (outcome["likelihood"], f"$p(x_{{{n + 1}}} | {new})$", z1, w1, "new weights"),
        (density.sel(step=n + 1), f"$p({new} | X_{{{n + 1}}})$", z1, w1, "new weights"),
    ]
    figure, axes = subplots(4, 1, sharex=True)
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, 0.5 * height)
    for k, (ax, (quantity, label, z, w, dots)) in enumerate(zip(axes, rows, strict=True)):
        curve, ink = quantity.values / quantity.values.max(), f"C{k % 2}"
        ax.fill_between(points, 0, curve, color=ink, alpha=0.18, linewidth=0)
        ax.plot(points, curve, "-", color=ink)
        area = 10.25 * width**2 * w
        ax.scatter(z, np.full(len(z), -0.3), s=area, color="C2", alpha=0.55, linewidths=0)
        ax.text(0.01, 0.95, label, transform=ax.transAxes, va="top", fontsize="small")
        ax.text(0.99, 0.04, dots, transform=ax.transAxes, ha="right", fontsize="small")
        ax.set(ylim=(-0.62, 1.1), yticks=[])
        ax.spines["left"].set_visible(False)
    seen = np.concatenate([z0, z1])
    margin = 0.35 * np.ptp(seen)
    axes[-1].set(xlim=(seen.min() - margin, seen.max() + margin), xlabel="state $z$")
    return figure


def _errors(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    errors = outcome["particle_rmse"]
    sizes = errors.coord("particles")
    for k, name in enumerate(errors.coord("system")):
        mine, rate = errors.values[k], outcome["particle_rmse_rate"].values[k]
        label = f"{NOISES[name]}: error as $L^{{{rate:.2f}}}$"
        ax.loglog(sizes, mine, "-", marker="os^"[k], color=f"C{k}", label=label)
        missing = outcome["rmse_to_exact"].sel(system=name, filter="extended").values
        if missing > mine.min() / 10:
            ax.axhline(missing, color=f"C{k}", linestyle="--", linewidth=1)
            where = {"x": sizes[-1], "y": missing * 1.06, "ha": "right"}
            ax.text(s=f"Kalman filter, {NOISES[name]}", fontsize="small", **where)
    ax.set(xlabel="particles $L$", ylabel="r.m.s. error of the mean, to the exact filter")
    ax.legend(loc="lower left")
    return figure


def _beliefs(outcome: Outcome) -> Figure:
    n, density = int(outcome["shown_step"].values), outcome["density"]
    steps, points = density.coord("step"), density.coord("z")
    figure, (left, right) = subplots(1, 2)
    norm = PowerNorm(0.5, 0, 0.6)
    left.pcolormesh(steps, points, density.values.T, cmap="Greys", norm=norm, rasterized=True)
    left.plot(steps, outcome["state"], ".", color="C1", label="state")
    left.axvline(n + 1, color="C0", linestyle=":", linewidth=1)
    left.set(xlabel="step $n$", ylabel="state $z_n$", ylim=(-28, 28))
    left.grid(visible=False)
    left.legend(loc="upper right")
    exact = density.sel(step=n + 1).values
    z, w = (outcome[f"particle_{part}"].sel(time="after") for part in ("state", "weight"))
    particle_histogram(right, z.values, w.values, np.linspace(-28, 28, 85))
    right.plot(points, exact, "-", color="C1", label="exact")
    for name, (label, colour, dash) in LOOKS.items():
        mean, variance = (
            outcome[f"belief_{part}"].sel(filter=name, step=n + 1).values
            for part in ("mean", "variance")
        )
        curve = gaussian_curve(points, mean, np.sqrt(variance))
        right.plot(points, curve, dash, color=colour, label=label)
    right.set(xlabel=f"state $z_{{{n + 1}}}$", ylabel="filtered density")
    right.set(xlim=(-28, 28), ylim=(0, 1.7 * exact.max()))
    right.legend(loc="upper left")
    return figure


def _median_errors(outcome: Outcome) -> Figure:
    figure, ax = subplots()
    errors, rate = outcome["particle_median_error"], outcome["particle_median_error_rate"].values[0]
    label = f"particles: error as $L^{{{rate:.2f}}}$"
    ax.loglog(errors.coord("particles"), errors.values[0], "-o", color="C1", label=label)
    for name, (what, colour, dash) in LOOKS.items():
        level = outcome["median_error"].sel(system="growth", filter=name).values
        ax.axhline(level, linestyle=dash, color=colour, label=what)
    ax.set(xlabel="particles $L$", ylabel="median error of the mean, to the exact filter")
    ax.legend(loc="center right")
    return figure
