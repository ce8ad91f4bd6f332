"""Bits about the past under their bound, and the growth of parameters and operations."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import subplots
from bythebook.experiments.studies.chains.chain_capacity import ChainCapacity


def draw(study: ChainCapacity, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, 3)
    K = max(study.states)
    M = np.array(study.chains)
    bits = outcome["information"].sel(K=K).values
    axes[0].plot(np.repeat(M, study.draws), bits.ravel(), ".", color="0.6", label="chains drawn")
    round_ = outcome["cycle_information"].sel(K=K).values
    axes[0].plot(M, round_, "o", color="C0", label="going round all states")
    axes[0].plot(M, M * np.log2(K), "-", color="C1", lw=1, label="M log2 K")
    axes[0].set(ylabel=f"bits about the past, K = {K}")
    for ax, what, words in (
        (axes[1], "parameters", "parameters of two steps"),
        (axes[2], "operations", "operations of one step"),
    ):
        for k, (way, label) in enumerate({"flat": "as one", "chain": "restricted"}.items()):
            values = outcome[f"{way}_{what}"].sel(K=K).values
            ax.semilogy(M, values, "os"[k] + "-", label=label)
        ax.set(ylabel=f"{words}, K = {K}")
    for ax in axes:
        ax.set(xlabel="M, variables")
        ax.xaxis.get_major_locator().set_params(integer=True)
        ax.legend(fontsize="small")
    yield "capacity", figure
