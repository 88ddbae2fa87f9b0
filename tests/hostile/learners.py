"""One saved file of each kind of learner, small enough that thousands of mutants are loaded."""

import numpy as np
from scipy.sparse import csr_matrix

from selectron import SelectiveClassifier, load
from selectron.experts import (
    AdaHedge,
    FixedShare,
    LearnAlpha,
    MarkovShare,
    StaticExpert,
    load_experts,
    save_experts,
)
from selectron.queries import (
    AdaptiveMargin,
    Always,
    Auto,
    Balanced,
    Budget,
    Capped,
    Floor,
    Halving,
    Margin,
    RateTracking,
    SecondOrderMargin,
    Uniform,
)
from selectron.scalings import Automatic, Centred, Intercept, Text, TextDirections, Winsorised
from selectron.tracking import ByMargin, ByMistakes, ForgettingRidge, TrackingClassifier
from selectron.updates import (
    Arow,
    Ballseptron,
    ClassRidge,
    DualProbit,
    HalfStep,
    PassiveAggressive,
    Perceptron,
    PNorm,
    Probit,
    Reflection,
    Rehearsal,
    Ridge,
    SecondOrder,
    Winnow,
)
from tests.rules.test_strokes import strokes

D, N = 4, 40
RNG = np.random.default_rng(7)
ROWS = RNG.standard_normal((N, D)) + 0.2
TWO = np.where(ROWS[:, 0] + ROWS[:, 1] > 0.2, "yes", "no")
FOUR = np.array(list("abcd"))[2 * (ROWS[:, 0] > 0.2) + (ROWS[:, 1] > 0.2)]
SETS = np.stack([ROWS[:, 0] > 0, ROWS[:, 1] > 0, ROWS[:, 2] > 0], axis=1).astype(int)
CHAIN = [[0.8, 0.2, 0.0], [0.0, 0.8, 0.2], [0.2, 0.0, 0.8]]


UNIT = ROWS / np.linalg.norm(ROWS, axis=1, keepdims=True)  # Reflection warns of other lengths


def sparse(rows):
    return csr_matrix(np.where(np.abs(rows) > 0.5, rows, 0.0))


def fitted(labels, *rules, rows=ROWS, **options):
    return SelectiveClassifier(*rules, random_state=1, **options).fit(rows, labels)


def waiting(learner, rows=ROWS):
    """Return the learner with questions that wait, one of them just asked."""
    learner.ask(rows[:6])
    learner.ask_one(rows[6])
    return learner


def two(update, query, scaling=None, **options):
    return lambda: waiting(fitted(TWO, update, query, scaling=scaling, **options))


def many(update, query, **options):
    return lambda: waiting(fitted(FOUR, update, query, **options))


def kernel(labels, update, *, rows=ROWS, name="rbf", **options):
    return lambda: waiting(
        fitted(labels, update, Always(), rows=rows, kernel=name, **options), rows
    )


def open_classes():
    """Return a learner of two classes that a third may join: it keeps what it was taught."""
    learner = SelectiveClassifier(random_state=1, query=Always())
    for x, label in zip(ROWS[:12], TWO[:12], strict=True):
        learner.learn_one(x, label)
    return waiting(learner)


def at_hand(labels, *rules, rows=ROWS, **options):
    """Return a learner that has chosen among rows at hand; one choice waits for its answer."""

    def learnt():
        learner = SelectiveClassifier(*rules, random_state=1, **options)
        for _ in range(8):
            choice = learner.choose(rows, explore=0.2)
            learner.tell(choice.tickets, labels[choice.rows])
        learner.choose(rows)
        return learner

    return learnt


def tracker(*learners, **options):
    chosen = list(learners) or None
    return lambda: waiting(TrackingClassifier(chosen, random_state=1, **options).fit(ROWS, TWO))


def mixture(made):
    def learnt():
        experts = made()
        experts.run(np.random.default_rng(3).exponential(size=(9, 3)))
        return experts

    return learnt


