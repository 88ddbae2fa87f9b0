"""Every rule with knobs that make it do something on a short stream."""

from selectron import queries, updates

UPDATES = {
    "perceptron": updates.Perceptron(eta=0.7),
    "literal-perceptron": updates.Perceptron(eta=0.7, literal_ties=True),
    "reflection": updates.Reflection(),
    "relaxation": updates.Reflection(alpha=0.8),
    "ballseptron": updates.Ballseptron(r=0.3),
    "ballseptron-mistakes-too": updates.Ballseptron(r=0.3, mistakes_too=True),
    "second-order": updates.SecondOrder(a=1.5),
    "winnow": updates.Winnow(eta=0.4),
    "balanced-winnow": updates.Winnow(eta=0.4, balanced=True),
    "pnorm-2": updates.PNorm(p=2.0),
    "pnorm-5": updates.PNorm(p=5.0),
    "pa-i": updates.PassiveAggressive(C=0.4),
    "pa-ii": updates.PassiveAggressive(C=0.4, squared=True),
    "arow": updates.Arow(r=0.8),
    "ridge": updates.Ridge(a=0.7),
    "class-ridge": updates.ClassRidge(),
    "low-rank-class-ridge": updates.ClassRidge(rank=5),
    "rehearsal": updates.Rehearsal(memory=20, visits=5),
    "half-step": updates.HalfStep(rate=0.4),
    "probit": updates.Probit(),
    "low-rank-probit": updates.Probit(rank=5),
    "dual-probit": updates.DualProbit(room=30, blur=0.2),
}

QUERIES = {
    "always": queries.Always(),
    "uniform": queries.Uniform(rate=0.4),
    "margin": queries.Margin(b=0.3),
    "second-order-margin": queries.SecondOrderMargin(b=0.3),
    "adaptive-margin": queries.AdaptiveMargin(beta=0.2),
    "halving": queries.Halving(patience=4, start=1.0),
    "halving-from-width": queries.Halving(patience=3),
    "literal-halving": queries.Halving(patience=3, start=1.0, new_run=False),
    "balanced": queries.Balanced(rho=0.3, step=0.5),
    "balanced-from-one": queries.Balanced(rho=0.3, step=0.3, leak=1.0, start=1.0),
    "rate-tracking": queries.RateTracking(rate=0.3),
    "auto": queries.Auto(explore=0.05, step=0.6),
    "capped": queries.Capped(explore=0.05, first_share=0.2),
    "floor": queries.Floor(queries.Balanced(rho=0.3, step=0.5), explore=0.1),
    "budget": queries.Budget(queries.Margin(b=0.1), total=30, horizon=80),
}

# Budget and floor hand every question on to the rule within, and the rules for many classes have
# pairs of their own (`many.py`): with two classes a few updates, and a few queries, are enough.
SOME_QUERIES = ("budget", "floor", "capped")
SOME_UPDATES = ("class-ridge", "low-rank-class-ridge", "rehearsal")
WITH_ALL = ("perceptron", "ridge", "probit")
WITH_ANY = ("margin", "balanced", "auto", "capped")
PAIRS = [
    (u, q)
    for u in UPDATES
    for q in QUERIES
    if (q not in SOME_QUERIES or u in (*WITH_ALL, *SOME_UPDATES))
    and (u not in SOME_UPDATES or q in WITH_ANY)
]
