"""Equations of FCML 1.1 to 1.3: the line of least squares, by averages and by matrices."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats


def _points(rng: Generator) -> tuple[Floats, Floats]:
    """Inputs and targets of a random number of points."""
    N = int(rng.integers(4, 15))
    return rng.normal(1, 2, N), rng.normal(-1, 3, N)


def _loss(w: Floats, x: Floats, t: Floats) -> Floats:
    """The average squared loss (1.3) of lines with weights w (..., 2)."""
    fitted = w[..., :1] + w[..., 1:] * x
    return np.asarray(np.mean((t - fitted) ** 2, axis=-1))


def _slopes(w: Floats, x: Floats, t: Floats) -> Floats:
    """Differences of the loss, which is quadratic, in each weight."""
    return (_loss(w + np.eye(2), x, t) - _loss(w - np.eye(2), x, t)) / 2


@equation(
    "1.1",
    section="1.1.2",
    latex=r"t = f(x; w_0, w_1) = w_0 + w_1 x",
)
def line(rng: Generator) -> Sides:
    """A line has the intercept and the gradient that its two weights say.

    The polynomial of order one through two of its points is computed by another library.
    """
    w, x = rng.normal(0, 3, 2), rng.normal(0, 2, 2)
    return Sides(truth=np.polyfit(x, w[0] + w[1] * x, 1)[::-1], printed=w)


@equation(
    "1.8, 1.10",
    section="1.1.4",
    latex=r"\hat{w}_0 = \bar{t} - w_1 \bar{x}, \quad \hat{w}_1 = \frac{\overline{xt} - \bar{x}"
    r" \bar{t}}{\overline{x^2} - (\bar{x})^2}",
)
def line_by_averages(rng: Generator) -> Sides:
    """The weights of the least-squares line are ratios of averages."""
    x, t = _points(rng)
    slope = (np.mean(x * t) - x.mean() * t.mean()) / (np.mean(x**2) - x.mean() ** 2)
    truth = np.linalg.lstsq(np.column_stack([np.ones_like(x), x]), t, rcond=None)[0]
    return Sides(truth=truth, printed=np.array([t.mean() - slope * x.mean(), slope]))


@equation(
    "1.5",
    section="1.1.4",
    latex=r"L = \frac{1}{N} \sum_{n=1}^N (w_1^2 x_n^2 + 2 w_1 x_n (w_0 - t_n) + w_0^2"
    r" - 2 w_0 t_n + t_n^2)",
)
def loss_in_sums(rng: Generator) -> Sides:
    """The average loss of a line, multiplied out."""
    (x, t), w = _points(rng), rng.normal(size=2)
    terms = w[1] ** 2 * x**2 + 2 * w[1] * x * (w[0] - t) + w[0] ** 2 - 2 * w[0] * t + t**2
    return Sides(truth=_loss(w, x, t), printed=terms.mean())


@equation(
    "1.6, 1.7",
    section="1.1.4",
    latex=r"\frac{\partial L}{\partial w_1} = 2 w_1 \frac{1}{N} \sum_n x_n^2 + \frac{2}{N} \sum_n"
    r" x_n (w_0 - t_n), \quad \frac{\partial L}{\partial w_0} = 2 w_0 + 2 w_1 \frac{1}{N} \sum_n"
    r" x_n - \frac{2}{N} \sum_n t_n",
)
def loss_derivatives(rng: Generator) -> Sides:
    """The derivatives of the average loss in the two weights of a line."""
    (x, t), w = _points(rng), rng.normal(size=2)
    by_w1 = 2 * w[1] * np.mean(x**2) + 2 * np.mean(x * (w[0] - t))
    by_w0 = 2 * w[0] + 2 * w[1] * x.mean() - 2 * t.mean()
    return Sides(truth=_slopes(w, x, t), printed=np.array([by_w0, by_w1]))


@equation(
    "1.9",
    section="1.1.4",
    latex=r"\frac{\partial^2 L}{\partial w_1^2} = \frac{2}{N} \sum_{n=1}^N x_n^2, \quad"
    r" \frac{\partial^2 L}{\partial w_0^2} = 2",
)
def loss_curvatures(rng: Generator) -> Sides:
    """The second derivatives of the average loss in the two weights of a line."""
    (x, t), w = _points(rng), rng.normal(size=2)
    steps = np.eye(2)
    second = _loss(w + steps, x, t) - 2 * _loss(w, x, t) + _loss(w - steps, x, t)
    return Sides(truth=second, printed=np.array([2.0, 2 * np.mean(x**2)]))


@equation(
    "1.13, 1.14",
    section="1.3",
    latex=r"L = \frac{1}{N} (\mathbf{t} - \mathbf{Xw})^T (\mathbf{t} - \mathbf{Xw}) = \frac{1}{N}"
    r" \mathbf{w}^T \mathbf{X}^T \mathbf{Xw} - \frac{2}{N} \mathbf{w}^T \mathbf{X}^T \mathbf{t}"
    r" + \frac{1}{N} \mathbf{t}^T \mathbf{t}",
)
def loss_in_matrices(rng: Generator) -> Sides:
    """The average loss in matrices, as a product and multiplied out in the last line of 1.14."""
    (x, t), w = _points(rng), rng.normal(size=2)
    X, N = np.column_stack([np.ones_like(x), x]), len(t)
    product = (t - X @ w) @ (t - X @ w) / N
    multiplied = w @ X.T @ X @ w / N - 2 / N * w @ X.T @ t + t @ t / N
    truth = _loss(w, x, t)
    return Sides(truth=(truth, truth), printed=(product, multiplied))


@equation(
    "1.14, second line",
    section="1.3",
    latex=r"L = ((\mathbf{Xw})^T - \mathbf{t}^T) (\mathbf{Xw} - \mathbf{t})",
    corrected=r"L = \frac{1}{N} ((\mathbf{Xw})^T - \mathbf{t}^T) (\mathbf{Xw} - \mathbf{t})",
    cause="brackets-without-1-over-n",
)
def product_of_brackets(rng: Generator) -> Sides:
    """The average loss as the product of two brackets."""
    (x, t), w = _points(rng), rng.normal(size=2)
    difference = np.column_stack([np.ones_like(x), x]) @ w - t
    product = difference @ difference
    return Sides(truth=_loss(w, x, t), printed=product, corrected=product / len(t))


@equation(
    "section 1.3, derivative in averages",
    section="1.3",
    latex=r"\frac{\partial L}{\partial w_1} = 2 w_0 \bar{x} + 2 w_1 \overline{x^2} - 2 \bar{t}",
    corrected=r"\frac{\partial L}{\partial w_1} = 2 w_0 \bar{x} + 2 w_1 \overline{x^2}"
    r" - 2 \overline{xt}",
    cause="slope-without-its-inputs",
)
def derivative_in_averages(rng: Generator) -> Sides:
    """The derivative of the matrix loss in the slope, written with averages."""
    (x, t), w = _points(rng), rng.normal(size=2)
    common = 2 * w[0] * x.mean() + 2 * w[1] * np.mean(x**2)
    return Sides(
        truth=_slopes(w, x, t)[1],
        printed=common - 2 * t.mean(),
        corrected=common - 2 * np.mean(x * t),
    )


@equation(
    "1.15, 1.16",
    section="1.3",
    latex=r"\frac{\partial L}{\partial \mathbf{w}} = \frac{2}{N} \mathbf{X}^T \mathbf{Xw} -"
    r" \frac{2}{N} \mathbf{X}^T \mathbf{t}, \quad \hat{\mathbf{w}} = (\mathbf{X}^T"
    r" \mathbf{X})^{-1} \mathbf{X}^T \mathbf{t}",
)
def normal_equations(rng: Generator) -> Sides:
    """The gradient of the loss in matrices, and the weights where it is zero.

    The gradient is compared with differences, the weights with those of an SVD.
    """
    (x, t), w = _points(rng), rng.normal(size=2)
    X, N = np.column_stack([np.ones_like(x), x]), len(t)
    gradient = 2 / N * X.T @ X @ w - 2 / N * X.T @ t
    best = np.linalg.inv(X.T @ X) @ X.T @ t
    truth = _slopes(w, x, t), np.linalg.lstsq(X, t, rcond=None)[0]
    return Sides(truth=truth, printed=(gradient, best))


def _differences(form: Floats, w: Floats) -> Floats:
    """Differences of w^T C w, which is quadratic, in each element of w."""
    steps = np.eye(len(w))
    up, down = (np.einsum("ki,ij,kj->k", v, form, v) for v in (w + steps, w - steps))
    return np.asarray((up - down) / 2)


@equation(
    "table 1.4, inner product and squared length",
    section="1.3",
    latex=r"\frac{\partial}{\partial \mathbf{w}} \mathbf{w}^T \mathbf{x} = \mathbf{x}, \quad"
    r" \frac{\partial}{\partial \mathbf{w}} \mathbf{w}^T \mathbf{w} = 2 \mathbf{w}",
)
def gradients_of_products(rng: Generator) -> Sides:
    """The gradients of an inner product and of a squared length."""
    D = int(rng.integers(2, 6))
    w, x = rng.normal(size=(2, D))
    steps = np.eye(D)
    inner = ((w + steps) @ x - (w - steps) @ x) / 2
    return Sides(truth=(inner, _differences(np.eye(D), w)), printed=(x, 2 * w))


@equation(
    "table 1.4, quadratic form",
    section="1.3",
    latex=r"\frac{\partial}{\partial \mathbf{w}} \mathbf{w}^T \mathbf{Cw} = 2 \mathbf{Cw}",
    corrected=r"\frac{\partial}{\partial \mathbf{w}} \mathbf{w}^T \mathbf{Cw} = (\mathbf{C}"
    r" + \mathbf{C}^T) \mathbf{w}",
    cause="gradient-of-any-form",
)
def gradient_of_a_form(rng: Generator) -> Sides:
    """The gradient of a quadratic form of any square matrix."""
    D = int(rng.integers(2, 6))
    w, C = rng.normal(size=D), rng.normal(size=(D, D))
    return Sides(truth=_differences(C, w), printed=2 * C @ w, corrected=(C + C.T) @ w)


@equation(
    "comment 1.7",
    section="1.3",
    latex=r"\mathbf{AB} = [a_{11} b_{1j} + a_{12} b_{2j}; \; a_{11} b_{1j} + a_{12} b_{2j}]",
    corrected=r"\mathbf{AB} = [a_{11} b_{1j} + a_{12} b_{2j}; \; a_{21} b_{1j} + a_{22} b_{2j}]",
    cause="product-repeats-a-row",
)
def product_of_matrices(rng: Generator) -> Sides:
    """The example of a product of a 2 x 2 and a 2 x 3 matrix, row by row."""
    A, B = rng.normal(size=(2, 2)), rng.normal(size=(2, 3))
    first = A[0, 0] * B[0] + A[0, 1] * B[1]
    second = A[1, 0] * B[0] + A[1, 1] * B[1]
    truth = np.einsum("ik,kj->ij", A, B)
    return Sides(truth=truth, printed=np.stack([first, first]), corrected=np.stack([first, second]))


@equation(
    "exercise 1.3",
    section="1.7",
    latex=r"\mathbf{w}^T \mathbf{X}^T \mathbf{Xw} = w_0^2 \sum_n X_{n0}^2 + 2 w_0 w_1 \sum_n"
    r" X_{n0} X_{n1} + w_1^2 \sum_n X_{n1}^2",
)
def form_in_sums(rng: Generator) -> Sides:
    """The quadratic form of the Gram matrix is the squared length of the fitted values."""
    X, w = rng.normal(size=(int(rng.integers(3, 9)), 2)), rng.normal(size=2)
    sums = np.sum(X[:, 0] ** 2), np.sum(X[:, 0] * X[:, 1]), np.sum(X[:, 1] ** 2)
    printed = w[0] ** 2 * sums[0] + 2 * w[0] * w[1] * sums[1] + w[1] ** 2 * sums[2]
    return Sides(truth=np.linalg.norm(X @ w) ** 2, printed=printed)


@equation(
    "exercise 1.10, exercise 1.11",
    section="1.7",
    latex=r"\hat{\mathbf{w}} = (\mathbf{X}^T \mathbf{A} \mathbf{X})^{-1} \mathbf{X}^T \mathbf{A}"
    r" \mathbf{t}, \quad \mathbf{A} = diag(\alpha_1, \dots, \alpha_N)",
)
def weighted_least_squares(rng: Generator) -> Sides:
    """The weights that minimise a total loss in which each point has a weight of its own.

    The other route is the SVD of rows scaled by the square roots of the weights.
    """
    x, t = _points(rng)
    alpha, X = rng.uniform(0.1, 5, len(t)), np.column_stack([np.ones_like(x), x])
    root = np.sqrt(alpha)
    truth = np.linalg.lstsq(X * root[:, None], t * root, rcond=None)[0]
    printed = np.linalg.solve(X.T @ np.diag(alpha) @ X, X.T @ np.diag(alpha) @ t)
    return Sides(truth=truth, printed=printed)