SMALL_ROWS = sparse(ROWS)
STROKES, SIDES = strokes(N, side=8)
LEARNERS = {
    "default": lambda: waiting(fitted(TWO)),
    "default many": lambda: waiting(fitted(FOUR)),
    "default sparse": lambda: waiting(fitted(TWO, rows=SMALL_ROWS), SMALL_ROWS),
    "default text many": lambda: waiting(
        fitted(FOUR, rows=SMALL_ROWS, scaling=Text()), SMALL_ROWS
    ),
    "open classes": open_classes,
    "at hand": at_hand(TWO),
    "text at hand": at_hand(
        TWO, DualProbit(room=10), Margin(), rows=SMALL_ROWS, scaling=TextDirections(directions=2)
    ),
    "text at hand many": at_hand(
        FOUR, DualProbit(room=10), Margin(), rows=SMALL_ROWS, scaling=TextDirections(directions=2)
    ),
    "text held back": two(
        DualProbit(room=10), Margin(), rows=SMALL_ROWS,
        scaling=TextDirections(directions=2, held_back=100),
    ),
    "explored": lambda: waiting(fitted(TWO, explore=0.2, window=16, stop_when="error<=0.01")),
    "explored many": lambda: waiting(fitted(FOUR, explore=0.3)),
    "several labels": lambda: waiting(SelectiveClassifier(random_state=1).fit(ROWS, SETS)),
    "perceptron": two(Perceptron(eta=0.5), Margin(b=0.5)),
    "weighted": two(Perceptron(), Margin(b=0.5), class_weight={"yes": 2.5, "no": 0.4}),
    "many weighted": many(Ridge(), Always(), class_weight="balanced"),
    "reflection": two(Reflection(), Halving(patience=3), rows=UNIT),
    "half step": two(HalfStep(), RateTracking(rate=0.3), Winsorised(warmup=5)),
    "passive": two(PassiveAggressive(C=0.5), Uniform(rate=0.5), Centred(warmup=5)),
    "ballseptron": two(Ballseptron(r=0.2), AdaptiveMargin(beta=0.3)),
    "second order": two(SecondOrder(), SecondOrderMargin(b=0.5), Intercept()),
    "ridge": two(Ridge(a=0.5), Balanced(rho=0.3)),
    "arow": two(Arow(), Budget(Margin(b=0.5), total=20, horizon=60)),
    "winnow": two(Winnow(eta=0.3), Floor(Margin(b=0.1), explore=0.2)),
    "winnow balanced": two(Winnow(eta=0.3, balanced=True), Capped(explore=0.1)),
    "p-norm": two(PNorm(p=4.0), Always()),
    "probit": two(Probit(), Auto(explore=0.1), Automatic(warmup=5)),
    "strokes": lambda: waiting(
        fitted(SIDES, Probit(), Auto(), rows=STROKES, scaling=Automatic(warmup=20)), STROKES
    ),
    "probit low rank": two(Probit(rank=3), Auto()),
    "class ridge": two(ClassRidge(), Balanced(rho=0.3, leak=1.0)),
    "many low rank": many(ClassRidge(rank=3), Balanced(rho=0.3)),
    "rehearsal": two(Rehearsal(memory=5, visits=3), Margin(b=0.5)),
    "many rehearsal": many(Rehearsal(memory=5, visits=3), Capped()),
    "many perceptron": many(Perceptron(), Margin(b=0.5)),
    "many ballseptron": many(Ballseptron(r=0.2), Always()),
    "many ridge": many(Ridge(), Budget(Always(), total=30)),
    "many auto": many(SecondOrder(), Auto()),
    "kernel perceptron": kernel(TWO, Perceptron()),
    "kernel smallest": kernel(TWO, Perceptron(), budget=8, removal="smallest"),
    "kernel random": kernel(TWO, Ballseptron(r=0.3), budget=8, removal="random"),
    "kernel projection": kernel(TWO, Perceptron(), budget=8, removal="projection"),
    "kernel ridge": kernel(TWO, Ridge(), budget=8, removal="random"),
    "kernel second order": kernel(TWO, SecondOrder(), name="poly", budget=8, removal="smallest"),
    "kernel sparse": kernel(TWO, Perceptron(), rows=SMALL_ROWS, budget=8, removal="smallest"),
    "kernel sparse many": kernel(FOUR, Ridge(), rows=SMALL_ROWS, name="linear"),
    "kernel many": kernel(FOUR, Ballseptron(r=0.2), budget=8, removal="random"),
    "kernel many projection": kernel(FOUR, Perceptron(), budget=8, removal="projection"),
    "tracker": tracker(),
    "tracker fixed share": tracker(
        Perceptron(), ForgettingRidge(reset_every=5), experts=FixedShare(2, alpha=0.1),
        query=ByMistakes(),
    ),
    "tracker static": tracker(
        HalfStep(), Ridge(), experts=StaticExpert(2, eta="adahedge"), query=ByMargin(rate=0.5),
        explore=0.2,
    ),
    "tracker markov": tracker(
        HalfStep(), Probit(rank=2), experts=MarkovShare([[0.9, 0.1], [0.3, 0.7]]), query=Always()
    ),
    "tracker learn-alpha": tracker(
        HalfStep(), Perceptron(), experts=LearnAlpha(2, alphas=[0.0, 0.1, 1.0]), query=Always()
    ),
}  # fmt: skip
MIXTURES = {
    "static": mixture(lambda: StaticExpert(3)),
    "static tuned": mixture(lambda: StaticExpert(3, eta=AdaHedge(cap=2.0))),
    "fixed share": mixture(lambda: FixedShare(3, alpha=0.1)),
    "fixed share static": mixture(lambda: FixedShare(3, alpha=0.0)),
    "fixed share stiff": mixture(lambda: FixedShare(3, alpha=1.0)),
    "markov": mixture(lambda: MarkovShare(np.full((3, 3), 1 / 3))),
    "markov stiff": mixture(lambda: MarkovShare(CHAIN, eta="adahedge")),
    "learn-alpha": mixture(lambda: LearnAlpha(3, alphas=[0.0, 0.05, 0.9999, 1.0])),
}
KINDS = [*LEARNERS, *MIXTURES]


