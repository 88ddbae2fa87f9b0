"""Slow, obvious twins of the experts: the definitions of [Mon06], chapter 2, and enumeration."""

from decimal import MAX_EMAX, MIN_EMIN, Decimal, localcontext
from itertools import product

import numpy as np

from selectron.experts import FixedShare, LearnAlpha, MarkovShare, StaticExpert

FINE = np.longdouble
LONG_DOUBLE = np.finfo(np.longdouble).eps < 1e-18


def transition_matrix(n, alpha):
    """Return equation 2.3 as a matrix: P[j, i] = p(i | j; α)."""
    alpha = FINE(alpha)
    if n == 1:
        return np.ones((1, 1), FINE)
    return np.where(np.eye(n, dtype=bool), 1 - alpha, alpha / (n - 1))


def definition(losses, transition, eta=1.0, prior=None):
    """Follow equations 2.1 and 2.2 literally, O(n²) a step; return losses and final weights."""
    n = losses.shape[1]
    p = np.full(n, 1 / FINE(n)) if prior is None else np.array(prior, FINE)
    out = []
    for row in losses:
        likelihood = np.exp(-FINE(eta) * row.astype(FINE))
        out.append(-np.log(np.sum(p * likelihood)) / FINE(eta))
        joint = p[:, None] * likelihood[:, None] * transition
        p = joint.sum(axis=0)
        p = p / p.sum()
    return np.array(out), p


def learn_alpha_definition(losses, alphas, eta=1.0, prior=None):
    """Follow equations 2.7 and 2.8 literally; return losses, weights and weights of the rates."""
    m, n = len(alphas), losses.shape[1]
    transitions = np.array([transition_matrix(n, alpha) for alpha in alphas])
    p = np.tile(np.full(n, 1 / FINE(n)) if prior is None else np.array(prior, FINE), (m, 1))
    top = np.full(m, 1 / FINE(m))
    out = []
    for row in losses:
        likelihood = np.exp(-FINE(eta) * row.astype(FINE))
        evidence = (p * likelihood).sum(axis=1)
        out.append(-np.log(np.sum(top * evidence)) / FINE(eta))
        top = top * evidence / np.sum(top * evidence)
        p = np.einsum("mj,mji->mi", p * likelihood, transitions)
        p = p / p.sum(axis=1, keepdims=True)
    return np.array(out), top @ p, top


def decimal_definition(losses, transition, digits=80):
    """Do as `definition` in decimals, whose exponents have no end: e^-1000000 is a number."""
    with localcontext() as context:
        context.prec, context.Emin, context.Emax = digits, MIN_EMIN, MAX_EMAX
        n = len(losses[0])
        move = [[Decimal(float(x)) for x in row] for row in transition]
        p = [Decimal(1) / n] * n
        out = []
        for row in losses:
            joint = [p[i] * (-Decimal(float(row[i]))).exp() for i in range(n)]
            out.append(-(sum(joint)).ln())
            p = [sum(joint[j] * move[j][i] for j in range(n)) for i in range(n)]
            p = [x / sum(p) for x in p]
        return np.array([float(x) for x in out]), np.array([float(x) for x in p])


def all_paths(steps, n):
    """Return every sequence of experts, (n^T, T), and how often each switches."""
    paths = np.array(list(product(range(n), repeat=steps)))
    return paths, (paths[:, 1:] != paths[:, :-1]).sum(axis=1)


def path_likelihoods(losses, paths):
    """Return φ(s) = Π e^(-L(s_t, t))."""
    return np.exp(-losses.astype(FINE)[np.arange(len(losses)), paths].sum(axis=1))


def path_priors(paths, switches, n, alpha):
    """Return p(s; α) = 1/n Π p(s_t | s_{t-1}; α)."""
    steps, alpha = paths.shape[1], FINE(alpha)
    share = alpha / (n - 1) if n > 1 else FINE(0)
    return share**switches * (1 - alpha) ** (steps - 1 - switches) / n


def enumerated_loss(losses, alpha):
    """Return L_T(α) by equation 2.5: a sum over all sequences of experts."""
    paths, switches = all_paths(*losses.shape)
    priors = path_priors(paths, switches, losses.shape[1], alpha)
    return -np.log(np.sum(path_likelihoods(losses, paths) * priors))


