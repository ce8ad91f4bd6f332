"""Generated stand-ins for files that a book's authors published but the package does not carry.

Each has the shape and the character of the original as the book describes it, is drawn from its own
random stream, and is named as a stand-in wherever it is used. `draw` numbers independent draws of
it; the results use draw 0.
"""

from typing import NamedTuple

import numpy as np

from bythebook.models.types import Floats

PARTIES = ("Lab", "Con", "LDem", "SNP", "PC", "DUP", "SDLP", "UUP")


def stream(number: int | list[int], draw: int) -> np.random.Generator:
    """The random stream of one draw of a stand-in; `number` distinguishes the stand-ins."""
    numbers = [number] if isinstance(number, int) else number
    return np.random.default_rng([*numbers, draw] if draw else number)


def three_clusters(draw: int = 0) -> Floats:
    """FCML 6.2: a hundred points in the plane in three groups, a few of them in between, (100, 2).

    Drawn from the mixture of three Gaussians that fits the authors' file best, rounded.
    """
    rng = stream(62, draw)
    centres = np.array([[2.0, -3.9], [2.7, 2.9], [-0.1, -0.2]])
    variances = np.array([[0.8, 0.9], [0.6, 1.6], [0.5, 0.9]])
    which = np.repeat(np.arange(3), [48, 29, 23])
    return np.asarray(centres[which] + np.sqrt(variances[which]) * rng.standard_normal((100, 2)))


def coin_tosses(draw: int = 0) -> Floats:
    """FCML 3.3.5: a thousand tosses of the stall owner's coin, head = 1, (1000, 1).

    The book only shows posteriors after 100 and 1000 of them. Drawn with the share of heads in the
    authors' file, 0.725.
    """
    rng = stream(335, draw)
    return (rng.random((1000, 1)) < 0.725).astype(np.float64)


def ring_around_disc(draw: int = 0) -> Floats:
    """FCML 6.2.2: a disc and a ring about the same centre, (1492, 2).

    Uniform on x^T x < 1/2 and on 1 < x^T x < 2, with as many points as in the authors' file.
    """
    rng = stream(622, draw)
    squared = np.concatenate([rng.uniform(0, 0.5, 499), rng.uniform(1, 2, 993)])
    turn = rng.uniform(0, 2 * np.pi, len(squared))
    return np.asarray(np.sqrt(squared)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1))


class Legislature(NamedTuple):
    """Votes of a small parliament."""

    votes: Floats  # (divisions, MPs) +1, -1, or 0 where absent
    party: Floats  # (MPs, 1) place in PARTIES


def legislature(draw: int = 0) -> Legislature:
    """FCML 7.7.2: MPs near the place of their party in the plane vote by probit in 250 divisions.

    Attendance differs between MPs and does not depend on their positions.
    """
    rng = stream(772, draw)
    places = [[1.0, 0.2], [-0.9, 0.9], [-0.2, -1.1], [-0.9, -0.7], [-0.9, -0.7], [-1.3, 0.1]]
    places += [[0.7, -0.8], [-1.2, 0.5]]
    party = np.repeat(np.arange(8), [80, 36, 16, 6, 4, 5, 4, 5])
    x = np.array(places)[party] + 0.1 * rng.standard_normal((len(party), 2))
    w = 4.0 * rng.standard_normal((250, 2))
    votes = np.where(w @ x.T + rng.standard_normal((250, len(party))) > 0, 1.0, -1.0)
    present = rng.random(votes.shape) < rng.beta(2.0, 1.0, len(party))  # two thirds
    return Legislature(np.where(present, votes, 0.0), party[:, None].astype(np.float64))


def two_classes(draw: int = 0) -> Floats:
    """FCML 4.2: twenty points with t = 0, then twenty with t = 1, in the plane, (40, 3).

    Round Gaussian classes with the means of the authors' file, rounded, and variance one.
    """
    rng = stream(41, draw)
    centres = np.repeat([[-2.0, -2.3], [2.2, 2.3]], 20, axis=0)
    t = np.repeat([0.0, 1.0], 20)
    return np.column_stack([centres + rng.standard_normal((40, 2)), t])


