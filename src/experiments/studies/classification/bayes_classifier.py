"""The Bayes classifier with a Gaussian for each class, full or naive (FCML 5.2.1)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.experiments.studies.classification._plane import Plane
from bythebook.models.classification.gaussian_classifier import (
    COVARIANCES,
    FULL,
    fit,
    log_likelihood,
    probabilities,
)


@dataclass
class BayesClassifier(Plane, Study):
    """Class probabilities from Gaussian class-conditional densities (FCML 5.2.1)."""

    headline = {"training_accuracy": "first(training_accuracy)"}
    quantities = {
        "training_accuracy": quantity(
            "share of the training points that are classified correctly", "covariance"
        ),
        "inputs": quantity("attributes of the data", "point attribute"),
        "label": quantity("class of a point", "point"),
        "class_size": quantity("points of a class", "category"),
        "prior": quantity("prior probability of a class", "category"),
        "correlation": quantity("correlation of the attributes in a class", "category"),
        "likelihood": quantity("density of a class at a new point", "divisor place category"),
        "probability": quantity("probability of a class at a new point", "divisor place category"),
        "own_log_density": quantity(
            "mean log density of the points of a class", "covariance category"
        ),
        "median_own_probability": quantity("median probability of the true class", "category"),
        "log_density_map": quantity("log density of a class on the map", "x2 x1 category"),
        "probability_map": quantity("probability of a class on the map", "x2 x1 category"),
    }
    axes = {
        "attribute": axis_of("attribute"),
        "category": axis_of("class"),
        "covariance": axis_of("form of the covariance"),
        "divisor": axis_of("divisor of the covariance"),
        "place": axis_of("new point"),
        "point": axis_of("point of the data"),
        "x1": axis_of("first attribute"),
        "x2": axis_of("second attribute"),
    }

    data: str | None = knob(
        "fcml-three-classes",
        "two attributes and the class of each point; null: clouds",
        dataset="classes",
    )
    covariance: str = knob(FULL, "shape of the class covariances", choices=COVARIANCES)
    places: dict[str, list[float]] = knob({"new": [2.0, 0.0]}, "new points to classify, by name")
    low: list[float] = knob([-3.0, -6.0], "smallest coordinates of the map")
    high: list[float] = knob([7.0, 6.0], "largest coordinates of the map")
    step: float = knob(0.1, "distance of the map's grid points", at_least=0.02, at_most=1)

    def rules(self) -> Iterator[str]:
        if any(len(place) != 2 for place in self.places.values()):
            yield f"study.places={self.places}; allowed: two numbers each"

    def run(self, rng: Generator) -> Outcome:
        X, t = (each[0] for each in self.points(rng))
        t = t.astype(np.int64)
        labels, sizes = np.unique(t, return_counts=True)
        own = np.arange(len(t)), np.searchsorted(labels, t)  # each point and its own class
        new = np.array(list(self.places.values()))
        fits = [fit(X, t, self.covariance, unbiased=unbiased) for unbiased in (False, True)]
        classes = fits[0]
        shapes = list(dict.fromkeys([self.covariance, FULL]))
        shaped = [classes, fit(X, t)][: len(shapes)]
        density = [log_likelihood(each, X)[own] for each in shaped]
        right = [(probabilities(each, X).argmax(1) == own[1]).mean() for each in shaped]
        p_own = probabilities(classes, X)[own]
        sd = np.sqrt(np.diagonal(classes.covariance, axis1=1, axis2=2))
        density_at = [[log_likelihood(each, x) for x in new] for each in fits]
        probability_at = [[probabilities(each, x) for x in new] for each in fits]
        x1, x2, grid = self.grid()
        by_class = [[each[t == label].mean() for label in labels] for each in density]
        attributes = {"point": len(t), "attribute": [1, 2], "x1": x1, "x2": x2}
        fitted = {"category": labels, "covariance": shapes, "divisor": ["N", "N-1"]}
        return outcome(
            {**attributes, **fitted, "place": list(self.places)},
            inputs=("point attribute", X),
            label=("point", t),
            class_size=("category", sizes),
            prior=("category", classes.prior),
            correlation=("category", classes.covariance[:, 0, 1] / sd.prod(1)),
            likelihood=("divisor place category", np.exp(density_at)),
            probability=("divisor place category", probability_at),
            training_accuracy=("covariance", right),
            own_log_density=("covariance category", by_class),
            median_own_probability=("category", [np.median(p_own[t == k]) for k in labels]),
            log_density_map=("x2 x1 category", log_likelihood(classes, grid)),
            probability_map=("x2 x1 category", probabilities(classes, grid)),
        )
