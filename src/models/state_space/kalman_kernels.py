"""The recursions of `bythebook.models.state_space.kalman`, compiled, of R models and S series.

Each kernel writes into arrays that the caller has allocated, and names the plain NumPy that it
computes: a reference recursion in `kalman`, or a function of NumPy. The kernels share a file
because numba's cache recompiles a kernel when its own file has changed, not when another file has.
"""

import numpy as np

from bythebook.models.compiled import compiled
from bythebook.models.types import Floats, Ints


@compiled
def forward_covariances(
    A: Floats,
    Gamma: Floats,
    C: Floats,
    Sigma: Floats,
    V0: Floats,
    P: Floats,
    V: Floats,
    K: Floats,
    L: Floats,
) -> None:
    """Write P, V and K, and L with L L^T = cov[x_n | x_1..x_{n-1}], each (R, N, ., .).

    They are the covariances of `kalman.kalman_filter_reference`: those of `kalman.predict` and
    `kalman.update` in turn.
    """
    N, M, D = K.shape[1:]
    AV, CP, KSigma, keepP = np.empty((M, M)), np.empty((D, M)), np.empty((M, D)), np.empty((M, M))
    S, keep, noise, zero = np.empty((D, D)), np.empty((M, M)), np.empty((M, M)), np.zeros((M, M))
    for r in range(len(A)):
        _copy(V0[r], P[r, 0])
        for n in range(N):
            if n > 1 and _same(P[r, n - 1], P[r, n - 2]):  # converged: all later steps are equal
                for result in (P, V, K, L):
                    _copy(result[r, n - 1], result[r, n])
                continue
            if n > 0:
                _sandwich(A[r], V[r, n - 1], Gamma[r], AV, P[r, n])  # (13.88)
            _sandwich(C[r], P[r, n], Sigma[r], CP, S)
            _cholesky(S, L[r, n])
            _solve(S, CP)
            _copy(CP.T, K[r, n])  # (13.92)
            _multiply(K[r, n], C[r], keep)
            for i in range(M):
                for j in range(M):
                    keep[i, j] = (i == j) - keep[i, j]
            _sandwich(K[r, n], Sigma[r], zero, KSigma, noise)
            _sandwich(keep, P[r, n], noise, keepP, V[r, n])  # (13.90) in Joseph's form


@compiled
def forward_means(
    A: Floats,
    C: Floats,
    K: Floats,
    L: Floats,
    log_peak: Floats,
    x: Floats,
    owner: Ints,
    ahead: Floats,
    mean: Floats,
    log_c: Floats,
) -> None:
    """Write predicted and filtered means (S, N, M), and ln c_n (S, N), for ahead_1 = mu0.

    They are the means of `kalman.kalman_filter_reference`, and its log_c.
    """
    N, M, D = K.shape[1:]
    surprise = np.empty(D)
    for s in range(len(x)):
        r = owner[s]
        for n in range(N):
            if n > 0:
                for i in range(M):
                    ahead[s, n, i] = _dot(A[r, i], mean[s, n - 1])  # (13.87)
            for d in range(D):
                surprise[d] = x[s, n, d] - _dot(C[r, d], ahead[s, n])
            for i in range(M):
                mean[s, n, i] = ahead[s, n, i] + _dot(K[r, n, i], surprise)  # (13.89)
            log_c[s, n] = log_peak[r, n]
            for d in range(D):  # L^-1 times the innovation has unit covariance
                surprise[d] -= _dot(L[r, n, d, :d], surprise[:d])
                surprise[d] /= L[r, n, d, d]
                log_c[s, n] -= 0.5 * surprise[d] ** 2  # (13.91)


