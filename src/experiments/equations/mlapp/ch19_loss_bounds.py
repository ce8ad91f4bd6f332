"""Equations of MLAPP 19.7, bounds on the expected loss of structured outputs."""

from typing import NamedTuple

import numpy as np
from numpy.random import Generator
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from bythebook.experiments.core.equations import Sides, equation
from bythebook.models.types import Floats, Ints


class _Case(NamedTuple):
    """Features phi(x_i, y), labels, and log losses L~(y_i, y); E(w) = |w|^2 / 2."""

    phi: Floats  # (N, Y, D)
    y: Ints  # (N,)
    log_loss: Floats  # (N, Y)
    w: Floats  # (D,)

    @property
    def own(self) -> tuple[Ints, Ints]:
        return np.arange(len(self.y)), self.y


def _case(rng: Generator) -> _Case:
    N, Y, D = (int(n) for n in rng.integers([2, 2, 1], [7, 6, 5]))
    y, w = rng.integers(0, Y, N), rng.normal(size=D) * rng.uniform(0.3, 2)
    case = _Case(rng.normal(size=(N, Y, D)), y, rng.normal(size=(N, Y)), w)
    case.log_loss[case.own] -= 2  # the right label has the lowest loss
    return case


def _risk(case: _Case, w: Floats) -> float:
    """R_EL of (19.80), up to the constant of the prior, from probabilities."""
    score = np.exp(case.phi @ w)
    p = score / score.sum(1, keepdims=True)
    return float(w @ w / 2 + np.log((np.exp(case.log_loss) * p).sum(1)).sum())


def _structured(case: _Case, w: Floats) -> float:
    """The right side of (19.89)."""
    score = case.phi @ w
    return float(w @ w / 2 + ((case.log_loss + score).max(1) - score[case.own]).sum())


@equation(
    "19.85",
    section="19.7.1",
    latex=r"\max_y f(y) \leq \log \sum_y \exp[f(y)] \leq \log |\mathcal{Y}| + \max_y f(y)",
)
def log_sum_exp_bounds(rng: Generator) -> Sides:
    """The bounds on a log of summed exponentials: cutting it off at them changes nothing.

    In half of the cases one bound is almost reached: scores far apart, or almost equal.
    """
    f = rng.normal(0, rng.choice([1e-6, 1, 30]), int(rng.integers(2, 50)))
    truth = np.log(np.exp(f - 3).sum()) + 3
    printed = np.clip(truth, f.max(), np.log(len(f)) + f.max())
    return Sides(truth=truth, printed=printed)


@equation(
    "19.86",
    section="19.7.1",
    latex=r"2 = \log[\exp(2)] \leq \log[\exp(0) + \exp(1) + \exp(2)] \leq \log(3) + 2, \quad"
    r" 1 = \log[\exp(1)] \leq \log[\exp(0) + \exp(1) + \exp(2)]",
)
def log_sum_exp_example(_: Generator) -> Sides:
    """The example of three labels: all three bounds hold."""
    truth = float(logsumexp([0, 1, 2]))
    return Sides(truth=truth, printed=min(max(truth, 2, 1), np.log(3) + 2))


@equation(
    "19.88",
    section="19.7.1",
    latex=r"f(y') \leq \log \sum_y \exp[f(y)]",
)
def single_label_bound(rng: Generator) -> Sides:
    """The looser lower bound by any one label, and not the largest."""
    f = rng.normal(0, rng.uniform(0.1, 5), int(rng.integers(2, 50)))
    truth = np.log(np.exp(f - 3).sum()) + 3
    return Sides(truth=np.full(len(f), truth), printed=np.maximum(truth, f))


@equation(
    "19.83, 19.84",
    section="19.7.1",
    latex=r"R_{EL}(\mathbf{w}) = E(\mathbf{w}) + \sum_i -\log Z(\mathbf{x}_i, \mathbf{w}) + \log"
    r" \sum_{\mathbf{y}} \exp \left( \tilde{L}(\mathbf{y}_i, \mathbf{y}) + \mathbf{w}^T"
    r" \mathbf{\phi}(\mathbf{x}_i, \mathbf{y}) \right)",
)
def expected_loss(rng: Generator) -> Sides:
    """The expected loss (19.80) rewritten, against the sum over probabilities."""
    case = _case(rng)
    score = case.phi @ case.w
    each = -logsumexp(score, axis=1) + logsumexp(case.log_loss + score, axis=1)
    return Sides(truth=_risk(case, case.w), printed=case.w @ case.w / 2 + each.sum())


