"""Equations of FCML 5.3.2: margins, duals and kernels of support vector machines."""

from itertools import combinations

import numpy as np
from numpy.random import Generator
from scipy.optimize import LinearConstraint, minimize, nnls

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.classification import svm
from bythebook.models.types import Floats


def _apart(rng: Generator) -> tuple[Floats, Floats]:
    """Points of the plane that a line separates, and their labels."""
    while True:
        N = int(rng.integers(6, 14))
        t = np.where(np.arange(N) < rng.integers(2, N - 1), -1.0, 1.0)
        X = rng.normal(size=(N, 2)) + rng.normal(1, 0.3, 2) * t[:, None] * 1.5
        if svm.separable(X, t):
            return X, t


def _mixed(rng: Generator) -> tuple[Floats, Floats, float]:
    """Overlapping points of the plane, their labels, and C."""
    N = int(rng.integers(8, 16))
    t = np.where(np.arange(N) < rng.integers(3, N - 2), -1.0, 1.0)
    X = rng.normal(size=(N, 2)) + rng.normal(0.7, 0.3, 2) * t[:, None]
    return X, t, 10 ** rng.uniform(-1, 0.5)


def _multipliers(K: Floats, t: Floats, C: float = np.inf) -> Floats:
    return np.asarray(svm.solve(K[None], t[None], C).alpha[0])


def _primal(X: Floats, t: Floats, C: float) -> tuple[Floats, float]:
    """The weights and the smallest |w|^2 / 2 + C sum xi, with the slacks as variables, by SLSQP."""
    N, D = X.shape
    A = np.column_stack([t[:, None] * X, t, np.eye(N)])

    def objective(v: Floats) -> tuple[float, Floats]:
        gradient = np.concatenate([v[:D], [0.0], np.full(N, C)])
        return float(v[:D] @ v[:D] / 2 + C * v[D + 1 :].sum()), gradient

    found = minimize(
        objective,
        np.concatenate([np.zeros(D + 1), np.ones(N)]),
        jac=True,
        method="SLSQP",
        bounds=[(None, None)] * (D + 1) + [(0, None)] * N,
        constraints=LinearConstraint(A, np.ones(N), np.inf),
        options={"ftol": 1e-14, "maxiter": 1000},
    )
    return found.x[:D], float(found.fun)


def _widest(X: Floats, t: Floats) -> tuple[Floats, float, float]:
    """Direction, offset and half-width of the widest gap between the classes, by enumeration.

    The line is perpendicular to the segment from a point of one class to one of the other, or runs
    along that between two points of the same class.
    """
    positive, negative = X[t > 0], X[t < 0]
    across = (positive[:, None] - negative).reshape(-1, 2)
    along = [each[i] - each[j] for each in (positive, negative)
             for i, j in combinations(range(len(each)), 2)]  # fmt: skip
    turned = np.reshape(along, (-1, 2))[:, ::-1] * [1, -1]
    directions = np.concatenate([across, turned, -turned])
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    above, below = (positive @ directions.T).min(0), (negative @ directions.T).max(0)
    best = int((above - below).argmax())
    return directions[best], -(above[best] + below[best]) / 2, (above[best] - below[best]) / 2


@equation(
    "5.12",
    section="5.3.2.1",
    latex=r"\gamma = \frac{1}{\|\mathbf{w}\|}",
    within=1e-5,
)
def margin(rng: Generator) -> Sides:
    """The largest margin is one over the length of the weights that minimise |w|^2 / 2.

    The margin is found by trying every line that pairs of points determine.
    """
    X, t = _apart(rng)
    w = (_multipliers(X @ X.T, t) * t) @ X
    return Sides(truth=_widest(X, t)[2], printed=1 / np.linalg.norm(w))


@equation(
    "5.13, 5.14",
    section="5.3.2.2",
    latex=r"\mathbf{w} = \sum_{n=1}^N \alpha_n t_n \mathbf{x}_n, \quad \sum_{n=1}^N \alpha_n t_n"
    r" = 0",
    within=1e-5,
)
def weights_of_the_multipliers(rng: Generator) -> Sides:
    """The weights are the sum of the points times their labels and Lagrange multipliers.

    The widest margin by enumeration has the same weights.
    """
    X, t = _apart(rng)
    direction, _, width = _widest(X, t)
    alpha = _multipliers(X @ X.T, t)
    balance = np.sum(alpha * t) / np.sum(alpha)
    return Sides(truth=(direction / width, 0.0), printed=((alpha * t) @ X, balance))


