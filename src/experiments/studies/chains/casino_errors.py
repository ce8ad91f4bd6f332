"""How many dice each estimate gets wrong, over many games of the casino (MLAPP 17.4.1)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar, Series
from experiments.contract.study import Study, knob
from models.chains import hmm
from models.chains.casino import (
    LOADED,
    book_game,
    casino,
    count_errors,
    decode,
    error_counts,
    simulate,
)
from models.types import Ints

if TYPE_CHECKING:
    from matplotlib.figure import Figure

CHUNK = 2000  # games decoded at a time: arrays of CHUNK games fit anywhere


@dataclass
class CasinoErrors(Study):
    """How many dice each estimate gets wrong, over many simulated games (MLAPP 17.4.1)."""

    games: int = knob(20_000, "games to simulate", at_least=2, at_most=1_000_000)
    length: int = knob(300, "rolls of a game", at_least=2, at_most=10_000)
    lags: list[int] = knob(
        [], "lags to smooth with", at_least=1, at_most=1000, distinct=True, may_be_empty=True
    )
    six: float = knob(0.5, "the loaded die's probability of a six", at_least=0, at_most=1)
    switching: float = knob(1.0, "how often dice change; 1 is the book", above=0, at_most=10)

    def run(self, rng: Generator) -> Outcome:
        parts = [
            self._count(min(CHUNK, self.games - first), rng)
            for first in range(0, self.games, CHUNK)
        ]
        errors = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
        means = {name: float(count.mean()) for name, count in errors.items()}
        metrics: dict[str, Scalar] = {f"mean_errors_{name}": mean for name, mean in means.items()}
        metrics |= {f"sd_errors_{name}": float(np.std(e, ddof=1)) for name, e in errors.items()}
        order = ("smoothed", "viterbi", "filtered", "memoryless", "always_fair")
        metrics |= {
            "filtering_beats_memoryless": means["filtered"] < means["memoryless"],
            "smoothing_beats_filtering": means["smoothed"] < means["filtered"],
            "smoothing_beats_viterbi": means["smoothed"] < means["viterbi"],
            "filtering_beats_always_fair": means["filtered"] < means["always_fair"],
            "order_on_average": bool(np.all(np.diff([means[name] for name in order]) > 0)),
            "share_smoothing_beats_filtering": float(
                np.mean(errors["smoothed"] < errors["filtered"])
            ),
            "share_smoothing_beats_viterbi": float(np.mean(errors["smoothed"] < errors["viterbi"])),
        }
        model, game = casino(self.six, self.switching), book_game()
        book = error_counts(model, game, decode(model, game.rolls))._asdict()
        for name in ("filtered", "smoothed", "viterbi"):
            metrics[f"book_errors_{name}"] = int(book[name])
        quantiles = np.quantile(np.stack(list(errors.values())), [0.025, 0.5, 0.975], axis=1)
        series = {}
        if self.lags:
            metrics |= self._lag_statements(errors)
            lags = [0, *sorted(self.lags)]
            values = [means["filtered"], *(means[f"lag_{lag}"] for lag in lags[1:])]
            series["mean_errors_by_lag"] = Series(lags, values)
        table: dict[str, Any] = {"estimate": list(errors), "mean": list(means.values())}
        table |= dict(zip(["2.5 %", "median", "97.5 %"], quantiles, strict=True))
        arrays = {f"errors_{name}": count.astype(np.int16) for name, count in errors.items()}
        return Outcome(metrics, series, {"errors": table}, arrays)

    def _count(self, games: int, rng: Generator) -> dict[str, Ints]:
        model = casino(self.six, self.switching)
        game = simulate(model, games, self.length, rng)
        found = error_counts(model, game, decode(model, game.rolls))._asdict()
        if not self.lags:
            return found
        log_lik = hmm.categorical_log_likelihood(model.B, game.rolls)
        forward = hmm.forward_filter(model.pi, model.A, log_lik)
        for lag in sorted(self.lags):
            loaded = hmm.fixed_lag_smoother(model.A, log_lik, forward, lag)[..., LOADED]
            found[f"lag_{lag}"] = count_errors(loaded, game.dice)
        return found

    def _lag_statements(self, errors: dict[str, Ints]) -> dict[str, Scalar]:
        lagged = np.stack(
            [errors["filtered"], *(errors[f"lag_{lag}"] for lag in sorted(self.lags))]
        )
        rise = np.diff(lagged, axis=0)  # on the same games
        noise = 3 * rise.std(axis=1) / np.sqrt(self.games)
        gain = (lagged[0].mean() - errors["smoothed"].mean()) or np.nan
        return {
            "errors_fall_with_the_lag": bool(np.all(rise.mean(axis=1) <= noise)),
            "every_lag_beats_filtering": bool(np.all(lagged[1:].mean(axis=1) < lagged[0].mean())),
            "lags_lie_between": bool(
                np.all(lagged[1:].mean(axis=1) >= errors["smoothed"].mean() - noise.max())
            ),
            **{
                f"share_of_gain_lag_{lag}": float((lagged[0] - row).mean() / gain)
                for lag, row in zip(sorted(self.lags), lagged[1:], strict=True)
            },
        }

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        figures = {"lags": self._draw_lags(outcome)} if self.lags else {}
        return figures | {"errors": self._draw_errors(outcome)}

    def _draw_errors(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        figure, axes = panels(3, 1, sharex=True)
        figure.set_size_inches(figure.get_figwidth(), 0.9 * figure.get_figwidth())
        titles = {"filtered": "Filtered", "smoothed": "Smoothed", "viterbi": "Most probable path"}
        top = max(outcome.arrays[f"errors_{name}"].max() for name in titles)
        for i, (ax, (name, title)) in enumerate(zip(axes, titles.items(), strict=True)):
            errors, mean = outcome.arrays[f"errors_{name}"], outcome.metrics[f"mean_errors_{name}"]
            bins = np.arange(-0.5, top + 1.5, 3)
            share = np.full(errors.size, 100 / errors.size)
            ax.hist(errors, bins=bins, weights=share, color=f"C{i}", alpha=0.75)
            ax.axvline(mean, color="black", linestyle=":", label=f"mean {mean:.1f}")
            if self.length == 300:
                book = outcome.metrics[f"book_errors_{name}"]
                ax.axvline(book, color="black", label=f"the book's game: {book}")
            ax.set(ylabel="Games (%)", title=title, xlim=(0, None))
            ax.legend(loc="upper right")
        axes[-1].set(xlabel=f"Wrong dice in {self.length} rolls")
        return figure

    def _draw_lags(self, outcome: Outcome) -> "Figure":
        from experiments.drawing.canvas import panels

        lags, errors = outcome.series["mean_errors_by_lag"]
        limit = outcome.metrics["mean_errors_smoothed"]
        figure, ax = panels()
        ax.axhline(limit, color="C1", linestyle="--", label=f"all rolls (smoothed): {limit:.1f}")
        ax.plot(lags, errors, marker="o", label=f"fixed lag; lag 0 (filtered): {errors[0]:.1f}")
        ax.set(xlabel="Lag (rolls)", ylabel=f"Mean wrong dice in {self.length} rolls")
        ax.set_xscale("symlog", linthresh=1)
        ax.set_xticks(lags, labels=[str(lag) for lag in lags])
        ax.minorticks_off()
        ax.legend()
        return figure