@equation(
    "19.87",
    section="19.7.1",
    latex=r"R_{EL}(\mathbf{w}) \sim E(\mathbf{w}) + \sum_{i=1}^N \left[ \max_{\mathbf{y}} \left\{"
    r" \tilde{L}(\mathbf{y}_i, \mathbf{y}) + \mathbf{w}^T \mathbf{\phi}(\mathbf{x}_i, \mathbf{y})"
    r" \right\} - \max_{\mathbf{y}} \mathbf{w}^T \mathbf{\phi}(\mathbf{x}_i, \mathbf{y}) \right]",
)
def difference_of_maxima(rng: Generator) -> Sides:
    """The expected loss is the difference of two maxima, up to N log |Y| on either side."""
    case = _case(rng)
    score = case.phi @ case.w
    value = case.w @ case.w / 2 + ((case.log_loss + score).max(1) - score.max(1)).sum()
    constant, truth = len(case.y) * np.log(case.phi.shape[1]), _risk(case, case.w)
    return Sides(truth=truth, printed=np.clip(truth, value - constant, value + constant))


@equation(
    "section 19.7.1, (19.87) is not convex",
    section="19.7.1",
    latex=r"R \left( \frac{\mathbf{w}_1 + \mathbf{w}_2}{2} \right) > \frac{R(\mathbf{w}_1)"
    r" + R(\mathbf{w}_2)}{2} \; \text{for some} \; \mathbf{w}_1, \mathbf{w}_2",
)
def not_convex(rng: Generator) -> Sides:
    """Two weights between which the objective (19.87) is above its chord; 1 if a pair is found."""
    case = _case(rng)
    w = rng.normal(0, 3, (3000, 2, len(case.w)))

    def objective(at: Floats) -> Floats:
        score = np.einsum("nyd,...d->...ny", case.phi, at)
        maxima = (case.log_loss + score).max(-1) - score.max(-1)
        return np.asarray((at**2).sum(-1) / 2 + maxima.sum(-1))

    scale = np.geomspace(1e-3, 1, 3000)[:, None, None]
    w = np.concatenate([w[:, :1] * scale, w[:, 1:] * scale], axis=1)
    rise = objective(w.mean(1)) - objective(w).mean(1)
    return Sides(truth=float((rise > 1e-9).any()), printed=1.0)


@equation(
    "19.89",
    section="19.7.1",
    latex=r"R_{EL}(\mathbf{w}) \leq E(\mathbf{w}) + \sum_{i=1}^N \left[ \max_{\mathbf{y}} \left\{"
    r" \tilde{L}(\mathbf{y}_i, \mathbf{y}) + \mathbf{w}^T \mathbf{\phi}(\mathbf{x}_i, \mathbf{y})"
    r" \right\} - \mathbf{w}^T \mathbf{\phi}(\mathbf{x}_i, \mathbf{y}_i) \right]",
)
def convex_upper_bound(rng: Generator) -> Sides:
    """The objective (19.89) is convex, and an upper bound up to the constant N log |Y|.

    The text ignores this constant where it introduces the first bound.
    """
    case = _case(rng)
    constant, truth = len(case.y) * np.log(case.phi.shape[1]), _risk(case, case.w)
    other = rng.normal(0, 2, len(case.w))
    middle = _structured(case, (case.w + other) / 2)
    chord = (_structured(case, case.w) + _structured(case, other)) / 2
    bound = _structured(case, case.w) + constant
    return Sides(truth=(truth, middle), printed=(min(truth, bound), min(middle, chord)))


@equation(
    "section 19.7.1, 0-1 loss",
    section="19.7.1",
    latex=r"L = 1 - \delta_{\mathbf{y}, \mathbf{y}_i}: \quad R_{EL}(\mathbf{w})"
    r" = -\log p(\mathbf{w}) - \sum_{i=1}^N \log p(\mathbf{y}_i|\mathbf{x}_i, \mathbf{w})",
    corrected=r"L = 1 - \delta_{\mathbf{y}, \mathbf{y}_i}: \quad R_{EL}(\mathbf{w})"
    r" = -\log p(\mathbf{w}) + \sum_{i=1}^N \log (1 - p(\mathbf{y}_i|\mathbf{x}_i, \mathbf{w}))",
    cause="zero-one-loss-is-not-the-likelihood",
)
def zero_one_loss(rng: Generator) -> Sides:
    """The expected loss (19.80) for 0-1 loss, summed over the labels."""
    case = _case(rng)
    score = np.exp(case.phi @ case.w)
    p = score / score.sum(1, keepdims=True)
    loss = (np.arange(p.shape[1]) != case.y[:, None]).astype(float)
    square, own = case.w @ case.w / 2, p[case.own]
    return Sides(
        truth=square + np.log((loss * p).sum(1)).sum(),
        printed=square - np.log(own).sum(),
        corrected=square + np.log(1 - own).sum(),
    )


@equation(
    "19.82, before 19.90",
    section="19.7.1",
    latex=r"p(\mathbf{w}) = \exp(-E(\mathbf{w})) / Z, \quad"
    r" E(\mathbf{w}) = -\frac{1}{2 C} \|\mathbf{w}\|_2^2",
    corrected=r"p(\mathbf{w}) = \exp(-E(\mathbf{w})) / Z, \quad"
    r" E(\mathbf{w}) = \frac{1}{2 C} \|\mathbf{w}\|_2^2",
    cause="energy-with-a-minus",
)
def energy_of_the_prior(rng: Generator) -> Sides:
    """The energy of a spherical Gaussian prior, as minus its log density up to a constant."""
    D, C = int(rng.integers(1, 5)), rng.uniform(0.3, 4)
    w = rng.normal(0, 2, (5, D))
    truth, square = -multivariate_normal(np.zeros(D), C * np.eye(D)).logpdf(w), (w**2).sum(1)
    sides = truth, -square / (2 * C), square / (2 * C)
    return Sides(*(side[1:] - side[0] for side in sides))


