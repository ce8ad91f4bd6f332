"""One EM step against sums over all paths; then what must hold at every step."""

import itertools

import numpy as np
import pytest
from hmm_in_logs import evidence_in_logs

from bythebook.models.chains import baum_welch as bw
from bythebook.models.chains import baum_welch_starts as starts
from bythebook.models.chains import hmm
from bythebook.models.em import take
from bythebook.models.types import AnyArray, Floats, Ints

K, L, N, T = 2, 3, 3, 4


def random_gaussians(rng: np.random.Generator, restarts: int, states: int = K) -> bw.GaussianHMM:
    root = rng.normal(size=(restarts, states, 2, 2))
    Sigma = root @ np.swapaxes(root, -1, -2) + 0.5 * np.eye(2)
    chain = starts.random_chain(restarts, states, rng)
    return bw.GaussianHMM(*chain, rng.normal(scale=2, size=(restarts, states, 2)), Sigma)


def three_clusters(length: int, seed: int) -> tuple[Ints, Floats]:
    """Two sequences of a chain of three Gaussians, and their states."""
    rng = np.random.default_rng(seed)
    A, mu = 0.05 + 0.85 * np.eye(3), np.array([[0.0, 0.0], [4.0, 0.0], [0.0, 4.0]])
    z = hmm.sample_states(np.full(3, 1 / 3), A, rng.random((2, length)))
    return z, hmm.sample_gaussians(mu, np.tile(0.5 * np.eye(2), (3, 1, 1)), z, rng)


def brute_force(theta: bw.Model, x: AnyArray, b: float) -> tuple[float, Floats, Floats]:
    """(1/b) ln sum_z p(x, z)^b, p(z_t = k) and the expected transitions, of restart 0."""
    log_lik = theta.log_likelihood(x)[0]
    z = np.array(list(itertools.product(range(K), repeat=T)))
    objective, gamma, transitions = 0.0, np.zeros((N, T, K)), np.zeros((K, K))
    for n in range(N):
        joint = theta.pi[0][z[:, 0]] * np.exp(log_lik[n][np.arange(T), z].sum(axis=1))
        joint *= theta.A[0][z[:, :-1], z[:, 1:]].prod(axis=1)
        weight = joint**b / (joint**b).sum()
        objective += np.log((joint**b).sum()) / b
        for t in range(T):
            np.add.at(gamma[n, t], z[:, t], weight)
            if t > 0:
                np.add.at(transitions, (z[:, t - 1], z[:, t]), weight)
    return objective, gamma, transitions


def rows(counts: Floats) -> Floats:
    return counts / counts.sum(axis=-1, keepdims=True)


