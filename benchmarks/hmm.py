"""Hidden Markov models: many short sequences, one long sequence, and restarts of Baum-Welch."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from benchmarks.case import Answer, Case, Contest
from benchmarks.timing import Floor
from bythebook.models.chains import hmm
from bythebook.models.chains.baum_welch import CategoricalHMM, baum_welch
from bythebook.models.chains.baum_welch_starts import random_categorical
from bythebook.models.chains.casino import LOADED, book_game, casino, decode, simulate
from bythebook.models.em import take
from bythebook.models.types import Ints

Way = Callable[[], Answer]

LENGTH = 300  # rolls in a game
RESTARTS = 100


def hmmlearn_model(theta: CategoricalHMM, **options: Any) -> Any:
    """The model of hmmlearn with our parameters, in the faster of its two implementations."""
    from hmmlearn.hmm import CategoricalHMM as Theirs

    K, L = theta.B.shape
    model = Theirs(K, n_features=L, implementation="scaling", init_params="", **options)
    model.startprob_, model.transmat_, model.emissionprob_ = theta
    return model


# --- Many games ---------------------------------------------------------------------------------


def games(peer: Callable[[CategoricalHMM, Ints], Way], fields: list[str], size: int) -> Contest:
    """All results of `decode`, and the fields that the peer gives too."""
    model = casino()
    rolls = simulate(model, size, LENGTH, np.random.default_rng(0)).rolls

    def ours() -> Answer:
        decoded = decode(model, rolls)._asdict()
        return {field: decoded[field] for field in fields}

    return Contest(ours, peer(model, rolls))


def hmmlearn_looped(model: CategoricalHMM, rolls: Ints) -> Way:
    theirs, data = hmmlearn_model(model), list(rolls[..., None])

    def run() -> Answer:
        smoothed, paths, evidence = [], [], []
        for game in data:
            log_evidence, posterior = theirs.score_samples(game)
            smoothed.append(posterior[:, LOADED])
            evidence.append(log_evidence)
            paths.append(theirs.decode(game)[1])
        return {"smoothed": smoothed, "viterbi": paths, "log_evidence": evidence}

    return run


def hmmlearn_lengths(model: CategoricalHMM, rolls: Ints) -> Way:
    theirs, x, lengths = hmmlearn_model(model), rolls.reshape(-1, 1), [LENGTH] * len(rolls)

    def run() -> Answer:
        smoothed = theirs.score_samples(x, lengths)[1][:, LOADED]
        paths = theirs.decode(x, lengths)[1]
        return {"smoothed": smoothed.reshape(rolls.shape), "viterbi": paths.reshape(rolls.shape)}

    return run


def dynamax_vmapped(model: CategoricalHMM, rolls: Ints) -> Way:
    import jax

    jax.config.update("jax_enable_x64", True)  # type: ignore[no-untyped-call]
    from dynamax.hidden_markov_model import hmm_posterior_mode, hmm_two_filter_smoother

    pi, A, table = (jax.numpy.asarray(a) for a in (model.pi, model.A, np.log(model.B).T))

    def one(game: Any) -> dict[str, Any]:
        log_lik = table[game]
        posterior = hmm_two_filter_smoother(pi, A, log_lik)
        return {
            "filtered": posterior.filtered_probs[:, LOADED],
            "smoothed": posterior.smoothed_probs[:, LOADED],
            "viterbi": hmm_posterior_mode(pi, A, log_lik),
            "log_evidence": posterior.marginal_loglik,
        }

    every, x = jax.jit(jax.vmap(one)), jax.numpy.asarray(rolls)
    return lambda: jax.block_until_ready(every(x))


# --- One long sequence --------------------------------------------------------------------------


def long_sequence(K: int, size: int) -> Contest:
    """The best path is compared by its log joint, because paths may tie."""
    rng = np.random.default_rng(K)
    theta = take(random_categorical(K, 2 * K, 1, rng), 0)
    x = rng.integers(2 * K, size=size)
    theirs, column = hmmlearn_model(theta), x[:, None]

    def ours() -> Answer:
        model = theta.pi, theta.A, hmm.symbol_table(theta.B), x
        posterior, best = hmm.decode(*model)
        evidence = posterior.forward.log_evidence
        return {"smoothed": posterior.smoothed, "evidence": evidence, "best": best.log_joint}

    def peer() -> Answer:
        evidence, smoothed = theirs.score_samples(column)
        best, _ = theirs.decode(column)
        return {"smoothed": smoothed, "evidence": evidence, "best": best}

    p, what = rng.random((size, K)), "the sums of both passes as matrix products, no step waiting"
    return Contest(ours, peer, floor=Floor(what, lambda: (p @ theta.A, p @ theta.A.T)))


# --- Restarts -----------------------------------------------------------------------------------


def restarts(size: int) -> Contest:
    rolls = book_game().rolls
    start = random_categorical(2, 6, RESTARTS, np.random.default_rng(0))
    one_by_one, column = [take(start, r) for r in range(RESTARTS)], rolls[:, None]

    def ours() -> Answer:
        fit = baum_welch(start, rolls, tol=-np.inf, max_iter=size)
        return {**fit.theta._asdict(), "objective": fit.objective[:, :size]}

    def peer() -> Answer:
        fits = [hmmlearn_model(theta, n_iter=size, tol=-np.inf).fit(column) for theta in one_by_one]
        return {
            "pi": [fit.startprob_ for fit in fits],
            "A": [fit.transmat_ for fit in fits],
            "B": [fit.emissionprob_ for fit in fits],
            "objective": [list(fit.monitor_.history) for fit in fits],
        }

    return Contest(ours, peer)


GAMES: dict[str, Any] = {
    "name": "filter, smoother and Viterbi paths of the casino",
    "size": 20_000,
    "unit": f"games of {LENGTH} rolls",
    "sizes": (1250, 2500, 5000, 10_000, 20_000),
}
NO_FILTER = "hmmlearn shows no filter: only ours gives one."
SMOOTHED = ["smoothed", "viterbi", "log_evidence"]

CASES: list[Case] = [
    Case(
        **GAMES,
        peer="hmmlearn, a call a game",
        package="hmmlearn",
        goal=10,
        make=partial(games, hmmlearn_looped, SMOOTHED),
        peer_size=2000,
        note=NO_FILTER,
    ),
    Case(
        **GAMES,
        peer="hmmlearn, one call with lengths",
        package="hmmlearn",
        goal=10,
        make=partial(games, hmmlearn_lengths, SMOOTHED[:2]),
        note=f"{NO_FILTER} hmmlearn runs on one core, ours on all there are.",
    ),
    Case(
        **GAMES,
        peer="dynamax, vmap and jit",
        package="dynamax",
        goal=1,
        make=partial(games, dynamax_vmapped, ["filtered", *SMOOTHED]),
        note="After its compilation, in float64; both on all cores.",
    ),
    *(
        Case(
            f"filter, smoother and Viterbi path of one sequence, K = {K}",
            "hmmlearn",
            goal=goal,
            make=partial(long_sequence, K),
            size=size,
            unit="steps",
            package="hmmlearn",
            sizes=tuple(size // part for part in (16, 8, 4, 2, 1)),
            note=f"{NO_FILTER} hmmlearn runs on one core, ours finds the path on a second.",
        )
        for K, size, goal in ((2, 1_000_000, 2), (16, 1_000_000, 4), (64, 100_000, 4))
    ),
    Case(
        f"Baum-Welch from {RESTARTS} starts on the casino's {LENGTH} rolls",
        "hmmlearn, a fit a start",
        goal=10,
        make=restarts,
        size=50,
        unit="iterations",
        package="hmmlearn",
        sizes=(50, 100, 200, 400),
    ),
]