@equation(
    "section 5.3.2.2, dual",
    section="5.3.2.2",
    latex=r"\max_{\alpha} \sum_{n=1}^N \alpha_n - \frac{1}{2} \sum_{n,m=1}^N \alpha_m \alpha_n t_m"
    r" t_n \mathbf{x}_m^T \mathbf{x}_n = \min_{\mathbf{w}} \frac{1}{2} \mathbf{w}^T \mathbf{w}",
    within=1e-5,
)
def hard_margin_dual(rng: Generator) -> Sides:
    """The largest value of the dual is the smallest value of the primal problem."""
    X, t = _apart(rng)
    alpha = _multipliers(X @ X.T, t)
    products = sum(
        alpha[m] * alpha[n] * t[m] * t[n] * (X[m] @ X[n])
        for n in range(len(t))
        for m in range(len(t))
    )
    return Sides(truth=1 / (2 * _widest(X, t)[2] ** 2), printed=np.sum(alpha) - products / 2)


@equation(
    "5.16",
    section="5.3.2.3",
    latex=r"b = t_n - \sum_{m=1}^N \alpha_m t_m \mathbf{x}_m^T \mathbf{x}_n",
    within=1e-5,
)
def bias(rng: Generator) -> Sides:
    """Any of the closest points gives b; each of them does so here."""
    X, t = _apart(rng)
    direction, offset, width = _widest(X, t)
    alpha = _multipliers(X @ X.T, t)
    closest = np.abs(t * (X @ direction + offset) - width) < 1e-9
    printed = [t[n] - np.sum(alpha * t * (X @ X[n])) for n in np.flatnonzero(closest)]
    return Sides(truth=np.full(len(printed), offset / width), printed=printed)


@equation(
    "section 5.3.2.4",
    section="5.3.2.4",
    latex=r"\operatorname{argmin}_{\mathbf{w}} \frac{1}{2} \|\mathbf{w}\|^2 \text{ s.t. }"
    r" t_n (\mathbf{w}^T \mathbf{x}_n + b) \geq 1, \; n: \alpha_n > 0",
    within=1e-5,
)
def support_vectors_suffice(rng: Generator) -> Sides:
    """The support vectors alone give the line of all points.

    The line of the support vectors is found by enumeration.
    """
    X, t = _apart(rng)
    fit = svm.solve((X @ X.T)[None], t[None])
    kept = fit.support[0]
    direction, offset, width = _widest(X[kept], t[kept])
    all_points = svm.line(fit, X[None], t[None])[0]
    return Sides(truth=all_points, printed=np.append(direction, offset) / width)


@equation(
    "comment 5.1",
    section="5.3.2.2",
    latex=r"\operatorname{argmin}_{w, \lambda} f(w) - \lambda (g(w) - a), \quad \lambda > 0, \quad"
    r" g(w) \leq a",
    corrected=r"\operatorname{argmin}_{w, \lambda} f(w) + \lambda (g(w) - a), \quad \lambda > 0,"
    r" \quad g(w) \leq a",
    cause="lagrangian-sign",
    within=1e-5,
)
def lagrangian(rng: Generator) -> Sides:
    """At a minimum under g <= a, some positive multipliers make the new objective stationary.

    The gradient of |w|^2 / 2 at the widest margin is compared with the best sum of the gradients of
    the constraints g_n = 1 - t_n (w^T x_n + b) <= 0.
    """
    X, t = _apart(rng)
    direction, _, width = _widest(X, t)
    gradients = (-t[:, None] * np.column_stack([X, np.ones(len(t))])).T
    target = np.append(direction / width, 0.0)
    return Sides(
        truth=target,
        printed=gradients @ nnls(gradients, target)[0],
        corrected=-gradients @ nnls(-gradients, target)[0],
    )


@equation(
    "exercise 5.8",
    section="5.3.2.5",
    latex=r"\max_{\alpha} \sum_{n=1}^N \alpha_n - \frac{1}{2} \sum_{n,m=1}^N \alpha_n \alpha_m t_n"
    r" t_m \mathbf{x}_n^T \mathbf{x}_m \text{ s.t. } \sum_{n=1}^N \alpha_n t_n = 0,"
    r" \; 0 \leq \alpha_n \leq C",
    within=1e-5,
)
def soft_margin_dual(rng: Generator) -> Sides:
    """The dual of the soft margin has the optimum and the weights of the problem with slacks."""
    X, t, C = _mixed(rng)
    alpha = np.clip(_multipliers(X @ X.T, t, C), 0, C)
    products = sum(
        alpha[n] * alpha[m] * t[n] * t[m] * (X[n] @ X[m])
        for n in range(len(t))
        for m in range(len(t))
    )
    w, optimum = _primal(X, t, C)
    printed = np.append((alpha * t) @ X, np.sum(alpha) - products / 2)
    return Sides(truth=np.append(w, optimum), printed=printed)


