"""Gaussian mixtures against scipy.stats, scikit-learn, finite differences and limits."""

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import dirichlet, invwishart, multivariate_normal
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture as SklearnMixture

from bythebook.models.clustering import mixture
from bythebook.models.clustering.gaussian_mixture import (
    GaussianMixture,
    Prior,
    Statistics,
    collapsed,
    e_step,
    fit,
    iterations_to_settle,
    log_density,
    log_joint,
    log_prior,
    m_step,
    responsibilities,
    whitener,
)
from bythebook.models.clustering.gaussian_mixture_starts import (
    sample_covariance,
    start_at,
    start_at_points,
    start_identical,
)
from bythebook.models.clustering.kmeans import kmeans, random_points
from bythebook.models.clustering.mixture import expected_complete, free_energy, kl_to_posterior
from bythebook.models.datasets import load
from bythebook.models.em import EMFit, take

KINDS = ["full", "diagonal", "spherical", "fixed"]


@pytest.fixture
def rng():
    return np.random.default_rng(9)


@pytest.fixture
def X(rng):
    """Three overlapping, correlated clusters in three dimensions."""
    shape = rng.normal(size=(3, 3, 3))
    return np.concatenate(
        [c + rng.normal(size=(40, 3)) @ A for c, A in zip((0, 2, 4), shape, strict=True)]
    )


@pytest.fixture(scope="module")
def faithful():
    X = load("old-faithful").matrix
    return (X - X.mean(0)) / X.std(0)


def prior_for(X):
    D = X.shape[1]
    return Prior(alpha=1.5, S0=0.3 * sample_covariance(X) + 0.1 * np.eye(D), nu0=D + 2.0)


def naive_log_joint(X, theta, r):
    columns = [
        np.log(p) + multivariate_normal(m, S).logpdf(X)
        for p, m, S in zip(theta.pi[r], theta.mu[r], theta.Sigma[r], strict=True)
    ]
    return np.stack(columns, axis=1)


def test_densities_and_responsibilities_against_scipy(X, rng):
    theta = fit(X, start_at_points(X, 3, rng, 4), max_iter=5).theta
    q, objective = e_step(X, theta)
    for r in range(4):
        expected = naive_log_joint(X, theta, r)
        evidence = logsumexp(expected, axis=1)
        gamma = np.exp(expected - evidence[:, None])
        np.testing.assert_allclose(log_joint(X, theta)[r], expected, rtol=1e-11)
        np.testing.assert_allclose(log_density(X, theta)[r], evidence, rtol=1e-11)
        np.testing.assert_allclose(responsibilities(X, theta)[r], gamma, rtol=1e-9, atol=1e-300)
        np.testing.assert_allclose(objective[r], evidence.sum(), rtol=1e-12)
        np.testing.assert_allclose(q.N[r], gamma.sum(0), rtol=1e-10)
        for k in range(3):
            difference = X - theta.mu[r, k]
            np.testing.assert_allclose(q.first[r, k], gamma[:, k] @ difference, atol=1e-10)
            second = (gamma[:, k, None] * difference).T @ difference
            np.testing.assert_allclose(q.second[r, k], second, rtol=1e-10, atol=1e-10)


def test_whitener_inverts_the_cholesky_factor_and_marks_what_has_none(rng):
    A = rng.normal(size=(2, 3, 3, 3))
    Sigma = A @ A.swapaxes(2, 3)
    Sigma[1, 1] = np.diag([1.0, 1.0, 0.0])
    W = whitener(Sigma)
    fine = np.ones((2, 3), dtype=bool)
    fine[1, 1] = False
    np.testing.assert_allclose(
        (W @ Sigma @ W.swapaxes(2, 3))[fine], np.broadcast_to(np.eye(3), (5, 3, 3)), atol=1e-9
    )
    assert not np.triu(W[fine], 1).any()
    assert np.isnan(W[1, 1]).any()


