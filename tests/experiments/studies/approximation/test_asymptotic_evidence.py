"""Study `asymptotic_evidence`: exact cases and recorded quantities."""

from collections.abc import Callable

import numpy as np
from numpy.testing import assert_allclose

from bythebook.experiments.core.outcome import Outcome
from bythebook.experiments.studies.approximation.asymptotic_evidence import AsymptoticEvidence

Run = Callable[..., Outcome]


def test_models_and_methods(run: Run) -> None:
    found = run(AsymptoticEvidence(["coin", "product", "linear"], [20, 200], repetitions=3))
    linear = found["log_evidence"].sel(model="linear")
    assert_allclose(linear.sel(method="laplace").values, linear.sel(method="exact").values)
    assert "total_variation" not in found  # of the product
    # one minus the other is (d / 2) log N less the constants that BIC drops
    dropped = linear.sel(method="laplace").values - linear.sel(method="bic at the mode").values
    kept = found["log_prior"].values[2] + np.log(2 * np.pi) - found["determinant_rest"].values[2]
    assert_allclose(dropped, kept)
    assert run(AsymptoticEvidence(["coin"], [5, 9], repetitions=2))["total_variation"].values.any()