@pytest.mark.parametrize("b", [0.5, 1.0, 2.0])
def test_one_step_on_symbols_is_that_of_all_paths(b: float) -> None:
    rng = np.random.default_rng(0)
    theta, x = starts.random_categorical(K, L, 1, rng), rng.integers(L, size=(N, T))
    fit = bw.baum_welch(theta, x, max_iter=1, inverse_temperature=b)
    objective, gamma, transitions = brute_force(theta, x, b)
    np.testing.assert_allclose(fit.objective[0, 0], objective, rtol=1e-12)
    np.testing.assert_allclose(fit.theta.pi[0], gamma[:, 0].mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(fit.theta.A[0], rows(transitions), rtol=1e-12)
    counts = np.array([[gamma[x == symbol, k].sum() for symbol in range(L)] for k in range(K)])
    np.testing.assert_allclose(fit.theta.B[0], rows(counts), rtol=1e-12)


def test_one_step_on_vectors_is_that_of_all_paths() -> None:
    rng = np.random.default_rng(1)
    theta, x = random_gaussians(rng, 1), rng.normal(size=(N, T, 2))
    S0, nu0 = np.array([[2.0, 0.5], [0.5, 1.0]]), 4.0
    objective, gamma, transitions = brute_force(theta, x, 1.0)
    likely = bw.baum_welch(theta, x, max_iter=1)
    mode = bw.baum_welch(theta, x, max_iter=1, prior=bw.Prior(S0=S0, nu0=nu0))
    np.testing.assert_allclose(likely.objective[0, 0], objective, rtol=1e-12)
    np.testing.assert_allclose(likely.theta.A[0], rows(transitions), rtol=1e-12)
    for k in range(K):
        weight = gamma[..., k].ravel()
        points = x.reshape(-1, 2)
        mu = weight @ points / weight.sum()
        scatter = np.einsum("n,ni,nj->ij", weight, points - mu, points - mu)
        np.testing.assert_allclose(likely.theta.mu[0, k], mu, rtol=1e-11)
        np.testing.assert_allclose(likely.theta.Sigma[0, k], scatter / weight.sum(), rtol=1e-11)
        expected = (scatter + S0) / (weight.sum() + nu0 + 3)
        np.testing.assert_allclose(mode.theta.Sigma[0, k], expected, rtol=1e-11)


def test_pseudo_counts_are_added_and_enter_the_objective() -> None:
    rng = np.random.default_rng(2)
    theta, x = starts.random_categorical(K, L, 1, rng), rng.integers(L, size=(N, T))
    pseudo = np.array([[5.0, 1.0], [0.0, 2.0]])
    fit = bw.baum_welch(theta, x, max_iter=1, prior=bw.Prior(0.5, pseudo, 3.0))
    objective, gamma, transitions = brute_force(theta, x, 1.0)
    np.testing.assert_allclose(fit.theta.pi[0], rows(gamma[:, 0].sum(axis=0) + 0.5), rtol=1e-12)
    np.testing.assert_allclose(fit.theta.A[0], rows(transitions + pseudo), rtol=1e-12)
    prior = 0.5 * np.log(theta.pi).sum() + 3.0 * np.log(theta.B).sum()
    prior += (pseudo * np.log(theta.A[0])).sum()
    np.testing.assert_allclose(fit.objective[0, 0], objective + prior, rtol=1e-12)


PRIOR = bw.Prior(1.0, 0.5, 2.0, S0=np.eye(2), nu0=3.0)


@pytest.mark.parametrize("b", [0.3, 1.0, np.inf])
@pytest.mark.parametrize("prior", [bw.FLAT, PRIOR], ids=["likelihood", "posterior"])
def test_the_objective_never_falls(b: float, prior: bw.Prior) -> None:
    rng = np.random.default_rng(3)
    symbols = rng.integers(4, size=(2, 150))
    options = {"max_iter": 60, "tol": -np.inf, "inverse_temperature": b, "prior": prior}
    discrete = bw.baum_welch(starts.random_categorical(3, 4, 5, rng), symbols, **options)
    _, x = three_clusters(100, seed=4)
    gaussian = bw.baum_welch(starts.random_gaussian(x, 3, 5, rng), x, **options)
    for fit in (discrete, gaussian):
        assert fit.objective.shape == (5, 61)
        assert (np.diff(fit.objective, axis=1) >= -1e-10 * np.abs(fit.objective[:, 1:])).all()
        assert (fit.objective[:, -1] - fit.objective[:, 0] > 1.0).all()


def test_zeros_of_the_start_persist() -> None:
    """PRML exercise 13.6; and a left-to-right chain stays one under a prior."""
    rng = np.random.default_rng(5)
    x = rng.integers(L, size=(4, 30))
    theta = starts.random_categorical(3, L, 2, rng)
    A = np.triu(theta.A)
    theta = theta._replace(pi=np.tile(np.eye(3)[0], (2, 1)), A=rows(A))
    for prior in (bw.FLAT, PRIOR):
        fit = bw.baum_welch(starts.perturb(theta, rng, 0.1), x, max_iter=20, prior=prior)
        np.testing.assert_array_equal(fit.theta.A == 0, A == 0)
        np.testing.assert_array_equal(fit.theta.pi, theta.pi)
        assert np.isfinite(fit.final).all()


def test_equal_states_stay_equal_and_a_perturbation_parts_them() -> None:
    rng = np.random.default_rng(6)
    _, x = three_clusters(100, seed=7)
    symbols = (x[..., 0] > 2).astype(np.int64)
    for start, data in (
        (starts.identical_categorical(symbols, 2, 2, 3), symbols),
        (starts.identical_gaussian(x, 3, 3), x),
    ):
        trapped = bw.baum_welch(start, data, max_iter=50, tol=-np.inf)
        gain = trapped.objective - trapped.objective[:, :1]
        np.testing.assert_allclose(gain, 0.0, rtol=0, atol=1e-9)
        free = bw.baum_welch(starts.perturb(start, rng, 0.1), data, max_iter=1000)
        assert (free.final > trapped.final + 10).all()


def test_names_of_states_do_not_matter() -> None:
    rng = np.random.default_rng(8)
    theta, x = starts.random_categorical(3, 4, 2, rng), rng.integers(4, size=(2, 60))
    order = np.array([2, 0, 1])
    renamed = bw.CategoricalHMM(
        theta.pi[:, order], theta.A[:, order][:, :, order], theta.B[:, order]
    )
    plain, other = (bw.baum_welch(t, x, max_iter=30, tol=-np.inf) for t in (theta, renamed))
    np.testing.assert_allclose(other.objective, plain.objective, rtol=1e-10)
    np.testing.assert_allclose(other.theta.B, plain.theta.B[:, order], rtol=1e-7, atol=1e-12)


def test_restarts_run_as_if_alone() -> None:
    rng = np.random.default_rng(9)
    _, x = three_clusters(60, seed=10)
    start = starts.random_gaussian(x, 3, 4, rng)
    together = bw.baum_welch(start, x, tol=1e-4)
    assert len(set(together.iterations)) > 1
    for r in range(4):
        alone = bw.baum_welch(take(start, slice(r, r + 1)), x, tol=1e-4)
        assert alone.iterations[0] == together.iterations[r]
        np.testing.assert_allclose(together.theta.mu[r], alone.theta.mu[0], rtol=1e-9, atol=1e-12)
        pi, A, log_lik = alone.theta.pi[0], alone.theta.A[0], alone.theta.log_likelihood(x)[0]
        evidence = evidence_in_logs(pi, A, log_lik).sum()
        np.testing.assert_allclose(evidence, together.final[r], rtol=1e-12)


def test_a_collapsed_restart_stops_alone() -> None:
    _, x = three_clusters(40, seed=11)
    start = starts.random_gaussian(x, 3, 3, np.random.default_rng(12))
    start.Sigma[1, 0] = 1e-12 * np.eye(2)  # sits on one point, and shrinks to nothing
    fit = bw.baum_welch(start, x, max_iter=50)
    np.testing.assert_array_equal(np.isfinite(fit.final), [True, False, True])
    assert not fit.converged[1]


def test_a_state_on_two_points_stops_before_rounding_makes_the_objective_fall() -> None:
    """In the plane two points span a line: the likelihood has no bound, its computed value has."""
    _, x = three_clusters(60, seed=20)
    start = starts.identical_gaussian(x, 2, 40)
    apart = x[0, :40] - x[0, 1:41]  # each restart has one state on two successive points
    start.mu[:, 0] = (x[0, :40] + x[0, 1:41]) / 2
    start.Sigma[:, 0] = apart[:, :, None] * apart[:, None, :] / 4 + 1e-6 * np.eye(2)
    fit = bw.baum_welch(start, x, max_iter=100, tol=-np.inf)
    assert np.isnan(fit.final).mean() > 0.8
    rises = np.diff(fit.objective, axis=1)
    assert (rises >= -1e-9 * np.abs(fit.objective[:, 1:]))[np.isfinite(rises)].all()


def test_viterbi_training_counts_the_best_path() -> None:
    rng = np.random.default_rng(13)
    x, A = rng.integers(L, size=50), np.array([[[0.6, 0.4], [0.3, 0.7]]])
    theta = starts.random_categorical(K, L, 1, rng)._replace(A=A)  # both states are left at times
    fit = bw.baum_welch(theta, x, max_iter=1, inverse_temperature=np.inf)
    best = hmm.viterbi(theta.pi[0], theta.A[0], theta.log_likelihood(x)[0, 0])
    np.testing.assert_allclose(fit.objective[0, 0], best.log_joint, rtol=1e-13)
    counted = starts.labelled_categorical(x, bw.one_hot(best.states, K)[None, None], L)
    for field, expected in zip(fit.theta, counted, strict=True):
        np.testing.assert_array_equal(field, expected)


def test_hmmlearn_takes_the_same_steps() -> None:
    other = pytest.importorskip("hmmlearn.hmm")
    rng = np.random.default_rng(18)
    symbols = rng.integers(4, size=(2, 40))
    start = starts.random_categorical(3, 4, 1, rng)
    model = other.CategoricalHMM(3, n_iter=5, tol=-np.inf, init_params="")
    model.startprob_, model.transmat_, model.emissionprob_ = (field[0] for field in start)
    model.fit(symbols.reshape(-1, 1), lengths=[40, 40])
    fit = bw.baum_welch(start, symbols, max_iter=5, tol=-np.inf)
    np.testing.assert_allclose(fit.objective[0, :5], model.monitor_.history, rtol=1e-10)
    np.testing.assert_allclose(fit.theta.A[0], model.transmat_, rtol=1e-7, atol=1e-12)
    np.testing.assert_allclose(fit.theta.B[0], model.emissionprob_, rtol=1e-7, atol=1e-12)

    x = rng.normal(size=(2, 40, 2))
    begin = random_gaussians(rng, 1, states=3)
    model = other.GaussianHMM(
        3, "full", n_iter=5, tol=-np.inf, init_params="", covars_prior=0, covars_weight=0
    )
    model.startprob_, model.transmat_, model.means_, model.covars_ = (field[0] for field in begin)
    model.fit(x.reshape(-1, 2), lengths=[40, 40])
    gaussian = bw.baum_welch(begin, x, max_iter=5, tol=-np.inf)
    np.testing.assert_allclose(gaussian.objective[0, :5], model.monitor_.history, rtol=1e-9)
    np.testing.assert_allclose(gaussian.theta.mu[0], model.means_, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(gaussian.theta.Sigma[0], model.covars_, rtol=1e-6, atol=1e-9)


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small() -> None:
    """500 steps, or the first gain of no more than 1e-8."""
    rng = np.random.default_rng(13)
    start, x = starts.random_categorical(2, 3, 1, rng), rng.integers(3, size=(1, 40))
    assert bw.baum_welch(start, x, tol=-np.inf).iterations.tolist() == [500]
    gains = np.diff(bw.baum_welch(start, x, max_iter=20_000).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2]