@pytest.mark.parametrize(
    ("kind", "other"), [("full", "full"), ("diagonal", "diag"), ("spherical", "spherical")]
)
def test_scikit_learn_after_the_same_iterations_from_the_same_start(X, rng, kind, other):
    start = start_at(random_points(X, 3, rng, 2), np.eye(3), [0.2, 0.5, 0.3])
    ours = fit(X, start, covariance=kind, tol=-np.inf, max_iter=12)
    precisions = {
        "full": np.tile(np.eye(3), (3, 1, 1)),
        "diag": np.ones((3, 3)),
        "spherical": np.ones(3),
    }
    for r in range(2):
        theirs = SklearnMixture(
            3,
            covariance_type=other,
            tol=0,
            reg_covar=0,
            max_iter=12,
            weights_init=start.pi[r],
            means_init=start.mu[r],
            precisions_init=precisions[other],
        )
        with pytest.warns(ConvergenceWarning):
            theirs.fit(X)
        Sigma = theirs.covariances_
        if other == "diag":
            Sigma = np.stack([np.diag(s) for s in Sigma])
        elif other == "spherical":
            Sigma = Sigma[:, None, None] * np.eye(3)
        np.testing.assert_allclose(ours.theta.pi[r], theirs.weights_, rtol=1e-8)
        np.testing.assert_allclose(ours.theta.mu[r], theirs.means_, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ours.theta.Sigma[r], Sigma, rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(ours.final[r], len(X) * theirs.score(X), rtol=1e-10)


@pytest.mark.parametrize("with_prior", [False, True])
@pytest.mark.parametrize("fixed_pi", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_the_objective_rises_at_every_step(X, rng, kind, fixed_pi, with_prior):
    start = start_at_points(X, 4, rng, 20)
    prior = prior_for(X) if with_prior else None
    run = fit(X, start, covariance=kind, fixed_pi=fixed_pi, prior=prior, max_iter=60)
    sound = np.isfinite(run.final)
    assert sound.all() if with_prior or kind != "full" else sound.sum() >= 10
    for history, iterations in zip(run.objective[sound], run.iterations[sound], strict=True):
        assert iterations > 3
        assert np.all(np.diff(history[: iterations + 1]) >= -1e-9)
    if fixed_pi:
        np.testing.assert_array_equal(run.theta.pi, start.pi)
    if kind == "fixed":
        np.testing.assert_array_equal(run.theta.Sigma, start.Sigma)


def test_old_faithful_from_the_corners(faithful):
    """PRML Figure 9.8; reference values of the catalogue, recomputed independently."""
    run = fit(faithful, start_at([[[-1.5, 1.0], [1.5, -1.0]]], np.eye(2)), tol=1e-9)
    np.testing.assert_allclose(
        run.objective[0, [0, 1, 2, 5]], [-1150.20, -536.89, -527.87, -448.46], atol=0.005
    )
    np.testing.assert_allclose(run.final[0], -385.4607, atol=5e-5)
    np.testing.assert_allclose(run.theta.pi[0], [0.3559, 0.6441], atol=5e-5)
    np.testing.assert_allclose(run.theta.mu[0], [[-1.274, -1.2099], [0.7039, 0.6685]], atol=5e-5)
    np.testing.assert_allclose(
        run.theta.Sigma[0],
        [[[0.0533, 0.0281], [0.0281, 0.1830]], [[0.1310, 0.0608], [0.0608, 0.1958]]],
        atol=1e-4,
    )


def unpack(v, K, D):
    """Parameters from a free vector: softmax, means, lower triangular square roots."""
    logits, mu, roots = np.split(v, [K, K + K * D])
    L = np.tril(roots.reshape(K, D, D))
    pi = np.exp(logits - logsumexp(logits))
    return GaussianMixture(pi[None], mu.reshape(1, K, D), (L @ L.swapaxes(1, 2))[None])


def pack(theta):
    return np.concatenate(
        [np.log(theta.pi[0]), theta.mu[0].ravel(), np.linalg.cholesky(theta.Sigma[0]).ravel()]
    )


@pytest.mark.parametrize("with_prior", [False, True])
def test_where_em_ends_the_gradient_vanishes(faithful, rng, with_prior):
    prior = prior_for(faithful) if with_prior else None
    run = fit(faithful, start_at_points(faithful, 2, rng), prior=prior, tol=0, max_iter=2000)

    def objective(v):
        theta = unpack(v, 2, 2)
        value = logsumexp(naive_log_joint(faithful, theta, 0), axis=1).sum()
        if prior is not None:
            value += dirichlet.logpdf(theta.pi[0], np.full(2, prior.alpha))
            value += sum(invwishart.logpdf(S, prior.nu0, prior.S0) for S in theta.Sigma[0])
        return value

    end, h = pack(run.theta), 1e-5
    np.testing.assert_allclose(objective(end), run.final[0], rtol=1e-10)
    steps = h * np.eye(len(end))
    gradient = np.array([(objective(end + s) - objective(end - s)) / (2 * h) for s in steps])
    elsewhere = end + 0.01
    slope = [(objective(elsewhere + s) - objective(elsewhere - s)) / (2 * h) for s in steps]
    assert np.abs(gradient).max() < 1e-4
    assert np.abs(slope).max() > 1.0


def test_log_prior_against_scipy(X, rng):
    theta = fit(X, start_at_points(X, 3, rng, 3), max_iter=4).theta
    prior = prior_for(X)
    for r in range(3):
        expected = dirichlet.logpdf(theta.pi[r], np.full(3, prior.alpha))
        expected += sum(invwishart.logpdf(S, prior.nu0, prior.S0) for S in theta.Sigma[r])
        np.testing.assert_allclose(log_prior(theta, prior)[r], expected, rtol=1e-11)


@pytest.mark.parametrize("kind", ["full", "diagonal", "spherical"])
def test_the_m_step_beats_its_neighbours(X, rng, kind):
    """Both with and without a prior the M step maximises Q, also among restricted covariances."""
    theta = fit(X, start_at_points(X, 2, rng), covariance=kind, max_iter=2).theta
    gamma = responsibilities(X, theta)
    for prior in (None, prior_for(X)):
        best = m_step(theta, e_step(X, theta)[0], covariance=kind, prior=prior)

        def objective(candidate, prior=prior):
            value = expected_complete(log_joint(X, candidate), gamma)[0]
            return value if prior is None else value + log_prior(candidate, prior)[0]

        top = objective(best)
        assert top >= objective(theta)
        for _ in range(30):
            stretch = np.exp(0.05 * rng.normal(size=(2, 3)))
            if kind == "spherical":
                stretch[:] = stretch[:, :1]
            A = np.stack([np.diag(s) for s in stretch])
            if kind == "full":
                A = A + 0.05 * rng.normal(size=A.shape)
            pi = best.pi * np.exp(0.05 * rng.normal(size=2))
            near = GaussianMixture(
                pi / pi.sum(),
                best.mu + 0.05 * rng.normal(size=best.mu.shape),
                A @ best.Sigma @ A.swapaxes(1, 2),
            )
            assert objective(near) < top


def test_bound_gap_and_likelihood_through_em(X, rng):
    """Ghahramani (15)-(23): the E step closes the gap, the M step lifts the bound."""
    theta = start_at_points(X, 3, rng, 5)
    for _ in range(15):
        q, likelihood = e_step(X, theta)
        gamma = responsibilities(X, theta)
        after_e = free_energy(log_joint(X, theta), gamma)
        np.testing.assert_allclose(after_e, likelihood, rtol=1e-12)
        theta = m_step(theta, q)
        joint = log_joint(X, theta)
        after_m = free_energy(joint, gamma)
        assert np.all(after_m >= after_e - 1e-9)
        gap = kl_to_posterior(joint, gamma)
        assert np.all(gap > 0)
        np.testing.assert_allclose(log_density(X, theta).sum(1), after_m + gap, rtol=1e-11)


@pytest.mark.parametrize("pi", [[0.5, 0.5], [0.999, 0.001]])
def test_em_with_a_small_fixed_variance_is_k_means(faithful, rng, pi):
    """PRML 9.3.2: for any pi; and epsilon E[ln p(X, Z)] tends to -J/2, (9.43) with its factor."""
    centres = random_points(faithful, 2, rng, 3)
    hard = kmeans(faithful, centres)
    distances = []
    for epsilon in (1.0, 0.03, 1e-3, 1e-5):
        start = start_at(centres, epsilon * np.eye(2), pi)
        soft = fit(faithful, start, covariance="fixed", fixed_pi=True, tol=0)
        distances.append(np.abs(soft.theta.mu - hard.centres).max())
    assert distances[0] > 0.1
    assert distances[-1] < 1e-12
    assert distances == sorted(distances, reverse=True)
    gamma = responsibilities(faithful, soft.theta)
    np.testing.assert_array_equal(gamma, hard.labels[..., None] == np.arange(2))
    ratio = (
        epsilon * expected_complete(log_joint(faithful, soft.theta), gamma) / (-0.5 * hard.final)
    )
    np.testing.assert_allclose(ratio, 1.0, atol=1e-2)


def test_the_order_of_the_components_does_not_matter(X, rng):
    start = start_at_points(X, 3, rng, 4)
    order = [2, 0, 1]
    permuted = GaussianMixture(*(field[:, order] for field in start))
    one, other = fit(X, start, max_iter=30), fit(X, permuted, max_iter=30)
    np.testing.assert_allclose(one.objective, other.objective, rtol=1e-10)
    np.testing.assert_allclose(one.theta.mu[:, order], other.theta.mu, rtol=1e-6, atol=1e-8)


def test_a_batch_gives_what_each_restart_gives_alone(X, rng):
    start = start_at_points(X, 3, rng, 5)
    together = fit(X, start, max_iter=40)
    for r in range(5):
        alone = fit(X, take(start, [r]), max_iter=40)
        np.testing.assert_allclose(alone.final[0], together.final[r], rtol=1e-10)
        np.testing.assert_allclose(
            alone.theta.Sigma[0], together.theta.Sigma[r], rtol=1e-6, atol=1e-8
        )


@pytest.mark.parametrize("block", [1, 2 * 3 * 3 * 120])  # 64 rows, two restarts
def test_blocks_change_nothing(X, rng, monkeypatch, block):
    theta = fit(X, start_at_points(X, 3, rng, 5), max_iter=3).theta
    whole, joint = e_step(X, theta), log_joint(X, theta)
    monkeypatch.setattr(mixture, "_BLOCK", block)
    cut = e_step(X, theta)
    for a, b in zip((*whole[0], whole[1]), (*cut[0], cut[1]), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-11, atol=1e-11)
    np.testing.assert_array_equal(joint, log_joint(X, theta))


def test_identical_components_stay_identical(X):
    run = fit(X, start_identical(X, 3), tol=-np.inf, max_iter=20)
    np.testing.assert_allclose(run.theta.mu, np.tile(X.mean(0), (1, 3, 1)), rtol=1e-10)
    np.testing.assert_allclose(run.theta.Sigma[0, 2], sample_covariance(X), rtol=1e-10)
    single = multivariate_normal(X.mean(0), sample_covariance(X)).logpdf(X).sum()
    np.testing.assert_allclose(run.final, single, rtol=1e-12)


def test_one_component_is_the_gaussian_of_the_data(X, rng):
    run = fit(X, start_at_points(X, 1, rng))
    np.testing.assert_allclose(run.theta.mu[0, 0], X.mean(0), rtol=1e-10)
    np.testing.assert_allclose(run.theta.Sigma[0, 0], sample_covariance(X), rtol=1e-10)


def test_the_likelihood_grows_without_limit_as_a_component_shrinks_onto_a_point(faithful):
    """PRML Figure 9.7: once sigma is tiny, D ln 10 for every factor 1/10; catalogue's values."""
    wide, point = sample_covariance(faithful), faithful[0]
    sigma = np.array([1.0, 0.1, 0.01, 1e-4, 1e-8, 1e-20, 1e-21, 1e-100])
    Sigma = np.stack([np.stack([wide, s**2 * np.eye(2)]) for s in sigma])
    theta = start_at(np.tile([faithful.mean(0), point], (8, 1, 1)), Sigma)
    values = log_density(faithful, theta).sum(1)
    np.testing.assert_allclose(
        values[:5], [-618.26, -704.91, -724.46, -715.25, -696.83], atol=0.005
    )
    np.testing.assert_allclose(values[6] - values[5], 2 * np.log(10), rtol=1e-9)
    assert values[7] > -385.46  # above the sensible maximum
    single = [
        multivariate_normal(point, s**2 * np.eye(2)).logpdf(faithful).sum() for s in sigma[:4]
    ]
    assert np.all(np.diff(single) < 0)


COLLAPSING = np.array([[-1.0], [0.0], [0.1], [0.25], [0.4], [0.5], [3.0]])


def test_a_collapse_ends_its_restart_and_no_other():
    start = start_at([[[0.2], [3.0]], [[0.3], [0.4]]], [[[[1.0]], [[0.01]]], [[[0.1]], [[9.0]]]])
    run = fit(COLLAPSING, start, max_iter=2000)
    assert np.isnan(run.final[0])
    assert not run.converged[0]
    assert np.all(np.diff(run.objective[0, : run.iterations[0]]) > 0)
    assert run.converged[1]
    assert run.best == 1
    np.testing.assert_array_equal(collapsed(run.theta, 1e-6), [[False, True], [False, False]])


def test_a_threshold_ends_the_restart_before_the_singularity():
    start = start_at([[[0.2], [3.0]]], [[[[1.0]], [[0.01]]]])
    run = fit(COLLAPSING, start, min_eigenvalue=1e-4)
    assert np.isnan(run.final[0])
    below = run.theta.Sigma[0, 1, 0, 0]
    assert below < 1e-4
    before = fit(COLLAPSING, start, tol=-np.inf, max_iter=int(run.iterations[0]) - 1)
    assert before.theta.Sigma[0, 1, 0, 0] >= 1e-4


def test_a_prior_keeps_every_covariance_away_from_zero():
    prior = Prior(alpha=1.0, S0=np.array([[0.01]]), nu0=3.0)
    start = start_at([[[0.2], [3.0]]], [[[[1.0]], [[0.01]]]])
    run = fit(COLLAPSING, start, prior=prior)
    assert run.converged.all()
    assert np.all(run.theta.Sigma >= prior.S0 / (len(COLLAPSING) + prior.nu0 + 1 + 1))
    # The lone point leaves the prior's mode of a component with one point and no scatter.
    np.testing.assert_allclose(run.theta.Sigma[0, 1], prior.S0 / (1 + 3 + 1 + 1), rtol=1e-6)


def test_a_component_without_points_keeps_its_place():
    theta = start_at([[[0.0, 0.0], [9.0, 9.0]]], np.eye(2))
    zeros = Statistics(
        np.array([[4.0, 0.0]]), np.zeros((1, 2, 2)), np.array([[4 * np.eye(2), np.zeros((2, 2))]])
    )
    after = m_step(theta, zeros)
    np.testing.assert_array_equal(after.pi, [[1.0, 0.0]])
    np.testing.assert_array_equal(after.mu, theta.mu)
    np.testing.assert_array_equal(after.Sigma, theta.Sigma)
    X = np.array([[1.0, 0.0]])
    np.testing.assert_allclose(
        log_density(X, after)[0], multivariate_normal(np.zeros(2), np.eye(2)).logpdf(X), rtol=1e-12
    )


def test_a_start_of_another_kind_is_first_brought_into_the_family(X, rng):
    """Otherwise the first step may fall, and the loop would take that for the end."""
    run = fit(X, start_at_points(X, 2, rng, 10), covariance="spherical", snapshots=(0,))
    Sigma = run.snapshots[0].Sigma
    trace = np.trace(sample_covariance(X)) / 3
    np.testing.assert_allclose(Sigma, np.broadcast_to(trace * np.eye(3), Sigma.shape), rtol=1e-12)
    assert run.iterations.min() > 1


def test_wrong_wishes_are_errors(X, rng):
    start = start_at_points(X, 2, rng)
    with pytest.raises(ValueError, match="tied"):
        fit(X, start, covariance="tied")
    with pytest.raises(ValueError, match="alpha"):
        fit(X, start, prior=prior_for(X)._replace(alpha=0.5))


def test_iterations_to_settle_against_a_loop(faithful, rng):
    em = fit(faithful, start_at_points(faithful, 3, rng, 6), tol=1e-4, snapshots=range(30))
    expected = []
    for r in range(6):
        ends = responsibilities(faithful, em.theta)[r].argmax(1)
        steps = [responsibilities(faithful, em.snapshots[t])[r].argmax(1) for t in range(30)]
        away = [t for t in range(30) if np.mean(steps[t] == ends) < 0.9]
        expected.append(max(away) + 1 if away else 0)
    assert iterations_to_settle(faithful, em, 0.9).tolist() == expected
    assert max(expected) > 0


def test_exactly_the_share_of_the_points_has_settled():
    """Four points, of which two, three and all four are assigned as at the end."""

    def about(place):  # where assignments change
        mu = np.array([[[place - 1], [place + 1]]])
        return GaussianMixture(np.full((1, 2), 0.5), mu, np.ones((1, 2, 1, 1)))

    snapshots = {t: about(place) for t, place in enumerate((-0.5, 0.5, 1.5))}
    em = EMFit(snapshots[2], np.zeros((1, 3)), np.array([2]), np.array([True]), snapshots)
    settled = {
        share: int(iterations_to_settle(np.arange(4.0)[:, None], em, share)[0])
        for share in (0.5, 0.625, 0.75, 0.875, 1.0)
    }
    assert settled == {0.5: 0, 0.625: 1, 0.75: 1, 0.875: 2, 1.0: 2}


def test_it_ends_by_default_after_so_many_steps_or_with_a_gain_so_small(X, rng):
    """500 steps, or the first gain of no more than 1e-8."""
    start = start_at_points(X, 2, rng)
    assert fit(X, start, tol=-np.inf).iterations.tolist() == [500]
    gains = np.diff(fit(X, start).objective[0])
    assert gains[-1] <= 1e-8 < gains[-2]


def test_a_component_of_just_the_least_variance_has_not_collapsed():
    theta = GaussianMixture(
        np.full((1, 2), 0.5), np.zeros((1, 2, 2)), np.array([[np.eye(2), np.diag([1.0, 0.5])]])
    )
    assert collapsed(theta, 1.0).tolist() == [[False, True]]
    assert collapsed(theta, 0.5).tolist() == [[False, False]]
