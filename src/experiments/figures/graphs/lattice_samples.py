"""Samples with regions coloured by size, and their growth with the coupling."""

from collections.abc import Iterator

from matplotlib.colors import LogNorm
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.graphs.lattice_samples import LatticeSamples

SHOWN = 4  # samples side by side, of couplings that are neither the weakest nor the strongest


def draw(study: LatticeSamples, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    inner = study.couplings[1:-1] or study.couplings
    chosen = inner[:: -(-len(inner) // SHOWN)]
    figure, axes = subplots(1, len(chosen), squeeze=False)
    for ax, J in zip(axes.flat, chosen, strict=True):
        sizes = outcome["region_size"].sel(coupling=J).values
        image = ax.imshow(sizes, cmap="viridis_r", norm=LogNorm(1, study.size**2))
        ax.set_title(f"J = {J:g}")
        ax.set_axis_off()
    figure.colorbar(image, ax=axes, label="sites in the region", fraction=0.03)
    yield "samples", figure

    figure, (left, right) = subplots(1, 2)
    for k, start in enumerate(study.starts):
        largest = outcome["largest_region"].sel(start=start)
        left.plot(study.couplings, largest.values, "o^s"[k], color=f"C{k}", ms=4, alpha=0.8)
        left.plot([], [], "o^s"[k], color=f"C{k}", label=f"start: {start}")
        links = outcome["equal_links"].sel(start=start)
        for J, tone in zip(chosen, (0.3, 0.5, 0.75, 1.0), strict=False):
            right.plot(
                links.coord("sweep"),
                links.sel(coupling=J).values.T,
                color=f"C{k}",
                alpha=tone,
                lw=1,
            )
    left.set(xlabel="J", ylabel="share of the lattice in its largest region")
    left.legend()
    right.set(xlabel="sweep", ylabel="share of equal neighbours")
    right.set_title(", ".join(f"{J:g}" for J in chosen) + ": from light to dark", fontsize="small")
    yield "regions", figure
