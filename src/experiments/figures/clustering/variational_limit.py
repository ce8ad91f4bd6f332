"""Differences of variational Bayes and maximum likelihood, against the number of points."""

from collections.abc import Iterator

import numpy as np
from matplotlib.figure import Figure

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.plotting.canvas import merged_legend, subplots
from bythebook.experiments.plotting.clustering import MARKERS
from bythebook.experiments.studies.clustering.variational_limit import VariationalLimit

_NAMES = {
    "mean_gap": "means",
    "covariance_gap": "covariances",
    "mixing_gap": "coefficients",
    "responsibility_gap": "responsibilities",
}
_DENSITIES = {
    "gaussian_gap": "predictive density to Gaussians alike",
    "likelihood_gap": "to maximum likelihood",
}


def draw(study: VariationalLimit, outcome: Outcome) -> Iterator[tuple[str, Figure]]:
    figure, axes = subplots(1, 2)
    for ax, names in zip(axes, (_NAMES, _DENSITIES), strict=True):
        for i, (name, label) in enumerate(names.items()):
            middle = outcome[name].values.mean(-1)
            number = i if names is _NAMES else i + len(_NAMES)
            look = {"marker": MARKERS[i], "ms": 4, "color": f"C{number}"}
            ax.loglog(study.sizes, middle, label=label, **look)
        first = outcome[next(iter(names))].values.mean(-1)[0]
        sizes = np.array([study.sizes[0], study.sizes[-1]])
        ax.loglog(sizes, first * sizes[0] / sizes, color="0.6", lw=1, ls="--", label="1/N")
        ax.set_xlabel("points N")
    axes[0].set_ylabel("largest difference from maximum likelihood")
    axes[1].set_ylabel("total variation")
    merged_legend(figure, axes, 4)
    yield "limit", figure
