"""Equations of PRML 8.4.5: the max-sum algorithm, against all configurations."""

import numpy as np
from numpy.random import Generator

from bythebook.experiments.core.equations import Sides, equation
from bythebook.experiments.equations._trees import FactorTree, product, random_factor_tree
from bythebook.models.types import Floats


def _to_variable(graph: FactorTree, s: int, x: int) -> Floats:
    """The message of factor s to variable x (8.93); from a leaf it is the logarithm (8.96)."""
    scope = graph.scopes[s]
    with np.errstate(divide="ignore"):  # indicators of observed states
        table = np.log(graph.tables[s])
    for axis, m in enumerate(scope):
        if m != x:
            shape = [-1 if a == axis else 1 for a in range(len(scope))]
            table = table + _to_factor(graph, m, s).reshape(shape)
    return np.asarray(table.max(tuple(a for a, m in enumerate(scope) if m != x)))


def _to_factor(graph: FactorTree, x: int, s: int) -> Floats:
    """The message of variable x to factor s (8.94); from a leaf it is zero (8.95)."""
    message = np.zeros(graph.sizes[x])
    for other, scope in enumerate(graph.scopes):
        if x in scope and other != s:
            message = message + _to_variable(graph, other, x)
    return message


def _at_root(graph: FactorTree, x: int) -> Floats:
    """The sum of all messages that arrive at a variable."""
    return np.asarray(
        np.sum([_to_variable(graph, s, x) for s, of in enumerate(graph.scopes) if x in of], 0)
    )


def _largest(table: Floats, x: int) -> Floats:
    """The largest entry for each state of one variable."""
    return np.asarray(table.max(tuple(a for a in range(table.ndim) if a != x)))


@equation(
    "8.93 to 8.96",
    section="8.4.5",
    latex=r"\mu_{f \rightarrow x}(x) = \max_{x_1, \ldots, x_M} \left[ \ln f(x, x_1, \ldots, x_M)"
    r" + \sum_{m \in \text{ne}(f_s) \setminus x} \mu_{x_m \rightarrow f}(x_m) \right], \quad"
    r" \mu_{x \rightarrow f}(x) = \sum_{l \in \text{ne}(x) \setminus f} \mu_{f_l \rightarrow x}(x)",
)
def max_messages(rng: Generator) -> Sides:
    """The sum of the messages to any variable is the log maximum over all other variables."""
    graph = random_factor_tree(rng)
    x = int(rng.integers(len(graph.sizes)))
    return Sides(truth=_largest(np.log(product(graph)), x), printed=_at_root(graph, x))


@equation(
    "8.97",
    section="8.4.5",
    latex=r"p^{\max} = \max_x \left[ \sum_{s \in \text{ne}(x)} \mu_{f_s \rightarrow x}(x) \right]",
    corrected=r"\ln p^{\max} = \max_x \left[ \sum_{s \in \text{ne}(x)} \mu_{f_s \rightarrow x}(x)"
    r" \right]",
    cause="log-lost-at-the-root",
)
def largest_probability(rng: Generator) -> Sides:
    """The maximum of the joint distribution from the messages at a random root."""
    graph = random_factor_tree(rng)
    x = int(rng.integers(len(graph.sizes)))
    found = _at_root(graph, x).max()
    return Sides(truth=product(graph).max(), printed=found, corrected=np.exp(found))


@equation(
    "8.99 to 8.102",
    section="8.4.5",
    latex=r"\phi(x_n) = \operatorname{argmax}_{x_{n-1}} \left[ \ln f_{n-1,n}(x_{n-1}, x_n)"
    r" + \mu_{x_{n-1} \rightarrow f_{n-1,n}}(x_n) \right], \quad"
    r" x_{n-1}^{\max} = \phi(x_n^{\max})",
    corrected=r"\phi(x_n) = \operatorname{argmax}_{x_{n-1}} \left[ \ln f_{n-1,n}(x_{n-1}, x_n)"
    r" + \mu_{x_{n-1} \rightarrow f_{n-1,n}}(x_{n-1}) \right], \quad"
    r" x_{n-1}^{\max} = \phi(x_n^{\max})",
    cause="argument-of-the-message",
)
def back_tracking(rng: Generator) -> Sides:
    """The log probability of the configuration that back-tracking finds on a chain.

    The printed messages have the argument of the next variable in (8.101) only; the message along
    the chain before (8.99) is the right one in both.
    """
    N, K = int(rng.integers(4, 7)), int(rng.integers(2, 5))
    log_f = np.log(rng.uniform(0.1, 2, (N - 1, K, K)))
    messages = [np.zeros(K)]
    for table in log_f:
        messages.append((table + messages[-1][:, None]).max(0))

    def score(as_printed: bool) -> float:
        states = [int(messages[-1].argmax())]  # 8.100
        for n in range(N - 2, -1, -1):
            last = states[-1]
            past = messages[n][last] if as_printed else messages[n]
            states.append(int((log_f[n][:, last] + past).argmax()))
        return float(sum(log_f[n][states[N - 1 - n], states[N - 2 - n]] for n in range(N - 1)))

    table = log_f[0]
    for other in log_f[1:]:
        table = table[..., None] + other
    return Sides(truth=table.max(), printed=score(True), corrected=score(False))


@equation(
    "section 8.4.5, observed variables",
    section="8.4.5",
    latex=r"\max_{\mathbf{h}} \ln p(\mathbf{h}, \mathbf{v} = \hat{\mathbf{v}}) ="
    r" \max_x \left[ \sum_{s \in \text{ne}(x)} \mu_{f_s \rightarrow x}(x) \right]",
)
def clamped_maximum(rng: Generator) -> Sides:
    """The maximum over the hidden variables, with an indicator of an observed state."""
    graph = random_factor_tree(rng)
    v, x = rng.choice(len(graph.sizes), 2, replace=False).tolist()
    state = int(rng.integers(graph.sizes[v]))
    seen = (np.arange(graph.sizes[v]) == state).astype(float)
    clamped = FactorTree(graph.sizes, (*graph.scopes, (v,)), (*graph.tables, seen))
    truth = np.log(product(graph).take(state, v).max())
    return Sides(truth=truth, printed=_at_root(clamped, x).max())
