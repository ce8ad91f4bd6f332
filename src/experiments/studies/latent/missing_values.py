"""Variational PCA with missing values: uncertainty, prediction, two treatments (FCML 7.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.latent._hidden_clusters import HiddenClusters
from bythebook.models.em import smallest_gain
from bythebook.models.latent import groups
from bythebook.models.latent.variational_ppca import (
    Posterior,
    Treatment,
    VariationalFit,
    fit,
    log_score,
    predict,
)
from bythebook.models.types import Bools, Floats

TREATMENTS = ("switches", "latent")
CASES = ("both seen", "second missing", "both missing")  # objects 0, 1 and 2, in the first cluster


@dataclass
class MissingValues(HiddenClusters, Study):
    """Variational PCA after removal of values at random and of chosen ones (FCML 7.6).

    Quantities of single objects are those of the first treatment and the smallest probability.
    """

    headline = {
        "predicted_mean": "mean(predicted_mean)",
        "predicted_variance": "mean(predicted_variance)",
        "neighbours_of_another_cluster": "mean(neighbours_of_another_cluster['missing'])",
    }
    quantities = {
        "neighbours_of_another_cluster": quantity(
            "share of the points whose nearest neighbour is of another cluster", "values repetition"
        ),
        "predicted_mean": quantity(
            "mean of the missing value of the second object", "repetition", equation="FCML 7.6.2"
        ),
        "predicted_variance": quantity(
            "variance of the missing value of the second object",
            "repetition",
            equation="FCML 7.6.2",
        ),
        "points": quantity("values of the first data set, centred", "object variable"),
        "cluster": quantity("cluster of an object", "object"),
        "latent_means": quantity("posterior mean of the latent variables", "object latent"),
        "latent_covariance": quantity(
            "posterior covariance of the latent variables", "case latent other_latent"
        ),
        "log_det_covariance": quantity(
            "log determinant of the posterior covariance of an object", "repetition case"
        ),
        "distance_from_origin": quantity(
            "distance of an object's posterior mean from the origin", "repetition case"
        ),
        "group_distance": quantity(
            "distance of an object from the centre of a group", "repetition case group"
        ),
        "position_between_groups": quantity(
            "position of the second object from its group, 0, to the nearest other, 1", "repetition"
        ),
        "score": quantity(
            "mean log density of a removed value", "treatment probability", unit="nats"
        ),
        "smallest_gain": quantity(
            "smallest gain of the bound in an iteration, relative to the bound",
            "treatment probability",
        ),
        "covariances_apart": quantity(
            "largest difference between the covariances of two objects", "treatment probability"
        ),
    }
    axes = {
        "values": axis_of("complete data or with missing values"),
        "repetition": axis_of("data set"),
        "object": axis_of("object"),
        "variable": axis_of("variable"),
        "latent": axis_of("latent dimension"),
        "other_latent": axis_of("second latent dimension"),
        "case": axis_of("values that an object lacks"),
        "group": axis_of("cluster"),
        "treatment": axis_of("treatment of missing values"),
        "probability": axis_of("probability that a value is missing"),
    }

    probabilities: list[float] = knob(
        [0.05], "probabilities that a value is missing", at_least=0, below=1, distinct=True
    )
    treatments: list[str] = knob(
        ["switches"], "treatment of missing values", choices=TREATMENTS, distinct=True
    )

    def rules(self) -> Iterator[str]:
        if self.n_each < 4 or len(self.centres) < 2 or len(self.centres[0]) != 2:
            yield "study.centres, study.n_each; allowed: clusters in two variables, 4 objects each"

    def run(self, rng: Generator) -> Outcome:
        complete = self.objects(rng)
        uniform = rng.random(complete.shape)
        seed = int(rng.integers(2**32))  # every fit begins at the same w
        probabilities = sorted(self.probabilities)
        score, gain, apart = np.empty((3, len(self.treatments), len(probabilities)))
        fits: list[tuple[Floats, VariationalFit]] = []
        for i, j in np.ndindex(score.shape):
            Y, seen = _removed(complete, uniform >= probabilities[j])
            done = self._fit(Y, seen, i, seed)
            score[i, j] = _score(Y, seen, done.q, self.treatments[i])
            gain[i, j] = smallest_gain(done.bound)
            apart[i, j] = np.abs(done.q.Sigma_x - done.q.Sigma_x[:, :1]).max()
            fits.append((Y, done))
        Y, q = fits[0][0], fits[0][1].q
        centred = complete - complete.mean(1, keepdims=True)
        whole = self._fit(centred, np.ones(complete.shape), 0, seed).q
        mean, variance = predict(q)
        wrong = [groups.astray(found.mu_x, self.labels) for found in (whole, q)]
        centres = [q.mu_x[:, self.labels == k].mean(axis=1) for k in range(len(self.centres))]
        place = groups.place_between(q.mu_x[:, 1], centres[0], centres[self._other_group()])
        away = q.mu_x[:, :3, None] - np.stack(centres, axis=1)[:, None]  # (R, 3, K, 2)
        return outcome(
            self._coordinates(probabilities),
            points=("object variable", Y[0]),
            cluster=("object", self.labels),
            latent_means=("object latent", q.mu_x[0]),
            latent_covariance=("case latent other_latent", q.Sigma_x[0, :3]),
            log_det_covariance=("repetition case", np.linalg.slogdet(q.Sigma_x[:, :3])[1]),
            distance_from_origin=("repetition case", np.linalg.norm(q.mu_x[:, :3], axis=2)),
            group_distance=("repetition case group", np.linalg.norm(away, axis=3)),
            position_between_groups=("repetition", place),
            predicted_mean=("repetition", mean[:, 1, 1]),
            predicted_variance=("repetition", variance[:, 1, 1]),
            neighbours_of_another_cluster=("values repetition", wrong),
            score=("treatment probability", score),
            smallest_gain=("treatment probability", gain),
            covariances_apart=("treatment probability", apart),
        )

    def _fit(self, Y: Floats, seen: Floats, treatment: int, seed: int) -> VariationalFit:
        how = cast("Treatment", self.treatments[treatment])
        return fit(Y, seen, 2, np.random.default_rng(seed), treatment=how)

    def _coordinates(self, probabilities: list[float]) -> dict[str, object]:
        return {
            "values": ["complete", "missing"],
            "repetition": self.repetitions,
            "object": len(self.labels),
            "variable": len(self.centres[0]) + self.noise_dimensions,
            "latent": 2,
            "other_latent": 2,
            "case": list(CASES),
            "group": np.arange(1, len(self.centres) + 1),
            "treatment": self.treatments,
            "probability": probabilities,
        }

    def _other_group(self) -> int:
        """The cluster whose difference from the first is in y_2 alone, or closest to that."""
        first = np.array(self.centres)[:, 0]
        return int(np.argmin(np.abs(first - first[0])[1:])) + 1


def _removed(complete: Floats, left: Bools) -> tuple[Floats, Floats]:
    """The data centred by observed means, and the mask of observed values, shapes (R, N, M)."""
    seen = left.astype(float)
    seen[:, :3, :2] = [[1, 1], [1, 0], [0, 0]]
    mean = (complete * seen).sum(1, keepdims=True) / seen.sum(1, keepdims=True)
    return complete - mean, seen


def _score(Y: Floats, seen: Floats, q: Posterior, treatment: str) -> float:
    """Mean log density of the values that were removed at random, not on purpose."""
    removed = seen == 0
    removed[:, :3, :2] = False
    return log_score(Y, removed, q, cast("Treatment", treatment)) if removed.any() else np.nan