@compiled
def backward_covariances(
    A: Floats, P: Floats, V: Floats, J: Floats, cov: Floats, lag_one: Floats
) -> None:
    """Write J, the smoothed covariances and those of neighbours in time, each (R, ., M, M).

    They are the covariances of `kalman.rts_smoother_reference`.
    """
    R, N, M = V.shape[:3]
    AV, JE, work = np.empty((M, M)), np.empty((M, M)), np.empty((M, M))
    for r in range(R):
        _copy(V[r, N - 1], cov[r, N - 1])
        for n in range(N - 2, -1, -1):
            if (
                n < N - 2
                and _same(V[r, n], V[r, n + 1])
                and _same(P[r, n + 1], P[r, n + 2])
                and _same(cov[r, n + 1], cov[r, n + 2])
            ):
                for result in (J, cov, lag_one):
                    _copy(result[r, n + 1], result[r, n])
                continue
            _multiply(A[r], V[r, n], AV)
            _copy(P[r, n + 1], work)
            _solve(work, AV)
            _copy(AV.T, J[r, n])  # (13.102)
            for i in range(M):
                for j in range(M):
                    work[i, j] = cov[r, n + 1, i, j] - P[r, n + 1, i, j]
            _sandwich(J[r, n], work, V[r, n], JE, cov[r, n])  # (13.101)
            _multiply(cov[r, n + 1], AV, lag_one[r, n])  # (13.104), transposed


@compiled
def backward_means(J: Floats, ahead: Floats, owner: Ints, mean: Floats) -> None:
    """Write smoothed means over filtered ones (S, N, M): `kalman.rts_smoother_reference`."""
    S, N, M = mean.shape
    gap = np.empty(M)
    for s in range(S):
        for n in range(N - 2, -1, -1):
            for i in range(M):
                gap[i] = mean[s, n + 1, i] - ahead[s, n + 1, i]
            for i in range(M):
                mean[s, n, i] += _dot(J[owner[s], n, i], gap)  # (13.100), with A mu_n


# --- Small matrices: a call of BLAS or LAPACK would take longer than the work ---------------------


@compiled
def _dot(a: Floats, b: Floats) -> float:
    """The inner product, `a @ b`."""
    total = 0.0
    for k in range(len(a)):
        total += a[k] * b[k]
    return total


@compiled
def _copy(A: Floats, out: Floats) -> None:
    """Write A: `out[:] = A`."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            out[i, j] = A[i, j]


@compiled
def _multiply(A: Floats, B: Floats, out: Floats) -> None:
    """Write A B: `out[:] = A @ B`."""
    for i in range(A.shape[0]):
        for j in range(B.shape[1]):
            total = 0.0
            for k in range(A.shape[1]):
                total += A[i, k] * B[k, j]
            out[i, j] = total


@compiled
def _sandwich(B: Floats, S: Floats, plus: Floats, BS: Floats, out: Floats) -> None:
    """Write B S, and B S B^T + plus, for symmetric S: `out[:] = B @ S @ B.T + plus`.

    It computes both triangles: mirroring one costs (13.101) two digits where P is nearly singular.
    """
    for i in range(B.shape[0]):
        for k in range(B.shape[1]):
            BS[i, k] = _dot(B[i], S[k])
        for j in range(B.shape[0]):
            out[i, j] = _dot(BS[i], B[j]) + plus[i, j]


@compiled
def _cholesky(S: Floats, L: Floats) -> None:
    """Write the lower triangle L with L L^T = S, that of `np.linalg.cholesky(S)`."""
    for i in range(len(S)):
        for j in range(i + 1):
            rest = S[i, j] - _dot(L[i, :j], L[j, :j])
            if i > j:
                L[i, j] = rest / L[j, j]
            elif rest > 0:
                L[i, i] = np.sqrt(rest)
            else:
                raise np.linalg.LinAlgError("Matrix is not positive definite")


@compiled
def _solve(S: Floats, B: Floats) -> None:
    """Write S^-1 B over B, `np.linalg.solve(S, B)`, and overwrite S.

    S is a covariance: its elimination needs no row exchanges.
    """
    for k in range(len(S)):
        if S[k, k] == 0:
            raise np.linalg.LinAlgError("Singular matrix")
        for i in range(k + 1, len(S)):
            factor = S[i, k] / S[k, k]
            for j in range(k + 1, len(S)):
                S[i, j] -= factor * S[k, j]
            for j in range(B.shape[1]):
                B[i, j] -= factor * B[k, j]
    for k in range(len(S) - 1, -1, -1):
        for j in range(B.shape[1]):
            for i in range(k + 1, len(S)):
                B[k, j] -= S[k, i] * B[i, j]
            B[k, j] /= S[k, k]


@compiled
def _same(A: Floats, B: Floats) -> bool:
    """Whether the two are equal bit for bit: `np.array_equal(A, B)`."""
    for i in range(A.shape[0]):
        for j in range(A.shape[1]):
            if A[i, j] != B[i, j]:
                return False
    return True