def write(kind, path):
    """Make a learner of this kind and save it."""
    if kind in MIXTURES:
        save_experts(MIXTURES[kind](), path)
    else:
        LEARNERS[kind]().save(path)


def reader_of(kind):
    return load_experts if kind in MIXTURES else load


def uses_of(kind):
    """Return what is done with a learner that was loaded, step by step."""
    return [*(_mixture_uses() if kind in MIXTURES else _learner_uses(kind))]


def _mixture_uses():
    losses = np.array([[0.5, 0.1, 2.0], [1.0, np.nan, 0.0]])
    return (
        lambda experts, path: experts.weights,
        lambda experts, path: experts.predict(np.arange(float(experts.n))),
        lambda experts, path: experts.vote(["a", *["b"] * (experts.n - 1)]),
        lambda experts, path: experts.run(losses[:, : experts.n]),
        lambda experts, path: experts.update([0.5] * experts.n),
        lambda experts, path: save_experts(experts, path),
    )


def _learner_uses(kind):
    rows = SMALL_ROWS if "sparse" in kind or "text" in kind else ROWS
    labels = FOUR if "many" in kind else TWO
    if kind == "strokes":
        rows, labels = STROKES, SIDES
    late = rows[20:24]

    def answer(learner, path):
        for question in learner.waiting[:3]:
            given = SETS[0] if "several" in kind else labels[0]
            learner.tell(question.ticket, given)

    def learn_one(learner, path):
        x = rows[7] if rows is SMALL_ROWS else rows[7].copy()
        learner.learn_one(x, SETS[7] if "several" in kind else labels[7])

    def batch(learner, path):
        learner.partial_fit(rows[10:16], SETS[10:16] if "several" in kind else labels[10:16])

    def third_class(learner, path):
        if kind == "open classes":
            learner.learn_one(rows[8].copy(), "perhaps")
            learner.partial_fit(rows[8:12], ["perhaps", "yes", "no", "perhaps"])

    return (
        lambda learner, path: learner.predict(late),
        lambda learner, path: learner.decision_function(late),
        lambda learner, path: learner.ask_one(rows[25]),
        answer,
        learn_one,
        lambda learner, path: learner.ask(late),
        batch,
        third_class,
        lambda learner, path: learner.estimate(),
        lambda learner, path: learner.readout(),
        lambda learner, path: learner.predict(late),
        lambda learner, path: learner.save(path),
    )
