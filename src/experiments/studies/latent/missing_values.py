"""Variational PCA with missing values: uncertainty, prediction, two treatments (FCML 7.6)."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import quantity
from bythebook.experiments.core.outcome import Outcome, axis, over
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.latent._hidden_clusters import HiddenClusters, second_moment
from bythebook.models.em import smallest_gain
from bythebook.models.latent import groups
from bythebook.models.latent.variational_ppca import (
    NoiseVariance,
    Posterior,
    Treatment,
    fit,
    log_score,
    noise_variance,
    predict,
)
from bythebook.models.types import Bools, Floats

TREATMENTS = ("switches", "latent")
CASES = ("both seen", "second missing", "both missing")  # objects 0, 1 and 2, in the first cluster


@dataclass
class MissingValues(HiddenClusters, Study):
    """Variational PCA after removal of values at random and of chosen ones (FCML 7.6)."""

    headline = {
        "predicted_mean": "mean(predicted_mean)",
        "predicted_variance": "mean(predicted_variance)",
        "neighbours_of_another_cluster": "mean(neighbours_of_another_cluster['missing'])",
    }
    more_quantities = True
    quantities = {
        "neighbours_of_another_cluster": quantity(
            "share of the points whose nearest neighbour is of another cluster", "values repetition"
        ),
        "predicted_mean": quantity("mean of a prediction of a removed value", "repetition"),
        "predicted_variance": quantity("variance of a prediction of a removed value", "repetition"),
        "points": quantity("values of the data", "object variable"),
        "seen": quantity("whether a value is seen", "object variable"),
        "posterior_means": quantity(
            "posterior mean of an object's latent variables", "object latent"
        ),
        "posterior_covariance": quantity(
            "posterior covariance of an object's latent variables", "case latent other_latent"
        ),
        "log_volume": quantity(
            "log determinant of the posterior covariance of an object", "repetition case"
        ),
        "distance_from_origin": quantity(
            "distance of an object's posterior mean from the origin", "repetition case"
        ),
        "group_distance": quantity(
            "distance of an object from the centre of a group", "repetition case group"
        ),
        "noise_variance": quantity("expected noise variance", "by"),
        "score": quantity(
            "mean log density of a removed value", "treatment probability", unit="nats"
        ),
        "smallest_gain": quantity(
            "smallest gain of the bound in an iteration", "treatment probability", unit="nats"
        ),
        "latent_mean": quantity(
            "posterior mean of the latent variables", "treatment object latent"
        ),
        "weight_mean": quantity("posterior mean of the weights", "treatment variable latent"),
        "filled": quantity("prediction of a value", "treatment object variable"),
        "filled_variance": quantity("variance of a predicted value", "treatment object variable"),
        "precision": quantity("mean of the noise precision", "treatment"),
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
        whole = self.objects(rng)
        uniform = rng.random(whole.shape)
        seed = int(rng.integers(2**32))  # every fit begins at the same w
        sides = axis("treatment", self.treatments), axis("probability", sorted(self.probabilities))
        each = np.empty((3, *map(len, sides)))
        kept: list[tuple[Floats, Floats, Posterior]] = []
        for i, j in np.ndindex(each.shape[1:]):
            Y, seen = _removed(whole, uniform >= sides[1].values[j])
            how = self.treatments[i]
            start = np.random.default_rng(seed)
            done = fit(Y, seen, 2, start, treatment=cast("Treatment", how))
            unequal = np.abs(done.q.Sigma_x - done.q.Sigma_x[:, :1]).max()
            each[:, i, j] = _score(Y, seen, done.q, how), smallest_gain(done.bound), unequal
            kept.append((Y, seen, done.q))
        Y, seen, q = kept[0]
        shown = [fitted for _, _, fitted in kept[:: len(sides[1])]]  # at the first probability
        every, first = np.ones(whole.shape), cast("Treatment", self.treatments[0])
        centred = whole - whole.mean(1, keepdims=True)
        complete = fit(centred, every, 2, np.random.default_rng(seed), treatment=first).q
        mean, variance = predict(q)
        noise = noise_variance(float(q.e[0]), float(q.f[0]))
        middles = [q.mu_x[:, self.labels == k].mean(axis=1) for k in range(len(self.centres))]
        place = groups.place_between(q.mu_x[:, 1], middles[0], middles[self._other_group()])
        apart = q.mu_x[:, :3, None] - np.stack(middles, axis=1)[:, None]  # (R, 3, K, 2)
        wrong = [groups.astray(found.mu_x, self.labels) for found in (complete, q)]
        repetition, case = axis("repetition", len(Y)), axis("case", list(CASES))
        thing, variable = axis("object", Y.shape[1]), axis("variable", Y.shape[2])
        latent, second, how_treated = axis("latent", 2), axis("other_latent", 2), sides[0]
        values = axis("values", ["complete", "missing"])
        group = axis("group", np.arange(1, len(middles) + 1))
        return Outcome(
            points=over(Y[0], thing, variable),
            seen=over(seen[0], thing, variable),
            posterior_means=over(q.mu_x[0], thing, latent),
            posterior_covariance=over(q.Sigma_x[0, :3], case, latent, second),
            log_volume=over(np.linalg.slogdet(q.Sigma_x[:, :3])[1], repetition, case),
            distance_from_origin=over(np.linalg.norm(q.mu_x[:, :3], axis=2), repetition, case),
            group_distance=over(np.linalg.norm(apart, axis=3), repetition, case, group),
            place_between_groups=repetition.of(place),
            predicted_mean=repetition.of(mean[:, 1, 1]),
            predicted_variance=repetition.of(variance[:, 1, 1]),
            neighbours_of_another_cluster=over(wrong, values, repetition),
            noise_variance=axis("by", list(NoiseVariance._fields)).of(noise),
            score=over(each[0], *sides),  # mean log density of a removed value
            smallest_gain=over(each[1], *sides),  # of the bound, in one iteration
            covariances_apart=over(each[2], *sides),
            # Of the first data set at the first probability, under each treatment.
            latent_mean=over([fitted.mu_x[0] for fitted in shown], how_treated, thing, latent),
            weight_mean=over([fitted.mu_w[0] for fitted in shown], how_treated, variable, latent),
            # Second moments of the object without its second variable, and of that variable.
            object_square=over(second_moment(q.mu_x[0, 1], q.Sigma_x[0, 1]), latent, second),
            weight_square=over(second_moment(q.mu_w[0, 1], q.Sigma_w[0, 1]), latent, second),
            filled=over([fitted.y[0] for fitted in shown], how_treated, thing, variable),
            filled_variance=over(
                [fitted.y_variance[0] for fitted in shown], how_treated, thing, variable
            ),
            precision=how_treated.of([fitted.tau[0] for fitted in shown]),
            first_score=how_treated.of(
                [
                    _score(Y[:1], seen[:1], Posterior(*(part[:1] for part in fitted)), how)
                    for fitted, how in zip(shown, self.treatments, strict=True)
                ]
            ),
        )

    def _other_group(self) -> int:
        """The cluster whose difference from the first is in y_2 alone, or closest to that."""
        first = np.array(self.centres)[:, 0]
        return int(np.argmin(np.abs(first - first[0])[1:])) + 1


def _removed(whole: Floats, left: Bools) -> tuple[Floats, Floats]:
    """The data centred by observed means, and the mask of observed values, shapes (R, N, M)."""
    seen = left.astype(float)
    seen[:, :3, :2] = [[1, 1], [1, 0], [0, 0]]
    mean = (whole * seen).sum(1, keepdims=True) / seen.sum(1, keepdims=True)
    return whole - mean, seen


def _score(Y: Floats, seen: Floats, q: Posterior, treatment: str) -> float:
    """Mean log density of the values that were removed at random, not on purpose."""
    removed = seen == 0
    removed[:, :3, :2] = False
    return log_score(Y, removed, q, cast("Treatment", treatment)) if removed.any() else np.nan
