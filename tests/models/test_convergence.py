"""The warning of an iteration that stops at its limit."""

import warnings

from bythebook.models.convergence import NotConverged, summarise, warn_not_converged


def test_no_fit_gives_no_warning() -> None:
    with warnings.catch_warnings(action="error"):
        warn_not_converged("EM", iterations=5, tol=1e-3, fits=0)


def test_fits_are_added_by_method_and_limit() -> None:
    caught = [("EM", 5, 2), ("EM", 9, 1), ("EM", 5, 3), ("Newton's method", 5, 1)]
    lines = summarise([NotConverged(method, limit, 1e-3, n) for method, limit, n in caught])
    assert lines == [
        "EM stopped at the limit of 5 iterations in 5 fits, before it met the tolerance 0.001",
        "EM stopped at the limit of 9 iterations in 1 fit, before it met the tolerance 0.001",
        "Newton's method stopped at the limit of 5 iterations in 1 fit, before it met the"
        " tolerance 0.001",
    ]