@equation(
    "section 5.3.2.5, b",
    section="5.3.2.5",
    latex=r"b = t_n - \sum_{m=1}^N \alpha_m t_m \mathbf{x}_m^T \mathbf{x}_n, \quad n ="
    r" \operatorname{argmax}_{n: \alpha_n > 0} \mathbf{w}^T \mathbf{x}_n",
    corrected=r"b = t_n - \sum_{m=1}^N \alpha_m t_m \mathbf{x}_m^T \mathbf{x}_n, \quad n: 0 <"
    r" \alpha_n < C",
    cause="bias-of-soft-margin",
    within=1e-4,
)
def soft_margin_bias(rng: Generator) -> Sides:
    """The b of a soft margin, from the support vector with the highest output.

    The other route takes the b with the smallest sum of slacks for the weights of the primal
    problem; a point between the bounds makes it unique.
    """
    while True:
        X, t, C = _mixed(rng)
        alpha = _multipliers(X @ X.T, t, C)
        free = (alpha > 1e-3 * C) & (alpha < C * (1 - 1e-3))
        if free.any():
            break
    w, _ = _primal(X, t, C)
    ends = t - X @ w
    slack = np.maximum(0, 1 - t * (X @ w + ends[:, None])).sum(1)
    output = X @ ((alpha * t) @ X)
    highest = np.where(alpha > 1e-6 * C, output, -np.inf).argmax()
    return Sides(
        truth=ends[slack.argmin()],
        printed=t[highest] - output[highest],
        corrected=t[free][0] - output[free][0],
    )


def _quadratic(X: Floats) -> Floats:
    """The transformation of which (1 + x^T y)^2 is the inner product."""
    one, (a, b) = np.ones(len(X)), X.T
    root = np.sqrt(2)
    return np.column_stack([one, root * a, root * b, a**2, b**2, root * a * b])


@equation(
    "section 5.3.2.6, dual",
    section="5.3.2.6",
    latex=r"\sum_{n=1}^N \alpha_n - \frac{1}{2} \sum_{n=1}^N \alpha_n \alpha_m t_n t_m"
    r" k(\mathbf{x}_n, \mathbf{x}_m)",
    corrected=r"\sum_{n=1}^N \alpha_n - \frac{1}{2} \sum_{n,m=1}^N \alpha_n \alpha_m t_n t_m"
    r" k(\mathbf{x}_n, \mathbf{x}_m)",
    cause="kernel-dual-sum",
    within=1e-5,
)
def kernel_dual(rng: Generator) -> Sides:
    """The largest value of the dual with a kernel is the smallest one of the primal problem.

    The primal problem is solved in the space of the polynomial kernel. The one sum as printed has
    m = n.
    """
    X, t, C = _mixed(rng)
    K = (1 + X @ X.T) ** 2
    alpha = _multipliers(K, t, C)
    total = np.sum(alpha)
    return Sides(
        truth=_primal(_quadratic(X), t, C)[1],
        printed=total - np.sum(alpha**2 * t**2 * np.diag(K)) / 2,
        corrected=total - np.sum(np.outer(alpha * t, alpha * t) * K) / 2,
    )


@equation(
    "5.15, section 5.3.2.6",
    section="5.3.2.6",
    latex=r"t_{new} = \operatorname{sign} \left( \sum_{n=1}^N \alpha_n t_n k(\mathbf{x}_n,"
    r" \mathbf{x}_{new}) + b \right)",
    within=1e-4,
)
def kernel_decision(rng: Generator) -> Sides:
    """The decision function with a kernel; the output, before the sign is taken, is compared.

    The other route has the weights of the primal problem in the space of the polynomial kernel.
    """
    X, t, C = _mixed(rng)
    fit = svm.solve(((1 + X @ X.T) ** 2)[None], t[None], C)
    new = rng.normal(size=(5, 2))
    w, _ = _primal(_quadratic(X), t, C)
    printed = ((1 + new @ X.T) ** 2) @ (fit.alpha[0] * t) + fit.bias
    return Sides(truth=_quadratic(new) @ w + fit.bias, printed=printed)