def three_gaussian_classes(draw: int = 0) -> Floats:
    """FCML 5.2.1.3: thirty points of each of three classes in the plane, and the class, (90, 3).

    Gaussian, then shifted and stretched so that each class has the mean and the covariance (over
    N) of the authors' file, so a Gaussian classifier estimates the same parameters.
    """
    rng = stream(521, draw)
    means = [[-0.114148, 0.111695], [1.816124, 2.544471], [1.635607, -2.138779]]
    spreads = [[0.989561, 0.088562, 1.507558], [1.707341, -0.102837, 1.065919]]
    spreads += [[1.115782, 1.046983, 1.191743]]  # variance, covariance, variance
    points = []
    for mean, (a, b, c) in zip(means, spreads, strict=True):
        raw = rng.standard_normal((30, 2))
        raw -= raw.mean(0)
        white = np.linalg.solve(np.linalg.cholesky(raw.T @ raw / 30), raw.T)
        points.append((np.linalg.cholesky([[a, b], [b, c]]) @ white).T + mean)
    return np.column_stack([np.concatenate(points), np.repeat([1.0, 2.0, 3.0], 30)])


def inside_and_outside(rng: np.random.Generator, inside: int, outside: int) -> Floats:
    """Points of N(0, I) with t = +1 where x^T x < 1, -1 where x^T x > 2, none between, (N, 3).

    The rule is inferred from the authors' file SVMdata2; the book shows the points only.
    """
    squared = -2 * np.log1p(-rng.random(inside) * -np.expm1(-0.5))  # chi-squared, below 1
    squared = np.concatenate([squared, 2 + rng.exponential(2.0, outside)])  # and beyond 2
    turn = rng.uniform(0, 2 * np.pi, len(squared))
    x = np.sqrt(squared)[:, None] * np.stack([np.cos(turn), np.sin(turn)], axis=1)
    return np.column_stack([x, np.repeat([1.0, -1.0], [inside, outside])])


def unit_disc(rng: np.random.Generator, n: int) -> Floats:
    """Points of N(0, I) with t = +1 where x^T x < 1, else -1, (n, 3): the rule of SVMtest."""
    x = rng.standard_normal((n, 2))
    return np.column_stack([x, np.where((x**2).sum(1) < 1, 1.0, -1.0)])


def disc_train(draw: int = 0) -> Floats:
    """FCML Figure 5.17: 17 points near the origin, 24 farther out, (41, 3)."""
    return inside_and_outside(stream(5326, draw), 17, 24)


def disc_test(draw: int = 0) -> Floats:
    """FCML 5.4.3: a thousand test points, (1000, 3)."""
    return unit_disc(stream(543, draw), 1000)


def newsgroups(draw: int = 0) -> Floats:
    """FCML 5.2.1.6: a corpus of 20 classes by a topic model, a tenth of the size of the real one.

    Rows of test (0 or 1), class (1 to 20), document, word, count. A text mixes a background in
    which a few words are frequent, the topic of its class, and that of a class nearby. Class 19
    lies near 17 and class 20 near 16, which the book says; that the classes 1 to 15 form a
    circle of neighbours, the sizes and the shares of the mixture are invented.
    """
    rng = stream(5216, draw)
    M = 3000
    background = 1 / (5.0 + rng.permutation(M))
    topics = rng.gamma(0.03, size=(20, M)) + 1e-9
    words = np.stack([background, *topics])
    cumulative = np.cumsum(words / words.sum(1, keepdims=True), axis=1)
    near = np.array([2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 1, 20, 18, 17, 17, 16]) - 1
    sizes = np.array([57] * 17 + [56, 46, 38])  # the last two groups are the smallest, as named
    rows = []
    for test, share in ((0, 1.0), (1, 0.67)):
        for c, size in enumerate(np.rint(share * sizes).astype(int)):
            lean = 9.0 if c >= 18 else 3.0
            mix = rng.dirichlet([16.0, 4.0, lean / 3], size)  # background, own, nearby
            length = rng.integers(20, 120, size)
            document = np.repeat(np.arange(size), length)
            source = (rng.random(len(document))[:, None] > mix[document].cumsum(1)).sum(1)
            topic = np.array([0, c + 1, near[c] + 1])[np.minimum(source, 2)]
            word = np.empty(len(document), dtype=np.int64)
            for k in np.unique(topic):
                drawn = rng.random(int((topic == k).sum()))
                word[topic == k] = np.searchsorted(cumulative[k], drawn)
            pair, count = np.unique(document * M + np.minimum(word, M - 1), return_counts=True)
            fixed = np.broadcast_to([test, c + 1], (len(pair), 2))
            rows.append(np.column_stack([fixed, pair // M, pair % M, count]))
    table = np.concatenate(rows).astype(np.float64)
    table[:, 2] = np.unique(table[:, :3], axis=0, return_inverse=True)[1]  # number the documents
    return table
