"""An outcome with quantities of every type, for the tests of expressions and their evidence."""

import numpy as np

from bythebook.experiments.core.outcome import Outcome, axis, over

ORDER = axis("order", [1, 2, 3, 4])
SET = axis("set", ["train", "loo", "test"])
GRID = axis("x", np.linspace(-1, 1, 21))
OUTCOME = Outcome(
    loss=ORDER.of([4.0, 2.0, 1.0, 3.0]),
    table=over(np.arange(12.0).reshape(3, 4), SET, ORDER),
    curve=GRID.of(np.linspace(-1, 1, 21) ** 2),
    best=axis("set", SET.values).of(["a", "b", "a"]),
    broken=ORDER.of([1.0, np.nan, 3.0, 4.0]),
    level=2.5,
    number=3,
    word="knn",
    true=True,
)
