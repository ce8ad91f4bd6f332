"""The warning of an iteration that stops at its limit before it meets its tolerance."""

import warnings


class NotConverged(UserWarning):
    """Fits that stopped at their limit of iterations before they met their tolerance."""

    def __init__(self, method: str, iterations: int, tol: float, fits: int) -> None:
        super().__init__(method, iterations, tol, fits)
        self.method, self.iterations, self.tol, self.fits = method, iterations, tol, fits

    def __str__(self) -> str:
        fits = "1 fit" if self.fits == 1 else f"{self.fits} fits"
        return (
            f"{self.method} stopped at the limit of {self.iterations} iterations in {fits},"
            f" before it met the tolerance {self.tol:g}"
        )


def warn_not_converged(method: str, *, iterations: int, tol: float, fits: int = 1) -> None:
    """Warn that some fits of a method did not meet the tolerance; nothing if there are none.

    A run records the warning, and `show` and the report print it.
    """
    if fits:
        warnings.warn(NotConverged(method, iterations, tol, int(fits)), stacklevel=3)


def summarise(caught: list[NotConverged]) -> list[str]:
    """One sentence for each method and limit, with the number of fits of all its warnings."""
    fits: dict[tuple[str, int, float], int] = {}
    for warning in caught:
        key = (warning.method, warning.iterations, warning.tol)
        fits[key] = fits.get(key, 0) + warning.fits
    return [str(NotConverged(*key, number)) for key, number in fits.items()]
