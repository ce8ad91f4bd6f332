"""What cross-validation costs, and what repeating it is good for (FCML 1.5.3)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from experiments.contract.outcome import Outcome, axis, over
from experiments.contract.study import Study, knob
from experiments.studies.regression._curves import SyntheticCurve
from models.regression.curves import powers
from models.regression.linear import least_squares
from models.regression.polynomials import fit_orders, kfold_loss, random_folds


@dataclass
class CrossValidationCost(SyntheticCurve, Study):
    """Fits that K-fold cross-validation takes, and its loss over partitions (FCML 1.5.3)."""

    n: int = knob(20, "points in a data set", at_least=2)
    order: int = knob(3, "order of the fitted polynomial", at_least=0, at_most=20)
    folds: list[int] = knob([5, 10], "besides leave-one-out", at_least=2, distinct=True)
    partitions: int = knob(20, "random partitions into folds", at_least=2, at_most=1000)

    def problems(self) -> Iterator[str]:
        yield from super().problems()
        if max(self.folds) >= self.n:
            yield f"study.folds={self.folds}: {self.n} points; allowed: < {self.n}"
        left = self.n - -(-self.n // min(self.folds))
        if self.order >= left:
            yield f"study.order={self.order}: fits to {left} points; allowed: < {left}"

    def run(self, rng: Generator) -> Outcome:
        count, partition = (
            axis("folds", [*sorted(self.folds), self.n]),
            axis("partition", self.partitions),
        )
        x, t = (part[0] for part in self.sample(rng, 1))
        Phi, all_points = powers(x, self.order), fit_orders(x, t, self.order)
        losses, shortcut = np.empty((2, len(count), len(partition)))
        fits, trained_on = np.zeros((2, len(count)), dtype=int)
        for i, k in enumerate(count.values):
            for j in partition.values:
                folds = random_folds(self.n, k, rng)
                total = 0.0
                for fold in folds:
                    rest = np.setdiff1d(np.arange(self.n), fold)
                    w = least_squares(Phi[rest], t[rest]).w
                    total += float(np.sum((t[fold] - Phi[fold] @ w) ** 2))
                    fits[i] += 1
                    trained_on[i] += len(rest)
                losses[i, j] = total / self.n
                shortcut[i, j] = kfold_loss(all_points, folds)[self.order]
        points = fits * self.n  # that fits without cross-validation would see
        return Outcome(
            kfold_loss=over(losses, count, partition),
            shortcut_loss=over(shortcut, count, partition),  # from one fit to all points
            fits=count.of(fits // self.partitions),
            cost=count.of(trained_on / self.partitions / self.n),  # in fits to all points
            share_left_out=count.of((points - trained_on) / points),
        )