@equation(
    "19.90",
    section="19.7.1",
    latex=r"R_{SSVM}(\mathbf{w}) = \frac{1}{2} \|\mathbf{w}\|^2 + C \sum_{i=1}^N \left["
    r" \max_{\mathbf{y}} \left\{ \tilde{L}(\mathbf{y}_i, \mathbf{y}) + \mathbf{w}^T"
    r" \mathbf{\phi}(\mathbf{x}_i, \mathbf{y}) \right\} - \mathbf{w}^T \mathbf{\phi}(\mathbf{x}_i,"
    r" \mathbf{y}_i) \right]",
)
def structured_objective(rng: Generator) -> Sides:
    """The objective of the structured SVM is C times (19.89), with the corrected energy.

    The sum over examples is a loop over the labels.
    """
    case, C = _case(rng), rng.uniform(0.3, 4)
    slack = 0.0
    for phi, y, log_loss in zip(case.phi, case.y, case.log_loss, strict=True):
        slack += max(log_loss[k] + case.w @ (phi[k] - phi[y]) for k in range(len(phi)))
    energy = -np.log(np.exp(-(case.w**2) / (2 * C))).sum()
    score = case.phi @ case.w
    hinge = ((case.log_loss + score).max(1) - score[case.own]).sum()
    return Sides(truth=C * (energy + slack), printed=1 / 2 * case.w @ case.w + C * hinge)


@equation(
    "19.91",
    section="19.7.1",
    latex=r"L(y^*, y) = 1 - \delta_{y, y^*}: \quad R_{SVM}(\mathbf{w}) = \frac{1}{2}"
    r" \|\mathbf{w}\|^2 + C \sum_{i=1}^N \max\{0, 1 - y_i \mathbf{w}^T \mathbf{x}_i\}",
    corrected=r"\tilde{L}(y^*, y) = 1 - \delta_{y, y^*}: \quad R_{SVM}(\mathbf{w}) = \frac{1}{2}"
    r" \|\mathbf{w}\|^2 + C \sum_{i=1}^N \max\{0, 1 - y_i \mathbf{w}^T \mathbf{x}_i\}",
    cause="loss-without-its-tilde",
)
def binary_objective(rng: Generator) -> Sides:
    """The criterion (19.90) with two labels, for 0-1 loss as L and as its logarithm.

    For 0-1 loss as L the logarithm of the loss of the right label is minus infinity.
    """
    N, D, C = int(rng.integers(2, 8)), int(rng.integers(1, 5)), rng.uniform(0.3, 4)
    x, w, y = rng.normal(size=(N, D)), rng.normal(size=D), rng.choice([-1, 1], N)
    hinge = w @ w / 2 + C * np.maximum(0, 1 - y * (x @ w)).sum()

    def criterion(of_right: float, of_wrong: float) -> float:
        own, other = y * (x @ w) / 2, -y * (x @ w) / 2
        best = np.maximum(of_right + own, of_wrong + other)
        return float(w @ w / 2 + C * (best - own).sum())

    return Sides(truth=hinge, printed=criterion(-np.inf, 0.0), corrected=criterion(0.0, 1.0))


@equation(
    "section 19.7.1, large weights",
    section="19.7.1",
    latex=r"\|\mathbf{w}\| \rightarrow \infty: \quad E(\mathbf{w}) + \sum_{i=1}^N \left["
    r" \max_{\mathbf{y}} \left\{ \tilde{L} + \mathbf{w}^T \mathbf{\phi} \right\} - \mathbf{w}^T"
    r" \mathbf{\phi}(\mathbf{x}_i, \mathbf{y}_i) \right] - R_{EL}(\mathbf{w}) \rightarrow 0",
    within=1e-7,
)
def tight_for_large_weights(rng: Generator) -> Sides:
    """The bound (19.89) is tight for large weights that classify every example correctly.

    With one example that is misclassified the gap grows with the weights instead.
    """
    case = _case(rng)
    unit = case.w / np.linalg.norm(case.w)
    case.phi[case.own] += unit * (1 + np.ptp(case.phi @ unit))  # the right label has most
    large = 300 * unit
    return Sides(truth=_risk_of(case, large), printed=_structured(case, large))


def _risk_of(case: _Case, w: Floats) -> float:
    """R_EL from differences of scores, which do not overflow."""
    score = case.phi @ w
    off = score - score.max(1, keepdims=True)
    p = np.exp(off) / np.exp(off).sum(1, keepdims=True)
    return float(w @ w / 2 + np.log((np.exp(case.log_loss) * p).sum(1)).sum())
