"""The occasionally dishonest casino (MLAPP 17.4.1, after Durbin et al. 1998, page 54).

    z_t  which die: 0 fair, 1 loaded      A = [[0.95, 0.05], [0.10, 0.90]]    pi = [0.5, 0.5]
    x_t  which face, 0 .. 5               fair: 1/6 each        loaded: 0.1 each, but 0.5 for a six

MLAPP gives the numbers only in Figure 17.9; with these, and the rolls of `book_game`, its three
error counts are reproduced exactly.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.special import entr

from bythebook.models.chains import hmm
from bythebook.models.chains.baum_welch import CategoricalHMM
from bythebook.models.types import AnyArray, Floats, Ints

FAIR, LOADED = 0, 1
SIX = 5


class Game(NamedTuple):
    """Rolls, and the dice they were made with."""

    dice: Ints  # (..., T) z: FAIR or LOADED
    rolls: Ints  # (..., T) x: the face less one


class Decoded(NamedTuple):
    """Posterior of the dice given the rolls."""

    filtered: Floats  # (..., T) p(z_t = LOADED | x_1 .. x_t)
    smoothed: Floats  # (..., T) p(z_t = LOADED | x_1 .. x_T)
    viterbi: Ints  # (..., T) argmax_z p(z | x_1 .. x_T)
    log_evidence: Floats  # (...) ln p(x_1 .. x_T)


class Errors(NamedTuple):
    """The number of the T dice that each estimate gets wrong, every field of shape (...)."""

    filtered: Ints
    smoothed: Ints
    viterbi: Ints
    memoryless: Ints  # from p(z_t | x_t) alone, with the stationary distribution as prior
    always_fair: Ints


class Tally(NamedTuple):
    """Counts of some games, by die; the end of a game cuts off its last run."""

    faces: Ints  # (2, 6) how often each face came
    visits: Ints  # (2,) rolls that another roll follows
    leaves: Ints  # (2,) those of them after which the die was changed


def casino(six: float = 0.5, switching: float = 1.0) -> CategoricalHMM:
    """The casino's parameters, without an axis of restarts.

    `six` is the loaded die's probability of a six; `switching` scales how often the dice change.
    """
    to_loaded, to_fair = 0.05 * switching, 0.10 * switching
    return CategoricalHMM(
        pi=np.array([0.5, 0.5]),
        A=np.array([[1 - to_loaded, to_loaded], [to_fair, 1 - to_fair]]),
        B=np.array([[1 / 6] * 6, [(1 - six) / 5] * 5 + [six]]),
    )


def book_game() -> Game:
    """The 300 rolls of MLAPP Figure 17.10, bit for bit.

    Its code seeds MATLAB's Mersenne twister with 1, as RandomState does, and draws all the dice
    before the first roll, each by inverting the distribution function.
    """
    stream = np.random.RandomState(1)
    model = casino()
    dice = hmm.sample_states(model.pi, model.A, stream.random_sample(300))
    return Game(dice, hmm.sample_symbols(model.B, dice, stream.random_sample(300)))


def listing_rolls() -> Ints:
    """The 60 rolls that MLAPP Listing 17.1 prints. They are not the first of Figure 17.10."""
    faces = "664153216162115234653214356634261655234232315142464156663246"
    return np.array([int(face) - 1 for face in faces])


def simulate(model: CategoricalHMM, games: int, length: int, rng: np.random.Generator) -> Game:
    """Independent games, with arrays of shape (games, length)."""
    dice = hmm.sample_states(model.pi, model.A, rng.random((games, length)))
    return Game(dice, hmm.sample_symbols(model.B, dice, rng.random((games, length))))


def decode(model: CategoricalHMM, rolls: Ints) -> Decoded:
    """Filter, smoother and Viterbi path for games of shape (..., T)."""
    return Decoded(*hmm.track_state(model.pi, model.A, hmm.symbol_table(model.B), rolls, LOADED))


def count_errors(loaded: AnyArray, dice: Ints) -> Ints:
    """Wrong decisions in each game; `loaded` is a path, or a probability to cut at 0.5."""
    return np.asarray(((loaded > 0.5) != (dice == LOADED)).sum(axis=-1))


def memoryless(model: CategoricalHMM, rolls: Ints) -> Floats:
    """p(z_t = LOADED | x_t), (..., T), with the stationary distribution of the chain as prior."""
    to_loaded, to_fair = model.A[FAIR, LOADED], model.A[LOADED, FAIR]
    joint = np.array([to_fair, to_loaded])[:, None] * model.B
    return np.asarray((joint[LOADED] / joint.sum(axis=0))[rolls])


def error_counts(model: CategoricalHMM, game: Game, decoded: Decoded) -> Errors:
    """The errors of all estimates, game by game (MLAPP 17.4.1)."""
    return Errors(
        count_errors(decoded.filtered, game.dice),
        count_errors(decoded.smoothed, game.dice),
        count_errors(decoded.viterbi, game.dice),
        count_errors(memoryless(model, game.rolls), game.dice),
        count_errors(np.zeros(game.dice.shape), game.dice),
    )


def all_errors(model: CategoricalHMM, game: Game) -> Ints:
    """The same for games that are not decoded yet, (estimates, ...)."""
    return np.stack(error_counts(model, game, decode(model, game.rolls)))


def lagged_errors(model: CategoricalHMM, game: Game, lags: Sequence[int]) -> Ints:
    """The errors of the smoother with fixed lags (MLAPP 17.4.1), (lags, ...)."""
    log_lik = hmm.categorical_log_likelihood(model.B, game.rolls)
    forward = hmm.forward_filter(model.pi, model.A, log_lik)
    beliefs = (hmm.fixed_lag_smoother(model.A, log_lik, forward, lag) for lag in lags)
    return np.stack([count_errors(belief[..., LOADED], game.dice) for belief in beliefs])


def entropy(loaded: Floats) -> Floats:
    """Entropy in bits of beliefs that a die is loaded, elementwise."""
    return np.asarray((entr(loaded) + entr(1 - loaded)) / np.log(2))


def tally(game: Game) -> Tally:
    """Count the faces and the changes of the dice of games (N, T)."""
    changes, found = game.dice[:, 1:] != game.dice[:, :-1], []
    for die in (FAIR, LOADED):
        here = game.dice == die
        before = here[:, :-1]
        faces = np.bincount(game.rolls[here], minlength=6)
        found.append((faces, before.sum(), changes[before].sum()))
    return Tally(*map(np.array, zip(*found, strict=True)))
