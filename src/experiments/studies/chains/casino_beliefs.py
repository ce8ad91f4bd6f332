"""Beliefs about the casino's dice: paths drawn from the posterior, and predictions (MLAPP 17.4)."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.random import Generator

from experiments.contract.legacy import Outcome, Scalar
from experiments.contract.study import Study, knob
from experiments.studies.chains.casino import shade_loaded
from models.chains import hmm
from models.chains.casino import LOADED, SIX, book_game, casino, count_errors
from models.chains.hmm_enumeration import enumerate_paths, state_marginals
from models.types import Floats

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BATCH = 100  # the book's code shows the mode of so many paths


@dataclass
class PosteriorSamples(Study):
    """Paths drawn from p(z | x) by filtering forwards and sampling backwards (MLAPP 17.4.5)."""

    samples: int = knob(10_000, "paths to draw", at_least=BATCH, at_most=100_000)
    length: int = knob(300, "how many of the book's rolls", at_least=2, at_most=300)
    six: float = knob(0.5, "the loaded die's probability of a six", at_least=0, at_most=1)
    switching: float = knob(1.0, "how often dice change; 1 is the book", above=0, at_most=10)

    def run(self, rng: Generator) -> Outcome:
        model, game = casino(self.six, self.switching), book_game()
        dice, rolls = game.dice[: self.length], game.rolls[: self.length]
        posterior = hmm.smoother(model.pi, model.A, hmm.symbol_table(model.B), rolls)
        gamma, xi = posterior.smoothed[:, LOADED], hmm.pairwise_marginals(model.A, posterior)
        paths = hmm.sample_posterior(posterior.forward.filtered, model.A, self.samples, rng)
        loaded = (paths == LOADED).astype(np.int8)
        pairs = np.stack(
            [
                [np.mean((paths[:, :-1] == j) & (paths[:, 1:] == k), axis=0) for k in range(2)]
                for j in range(2)
            ]
        )
        error = np.abs(loaded.mean(axis=0) - gamma)
        noise = np.sqrt(gamma * (1 - gamma) / self.samples)
        mode = loaded.mean(axis=0)
        clear = np.abs(gamma - 0.5) > 4.5 * noise
        batches = loaded[: self.samples // BATCH * BATCH].reshape(-1, BATCH, self.length)
        switches = np.sum(paths[:, 1:] != paths[:, :-1], axis=1)
        expected = float(xi[:, 0, 1].sum() + xi[:, 1, 0].sum())
        # Dice drawn one by one from the smoothed marginals, as if they did not depend on each other
        independent = float(np.sum(gamma[1:] * (1 - gamma[:-1]) + gamma[:-1] * (1 - gamma[1:])))
        close = abs(switches.mean() - expected) <= 4.5 * switches.std() / np.sqrt(self.samples)
        metrics: dict[str, Scalar] = {
            "marginal_error": float(error.max()),
            "pair_error": float(np.abs(np.moveaxis(pairs, 2, 0) - xi).max()),
            "marginal_error_bound": 4 / np.sqrt(self.samples),
            "mode_is_smoothed_decision": bool(np.all((mode > 0.5) == (gamma > 0.5), where=clear)),
            "errors_mode": int(count_errors(mode, dice)),
            "errors_smoothed": int(count_errors(gamma, dice)),
            "switches_sampled": float(switches.mean()),
            "switches_expected": expected,
            "switches_independent": independent,
            "samples_keep_dependence": bool(close and independent > 1.5 * expected),
        }
        sizes = [size for size in (10, 100, 1000, 10_000) if size <= self.samples]
        errors = [np.abs(loaded[:size].mean(axis=0) - gamma).max() for size in sizes]
        return Outcome(
            metrics,
            tables={"convergence": {"samples": sizes, "marginal_error": errors}},
            arrays={
                "dice": dice,
                "smoothed": gamma,
                "paths": loaded[:30],
                "frequency": loaded[:BATCH].mean(axis=0),
                "mode_errors": count_errors(batches.mean(axis=1), dice),
            },
        )

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays = outcome.arrays
        figure, (top, bottom) = panels(2, 1, sharex=True)
        figure.set_size_inches(figure.get_figwidth(), 0.8 * figure.get_figwidth())
        roll = np.arange(1, self.length + 1)
        shade_loaded(top, arrays["dice"])
        top.plot(roll, arrays["smoothed"], label="smoothed marginal")
        top.plot(
            roll, arrays["frequency"], ".", color="C1", markersize=4, label=f"{BATCH} sampled paths"
        )
        top.set(ylabel="p(loaded | all rolls)", ylim=(-0.04, 1.04), xlim=(0, self.length + 1))
        top.legend(loc="lower center", bbox_to_anchor=(0.5, 1.0), ncols=2)
        bottom.imshow(
            arrays["paths"], aspect="auto", interpolation="nearest", cmap="Greys", vmin=0, vmax=1.6,
            extent=(0.5, self.length + 0.5, len(arrays["paths"]) + 0.5, 0.5),
        )  # fmt: skip
        bottom.grid(visible=False)
        bottom.set(ylabel="Sampled path", xlabel="Roll number (grey: loaded)")
        return {"samples": figure}


@dataclass
class CasinoPrediction(Study):
    """Dice and rolls to come: the transition matrix raised to a power (MLAPP 17.42, 17.43)."""

    horizons: list[int] = knob(
        [1, 2, 5, 10, 20, 50], "rolls ahead", at_least=1, at_most=10_000, distinct=True
    )
    after: int = knob(300, "how many of the book's rolls are seen", at_least=1, at_most=300)
    six: float = knob(0.5, "the loaded die's probability of a six", at_least=0, at_most=1)
    switching: float = knob(1.0, "how often dice change; 1 is the book", above=0, at_most=10)

    def run(self, rng: Generator) -> Outcome:
        model, horizons = casino(self.six, self.switching), sorted(self.horizons)
        log_lik = hmm.categorical_log_likelihood(model.B, book_game().rolls[: self.after])
        belief = hmm.forward_filter(model.pi, model.A, log_lik).filtered[-1]
        beliefs = np.stack([belief, [1.0, 0.0], [0.0, 1.0]])  # from the rolls; had we seen the die
        states = np.stack([hmm.predict_states(beliefs, model.A, h) for h in horizons])
        six = np.stack([hmm.predict_symbols(beliefs, model.A, model.B, h) for h in horizons])
        to_loaded, to_fair = model.A[0, 1], model.A[1, 0]
        limit = to_loaded / (to_loaded + to_fair)
        eigenvalues = np.sort(np.linalg.eigvals(model.A).real)
        start, gap = np.abs(beliefs[:, LOADED] - limit), np.abs(states[..., LOADED] - limit)
        decay = np.abs(eigenvalues[0]) ** np.array(horizons)
        twice = sum(
            belief[i] * model.A[i, j] * model.A[j] for i in range(2) for j in range(2)
        )  # 17.42, term by term
        metrics: dict[str, Scalar] = {
            "belief_loaded": float(belief[LOADED]),
            "second_eigenvalue": float(eigenvalues[0]),
            "stationary_loaded": float(limit),
            "two_step_error": float(np.abs(hmm.predict_states(belief, model.A, 2) - twice).max()),
            "enumeration_error": self._enumeration_error(belief, model.A),
            "decay_error": float(np.abs(gap - decay[:, None] * start).max()),
            "distance_at_last": float(gap[-1].max()),
            "six_at_last": float(six[-1, 0, SIX]),
            "six_distance_at_last": float(np.ptp(six[-1, :, SIX])),
        }
        for h, row, rolls in zip(horizons, states, six, strict=True):
            metrics[f"loaded_in_{h}"] = float(row[0, LOADED])
            metrics[f"six_in_{h}"] = float(rolls[0, SIX])
        steps = np.arange(horizons[-1] + 1) if horizons[-1] <= 1000 else np.array([0, *horizons])
        curves = np.stack([hmm.predict_states(beliefs, model.A, int(h)) for h in steps])
        return Outcome(
            metrics,
            tables={
                "predictions": {
                    "horizon": horizons,
                    "loaded": states[:, 0, LOADED],
                    "six": six[:, 0, SIX],
                }
            },
            arrays={"steps": steps, "loaded": curves[..., LOADED], "six": curves @ model.B[:, SIX]},
        )

    def _enumeration_error(self, belief: Floats, A: Floats) -> float:
        """Against the sum over every path of up to eight steps without observations."""
        longest = 8
        paths = enumerate_paths(belief, A, np.ones((longest + 1, len(A))))
        summed = state_marginals(paths, len(A))
        powers = [hmm.predict_states(belief, A, h) for h in range(longest + 1)]
        return float(np.abs(np.stack(powers) - summed).max())

    def draw(self, outcome: Outcome) -> "dict[str, Figure]":
        from experiments.drawing.canvas import panels

        arrays, metrics = outcome.arrays, outcome.metrics
        figure, axes = panels(1, 2)
        begins = [f"after {self.after} rolls", "fair die seen", "loaded die seen"]
        labels = {"loaded": "p(loaded die)", "six": "p(six)"}
        limits = {"loaded": "stationary_loaded", "six": "six_at_last"}
        for ax, (name, label) in zip(axes, labels.items(), strict=True):
            for i, begin in enumerate(begins):
                ax.plot(arrays["steps"], arrays[name][:, i], ("-", "--", "-.")[i], label=begin)
            level = metrics[limits[name]]
            ax.axhline(level, color="0.4", linewidth=0.9, linestyle=":", label=f"limit {level:.3f}")
            ax.set(xlabel="Horizon (rolls ahead)", ylabel=label)
            ax.legend()
        return {"prediction": figure}
