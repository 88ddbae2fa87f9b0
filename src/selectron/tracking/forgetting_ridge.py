"""Ridge regression that forgets: recursive least squares, for labels whose meaning drifts."""

from dataclasses import dataclass
from numbers import Real
from typing import ClassVar, NamedTuple

from numpy.typing import DTypeLike

from selectron.arrays import Matrix, Vector
from selectron.compiler.verbs import apart, helper
from selectron.numeric.elementary import sqrt
from selectron.numeric.rows import DenseRow, Row, add_scaled, dot
from selectron.numeric.sums import lane_dot
from selectron.numeric.symmetric import image
from selectron.protocol import Forecast, already_exact, glance, hypothesis, in_file, learn, predict
from selectron.spec import NOT_NEGATIVE, POSITIVE, UpdateRule
from selectron.updates.covariance import fresh_covariance

NEVER = 0
ENDLESS = 2**53  # labels that nobody lives to see: None says the same, and is exact


@dataclass(frozen=True)
class ForgettingRidge(UpdateRule):
    """Minimise Σ f^(age) (y - w·x)² over the labels learnt, each older one by f less.

    With g = Ax and r = x·g: w += g (y - w·x) / (f + r), then A = (A - g gᵀ / (f + r)) / f. A starts
    at I/a, and its trace is held at or below where it started: along a direction that no row takes
    any more, 1/f would otherwise lift it for ever.

    Parameters
    ----------
    memory : float, optional
        Labels a feature that count, > 1: f = 1 - 1/(memory · d). None: nothing is forgotten, f = 1.
    reset_every : int, optional
        Begin afresh after so many labels. None: never.
    a : float
        Regularisation > 0.

    Examples
    --------
    >>> from selectron import SelectiveClassifier, tracking
    >>> clf = SelectiveClassifier(tracking.ForgettingRidge(memory=2.0), "always")
    >>> clf.fit([[0.6, 0.8], [0.8, -0.6], [0.6, 0.8]], ["yes", "no", "no"]).coef_.round(3).tolist()
    [[-0.644, 0.208]]
    """

    memory: float | None = 5.0
    reset_every: int | None = None
    a: float = 1.0
    RANGES: ClassVar = {"a": POSITIVE}

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.memory is not None and not (
            isinstance(self.memory, Real) and 1 < self.memory < ENDLESS
        ):
            raise ValueError(
                f"{self.label}: memory must be a number > 1 of labels a feature, or None to "
                f"forget nothing, got memory={self.memory!r}"
            )
        every = self.reset_every
        if every is not None and not (_counts(every) and 1 <= every < ENDLESS):
            raise ValueError(
                f"{self.label}: reset_every must be a whole number of labels >= 1, or None for "
                f"never, got reset_every={every!r}"
            )

    def begin(self, d: int, dtype: DTypeLike) -> "ForgettingState":
        fresh = fresh_covariance(d, self.a, 1)
        kept = 1.0 if self.memory is None else 1.0 - 1.0 / (self.memory * d)
        every = NEVER if self.reset_every is None else int(self.reset_every)
        return ForgettingState(
            fresh.weights[0], fresh.A_inv, fresh.image, kept, float(self.a), 0.0, every, 0, 0
        )


def _counts(number: object) -> bool:
    return isinstance(number, Real) and not isinstance(number, bool) and number % 1 == 0


class ForgettingState(NamedTuple):
    weights: Vector
    A: Matrix  # the weighted Σ x xᵀ + regularisation, inverted
    image: Vector  # room for A x
    kept: float  # f
    a: float
    norm: float  # of the weights
    reset_every: int
    age: int  # labels since the last reset
    n_updates: int


@helper
def start_afresh(weights: Vector, A: Matrix, a: float) -> None:
    weights[:] = 0.0
    for i in range(len(A)):
        A[i] = 0.0
        A[i, i] = 1.0 / a


@helper
def forget(A: Matrix, g: Vector, share: float, kept: float) -> None:
    """Write (A - share g gᵀ) / f, symmetric to the bit.

    What rounding leaves of an asymmetry is divided by f at every step and would grow without end.
    (g_i g_j) first: both triangles then have the same bits, as if one were a mirror of the other.
    """
    lift = 1.0 / kept
    for i in range(len(g)):
        row, own = A[i], g[i]
        for j in range(len(g)):
            row[j] = (row[j] - (own * g[j]) * share) * lift


@helper
def hold_trace(A: Matrix, most: float) -> None:
    """Shrink A where its trace has grown beyond `most`."""
    trace = 0.0
    for i in range(len(A)):
        trace += A[i, i]
    if trace > most:
        shrink = most / trace
        for i in range(len(A)):
            row = A[i]
            for j in range(len(row)):
                row[j] *= shrink


@glance.of(ForgettingState)
def forgetting_glance(update: ForgettingState, x: Row) -> Forecast:
    norm = update.norm
    return Forecast(dot(x, update.weights), norm if norm > 0.0 else 1.0, norm, 0.0, True)


predict.of(ForgettingState)(already_exact)


@learn.of(ForgettingState)
@apart
def forgetting_learn(
    update: ForgettingState, x: Row, y: float, forecast: Forecast
) -> ForgettingState:
    weights, A, g = update.weights, update.A, update.image
    age = update.age
    if update.reset_every != NEVER and age >= update.reset_every:
        start_afresh(weights, A, update.a)
        age = 0
    image(x, A, g)
    share = 1.0 / (update.kept + max(dot(x, g), 0.0))
    step = (y - dot(x, weights)) * share
    add_scaled(DenseRow(g), step, weights)
    forget(A, g, share, update.kept)
    hold_trace(A, len(weights) / update.a)
    norm = sqrt(lane_dot(weights, weights))
    return update._replace(norm=norm, age=age + 1, n_updates=update.n_updates + 1)


@hypothesis.of(ForgettingState)
def forgetting_hypothesis(update: ForgettingState) -> Vector:
    return update.weights


in_file(ForgettingState, "kept", "a", "reset_every", norm=NOT_NEGATIVE)