def switch_coefficients(losses):
    """Return c_k, k = 0 .. T-1, so that e^-L_T(α) = Σ c_k α^k (1 - α)^(T-1-k)."""
    steps, n = losses.shape
    reach = np.zeros((steps, n), FINE)  # by number of switches and last expert
    reach[0] = np.exp(-losses[0].astype(FINE)) / n
    for row in losses[1:]:
        switched = (reach.sum(axis=1, keepdims=True) - reach) / FINE(max(n - 1, 1))
        if n == 2:
            switched = reach[:, ::-1]
        elif n > 2:
            others = [np.delete(reach, i, axis=1).sum(axis=1) for i in range(n)]
            switched = np.stack(others, axis=1) / FINE(n - 1)
        reach[1:], reach[0] = reach[1:] + switched[:-1], reach[0]
        reach = reach * np.exp(-row.astype(FINE))
    return reach.sum(axis=1)


def loss_from_coefficients(coefficients, alphas):
    """Return L_T(α) for each rate."""
    k, alphas = np.arange(len(coefficients)), np.asarray(alphas, FINE)[:, None]
    terms = alphas**k * (1 - alphas) ** (len(coefficients) - 1 - k)
    return -np.log(terms @ coefficients)


def switch_posterior(coefficients, alpha):
    """Return Q(α̂ = k / (T-1)) under this rate."""
    k, alpha = np.arange(len(coefficients)), FINE(alpha)
    joint = coefficients * alpha**k * (1 - alpha) ** (len(coefficients) - 1 - k)
    return joint / joint.sum()


def hindsight_alpha(coefficients):
    """Find α* by a grid and repeated zooming; no derivative."""
    low, high = FINE(0), FINE(1)
    grid = np.linspace(low, high, 1001)
    for _ in range(14):
        losses = loss_from_coefficients(coefficients, grid)
        best = int(losses.argmin())
        low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
        grid = np.linspace(low, high, 41)
    return float(grid[int(loss_from_coefficients(coefficients, grid).argmin())])


def brute_partition(losses, n_switches):
    """Return the smallest loss of a sequence of experts with at most so many switches."""
    paths, switches = all_paths(*losses.shape)
    totals = losses[np.arange(len(losses)), paths].sum(axis=1)
    return totals[switches <= n_switches].min()


def loss_sequences(rng, count, max_steps=30, max_n=5):
    """Yield loss matrices of every temper: noise, blocks, forced paths, traps, ties."""
    for k in range(count):
        steps, n = int(rng.integers(2, max_steps + 1)), int(rng.integers(2, max_n + 1))
        noise = rng.exponential(size=(steps, n))
        best = rng.integers(0, n, steps)
        blocks = np.repeat(rng.integers(0, n, steps), rng.integers(1, 9))[:steps]
        away = np.arange(n) != best[:, None]
        kinds = (
            noise,
            noise * rng.choice([0.01, 1, 10, 30]),
            8.0 * (np.arange(n) != blocks[:, None]) + 0.1 * noise,
            25.0 * away,  # forced: one expert a step
            2.0 * ((np.arange(steps) % n)[:, None] != np.arange(n)),  # round and round
            np.where(rng.random((steps, n)) < 0.5, 0.0, 3.0),
            np.full((steps, n), 0.7),
            noise * (rng.random((steps, 1)) < 0.2),  # mostly nothing to learn
        )
        yield kinds[k % len(kinds)]


def one_of_each(n, **options):
    """Return a mixture of every kind, in every form it can take."""
    ring = 0.8 * np.eye(n) + 0.2 * np.roll(np.eye(n), 1, axis=1)
    dense = np.full((n, n), 0.1 / n) + 0.9 * np.eye(n)
    return {
        "static": StaticExpert(n, **options),
        "fixed-0": FixedShare(n, 0.0, **options),
        "fixed": FixedShare(n, 0.05, **options),
        "fixed-stiff": FixedShare(n, 1 - 1e-6, **options),
        "fixed-1": FixedShare(n, 1.0, **options),
        "markov": MarkovShare(dense, **options),
        "markov-ring": MarkovShare(ring, **options),
        "learn": LearnAlpha(n, alphas=[0.001, 0.03, 0.5, 0.9], **options),
        "learn-stiff": LearnAlpha(n, alphas=[0.9, 0.0, 0.01, 1.0, 1 - 1e-7], **options),
    }
