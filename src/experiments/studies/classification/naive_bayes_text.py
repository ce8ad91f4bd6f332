"""Texts classified by the words in them, with smoothing (FCML 5.2.1.6 and 5.2.1.7)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator
from scipy.sparse import csr_array

from experiments.contract.legacy import Outcome
from experiments.contract.study import Study, knob
from models.classification.multinomial_bayes import (
    class_counts,
    log_expected_score,
    log_score,
    word_probabilities,
)
from models.classification.roc import confusion
from models.clustering.mixture import posterior
from models.datasets import load
from models.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from collections.abc import Iterator

    from matplotlib.figure import Figure

_SHOWN = ("smoothing", "probabilities", "confusion")


@dataclass
class NaiveBayesText(Study):
    """A multinomial for each class of texts: accuracy, confusion, smoothing (FCML 5.2.1.6)."""

    data: str = knob("newsgroups", "test, class, document, word and count in rows", dataset=True)
    alpha: float = knob(2.0, "parameter of the Dirichlet prior", at_least=1, at_most=1e6)
    alphas: list[float] = knob(
        [1.001, 1.01, 1.1, 1.5, 2, 3, 5, 11], "a path of smoothing", above=1, distinct=True
    )
    pairs: list[list[int]] = knob(
        [[19, 17], [20, 16]], "true and wrong class, to look at", may_be_empty=True
    )
    show: list[str] = knob(["smoothing"], "what to draw", choices=_SHOWN, distinct=True)

    def problems(self) -> "Iterator[str]":
        table = load(self.data).matrix
        if table.shape[1] != 5:
            yield f"study.data={self.data}: allowed: five columns, test to count"
        elif any(len(p) != 2 or not 1 <= min(p) <= max(p) <= table[:, 1].max() for p in self.pairs):
            yield f"study.pairs={self.pairs}; allowed: two classes each, 1 to {table[:, 1].max():g}"

    def run(self, rng: Generator) -> Outcome:
        X, t, test = bag_of_words(load(self.data).matrix)
        C, M = int(t.max()) + 1, X.shape[1]
        n = class_counts(X[~test], t[~test], C)
        new, true = X[test], t[test]
        score = log_score(new, word_probabilities(n, self.alpha))
        p, _ = posterior(score - np.log(C))  # a uniform prior
        guess = p.argmax(1)
        table = confusion(guess, true, C)
        recall = np.diag(table) / table.sum(0)
        wrong = table - np.diag(np.diag(table))
        bare = log_score(new, word_probabilities(n))
        unknown = np.asarray(new @ (n.sum(0) == 0).astype(np.float64)) > 0
        path = np.sort(self.alphas)
        accuracy: dict[str, list[float]] = {"map": [], "expected": []}
        spread = []  # how far the word probabilities are from 1/M, at most
        for alpha in path:
            q = word_probabilities(n, float(alpha))
            accuracy["map"].append(float((log_score(new, q).argmax(1) == true).mean()))
            expected = log_expected_score(new, n, float(alpha)).argmax(1)
            accuracy["expected"].append(float((expected == true).mean()))
            spread.append(float(np.abs(q - 1 / M).max()))
        limit = word_probabilities(n, 1e12)
        metrics: dict[str, Any] = {
            "training_texts": int((~test).sum()),
            "test_texts": len(true),
            "classes": C,
            "vocabulary": M,
            "accuracy": float((guess == true).mean()),
            "accuracy_percent": 100 * float((guess == true).mean()),
            "times_better_than_chance": float((guess == true).mean() * C),
            "share_of_zero_likelihoods_ml": float(np.isneginf(bare).mean()),
            "share_with_no_possible_class_ml": float(np.isneginf(bare).all(1).mean()),
            "unknown_word_rules_out_every_class_ml": bool(np.isneginf(bare[unknown]).all()),
            "texts_with_an_unknown_word": int(unknown.sum()),
            "ml_gives_zeros": bool(np.isneginf(bare).any()),
            "smoothing_leaves_no_zero": bool(np.isfinite(score).all()),
            "expected_leaves_no_zero": bool(
                np.isfinite(log_expected_score(new, n, self.alpha)).all()
            ),
            "closer_to_uniform_as_alpha_grows": bool((np.diff(spread) < 0).all()),
            "limit_is_uniform": bool(np.abs(limit * M - 1).max() < 1e-6),
            "strongest_blocks_on_diagonal": sum(
                int(p[true == c].mean(0).argmax() == c) for c in range(C)
            ),
            "lowest_recall_class": int(recall.argmin()) + 1,
            "least_recall": float(recall.min()),
            "classes_with_majority_right": int((recall > 0.5).sum()),
            "best_alpha": float(path[int(np.argmax(accuracy["map"]))]),
        }
        for right, other in self.pairs:
            column = wrong[:, right - 1]
            metrics[f"count_{right}_as_{other}"] = int(column[other - 1])
            metrics[f"most_errors_of_{right}_go_to_{other}"] = bool(column.argmax() == other - 1)
        metrics |= {f"right_{c + 1}": int(table[c, c]) for c in range(C)}
        order = np.argsort(true, kind="stable")
        labels = np.arange(1, C + 1)
        return Outcome(
            metrics,
            tables={
                "smoothing": {"alpha": path, **accuracy, "distance_from_uniform": spread},
                "confusion": {"predicted": labels} | {f"true_{c}": table[:, c - 1] for c in labels},
            },
            arrays={"probability": p[order].astype(np.float32), "true": true[order] + 1},
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        draws = {
            "smoothing": _draw_smoothing,
            "probabilities": _draw_probabilities,
            "confusion": _draw_confusion,
        }
        return {name: draws[name](outcome) for name in self.show}


def bag_of_words(table: Floats) -> tuple[Any, Ints, Bools]:
    """Counts (N, M) as a sparse matrix, the class 0, 1, ... of each text, whether it is a test."""
    _, first, document = np.unique(table[:, 2], return_index=True, return_inverse=True)
    word = table[:, 3].astype(np.int64)
    shape = (len(first), int(word.max()) + 1)
    X = csr_array((table[:, 4], (document, word)), shape=shape)
    return X, table[first, 1].astype(np.int64) - 1, table[first, 0] == 1


def _draw_smoothing(outcome: Outcome) -> "Figure":
    from experiments.drawing.canvas import panels

    table = outcome.tables["smoothing"]
    figure, ax = panels()
    excess = np.array(table["alpha"]) - 1
    ax.semilogx(excess, table["map"], "o-", label="MAP estimate of the word probabilities")
    ax.semilogx(excess, table["expected"], "s--", label="likelihood averaged over them")
    ax.set(xlabel=r"Smoothing, $\alpha - 1$", ylabel="Share of test texts classified rightly")
    figure.legend(loc="outside lower center", ncols=2)
    return figure


def _draw_probabilities(outcome: Outcome) -> "Figure":
    from experiments.drawing.canvas import panels

    p, true = outcome.arrays["probability"], outcome.arrays["true"]
    C = p.shape[1]
    figure, ax = panels()
    _taller(figure, 1.4)
    edges = (0.5, C + 0.5, len(p), 0)
    image = ax.imshow(p, aspect="auto", extent=edges, cmap="gray", interpolation="nearest")
    middle = [np.flatnonzero(true == c).mean() for c in range(1, C + 1)]
    ax.set_yticks(middle, [str(c) for c in range(1, C + 1)])
    ax.set_xticks(range(1, C + 1))
    ax.grid(False)
    ax.set(xlabel="Predicted class", ylabel="Test texts, by true class")
    figure.colorbar(image, label="Probability")
    return figure


def _draw_confusion(outcome: Outcome) -> "Figure":
    from matplotlib.colors import PowerNorm

    from experiments.drawing.canvas import panels

    table = outcome.tables["confusion"]
    counts = np.array([table[f"true_{c}"] for c in table["predicted"]]).T
    C = len(counts)
    figure, ax = panels()
    _taller(figure, 1.6)
    norm = PowerNorm(0.5, 0, counts.max())
    ax.imshow(counts, cmap="cividis", norm=norm, extent=(0.5, C + 0.5, C + 0.5, 0.5))
    for row in range(C):
        for column in range(C):
            if value := counts[row, column]:
                ink = "black" if norm(value) > 0.5 else "white"
                ax.text(
                    column + 1, row + 1, str(value), color=ink, ha="center", va="center", fontsize=7
                )
    ax.set_xticks(range(1, C + 1))
    ax.set_yticks(range(1, C + 1))
    ax.grid(False)
    ax.set(xlabel="True class", ylabel="Predicted class")
    return figure


def _taller(figure: "Figure", times: float) -> None:
    width, height = figure.get_size_inches()
    figure.set_size_inches(width, height * times)
