"""Texts classified by the words in them, with smoothing (FCML 5.2.1.6 and 5.2.1.7)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.declarations import axis_of, quantity
from bythebook.experiments.core.outcome import Outcome, outcome
from bythebook.experiments.core.study import Study, knob
from bythebook.models.classification import multinomial_bayes as words
from bythebook.models.classification.roc import confusion
from bythebook.models.clustering.mixture import posterior
from bythebook.models.datasets import load


@dataclass
class NaiveBayesText(Study):
    """A multinomial for each class of texts: accuracy, confusion, smoothing (FCML 5.2.1.6)."""

    headline = {"mean_recall": "mean(recall)", "best_alpha": "argmax(accuracy['map'])"}
    quantities = {
        "accuracy": quantity("share of the texts that are classified correctly", "averaging alpha"),
        "recall": quantity("share of a class's texts that are classified correctly", "true"),
        "true_class": quantity("class of a text", "text"),
        "probability": quantity("probability of a class for a text", "text predicted"),
        "mean_probability": quantity(
            "mean probability of a class for the texts of a class", "true predicted"
        ),
        "confusion": quantity("texts of a class that get a label", "predicted true"),
        "ruled_out": quantity("classes with probability zero for a text", "estimate text"),
        "unknown_words": quantity("words of a text that occur in no training text", "text"),
        "distance_from_uniform": quantity(
            "largest distance of a word's probability from uniform", "alpha"
        ),
    }
    axes = {
        "alpha": axis_of("smoothing parameter"),
        "averaging": axis_of("most probable or expected probabilities"),
        "estimate": axis_of("estimate of the word probabilities"),
        "predicted": axis_of("class that is predicted"),
        "text": axis_of("text"),
        "true": axis_of("true class"),
    }

    data: str = knob("newsgroups", "test, class, document, word and count in rows", dataset=True)
    alpha: float = knob(2.0, "parameter of the Dirichlet prior", above=1, at_most=1e6)
    alphas: list[float] = knob(
        [1.001, 1.01, 1.1, 1.5, 2, 3, 5, 11], "a path of smoothing", above=1, distinct=True
    )

    def problems(self) -> Iterator[str]:
        if load(self.data).matrix.shape[1] != 5:
            yield f"study.data={self.data}: allowed: five columns, test to count"

    def run(self, rng: Generator) -> Outcome:
        X, t, test = words.bag_of_words(load(self.data).matrix)
        C, M = int(t.max()) + 1, X.shape[1]
        n = words.class_counts(X[~test], t[~test], C)
        order = np.argsort(t[test], kind="stable")
        new, true = X[test][order], t[test][order]
        score = words.log_score(new, words.word_probabilities(n, self.alpha))
        bare = words.log_score(new, words.word_probabilities(n))
        p, _ = posterior(score - np.log(C))  # a uniform prior
        table = confusion(p.argmax(1), true, C)
        alphas = sorted({*self.alphas, self.alpha})
        q = [words.word_probabilities(n, float(a)) for a in alphas]
        scores = [
            [words.log_score(new, each) for each in q],
            [words.log_expected_score(new, n, float(a)) for a in alphas],
        ]
        right = [[(each.argmax(1) == true).mean() for each in row] for row in scores]
        labels = np.arange(1, C + 1)
        ways = {"averaging": ["map", "expected"], "estimate": ["maximum likelihood", "map"]}
        return outcome(
            {"text": len(true), "true": labels, "predicted": labels, "alpha": alphas, **ways},
            true_class=("text", true + 1),
            probability=("text predicted", p),
            mean_probability=("true predicted", [p[true == c].mean(0) for c in range(C)]),
            confusion=("predicted true", table),
            recall=("true", np.diag(table) / table.sum(0)),
            # Classes in which a text is impossible, and its words that no training text has:
            ruled_out=("estimate text", np.isneginf([bare, score]).sum(-1)),
            unknown_words=("text", new @ (n.sum(0) == 0).astype(np.float64)),
            accuracy=("averaging alpha", right),
            distance_from_uniform=("alpha", [np.abs(each - 1 / M).max() for each in q]),
        )
