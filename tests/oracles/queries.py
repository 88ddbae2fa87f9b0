"""Query rules as the papers print them.

Each round: `preview(x)` and `probability(x, forecast)` once, then `advance(forecast, asked)`, and
for a round that was asked `count_class(class)` and `observe(x, forecast, y)` when its label is
known.
"""

from math import exp, sqrt

from tests.oracles.coverage import Coverage
from tests.oracles.learners import length


class Query:
    def preview(self, x):
        pass

    def advance(self, forecast, asked):
        pass

    def count_class(self, k):
        pass

    def observe(self, x, forecast, y):
        pass


class Always(Query):
    def probability(self, x, forecast):
        return 1.0


class Uniform(Query):
    def __init__(self, rate):
        self.rate = rate

    def probability(self, x, forecast):
        return self.rate


class Margin(Query):
    """[CBGZ06] Figures 1, 3 and 4."""

    def __init__(self, b):
        self.b = b

    def probability(self, x, forecast):
        return self.b / (self.b + abs(forecast.margin))


class SecondOrderMargin(Query):
    """Margin(b) with the terms that the proof of [CBGZ06] Theorem 3 drops."""

    def __init__(self, b):
        self.b = b

    def probability(self, x, forecast):
        p, r = abs(forecast.margin), forecast.variance
        return self.b / (self.b + p + p**2 * (1 + r) / 2)


class AdaptiveMargin(Query):
    """[CBGZ06] Figure 2."""

    def __init__(self, beta):
        self.beta = beta
        self.X = 0.0  # largest norm of a row with an update
        self.K = 0

    def probability(self, x, forecast):
        b = self.beta * max(self.X, length(x)) ** 2 * sqrt(1 + self.K)
        total = b + abs(forecast.margin)
        return b / total if total > 0 else 1.0  # an empty row: 0/0 in the paper

    def observe(self, x, forecast, y):
        if y * forecast.margin <= 0:
            self.K += 1
            self.X = max(self.X, length(x))


class Halving(Query):
    """[DKM09] Figure 4: ask within s of the hyperplane, halve s after `patience` right answers.

    "Correct on R consecutive labeled examples" is read as R since s was last halved, or since the
    last mistake: the proof of Lemma 8 has the same s on all R of them. The label that starts
    v, given while there is no hypothesis, comes before the loop of Figure 4 and is no right answer.
    Without `new_run` it is as printed: all of the last R labelled examples were predicted right.
    """

    def __init__(self, patience, start, d, new_run=True):
        self.patience, self.new_run = patience, new_run
        self.right = []
        self.threshold = 1 / sqrt(d) if start == "1/sqrt(d)" else start
        self.run = 0

    def probability(self, x, forecast):
        if forecast.norm == 0:
            return 1.0
        return 1.0 if abs(forecast.margin) / forecast.norm <= self.threshold else 0.0

    def observe(self, x, forecast, y):
        if forecast.norm == 0:
            return
        self.right.append(y * forecast.margin >= 0)
        if not self.new_run:
            latest = self.right[-self.patience :]
            if len(latest) == self.patience and all(latest):
                self.threshold /= 2
            return
        self.run = 0 if y * forecast.margin < 0 else self.run + 1
        if self.run == self.patience:
            self.threshold, self.run = self.threshold / 2, 0


class Threshold(Query):
    """Ask iff s = |margin|/unit is at most q, where q starts at half the first s after a label.

    A q of 0 could never grow, so it counts as not set yet.
    """

    def __init__(self, start=None):
        self.q = start
        self.labelled = False

    def probability(self, x, forecast):
        if not self.labelled:
            return 1.0
        s = abs(forecast.margin) / forecast.unit
        self.q = self.q or s / 2
        return 1.0 if s <= self.q else 0.0

    def observe(self, x, forecast, y):
        self.labelled = True


class Ceiling:
    """Hold a threshold that moves by factors among the certainties of the labels of late."""

    def __init__(self):
        self.largest, self.above = 0.0, 0

    def move(self, q, s, factor):
        """Return q after a label of certainty s, and whether q starts anew: labels are noise."""
        self.largest = max(s, 0.98 * (self.largest or q))
        moved = q * factor
        if factor > 1:
            moved = max(q, min(moved, 64 * self.largest))
        self.above = self.above + 1 if moved > 4 * self.largest else max(self.above - 1, 0)
        if self.above <= 30:
            return moved, False
        self.above = 0
        return 0.005 * self.largest, True


class Balanced(Threshold):
    """Hold a share `rho` of mistakes among the labels asked; `leak` opens q while none is asked."""

    def __init__(self, rho=0.45, step=1.0, leak=4.0, start=None):
        super().__init__(start)
        self.rho, self.step, self.leak = rho, step, leak
        self.t, self.ceiling = 0, Ceiling()

    def advance(self, forecast, asked):
        self.t += 1
        if self.q and not asked:
            self.q *= 1 + self.leak / self.t

    def observe(self, x, forecast, y):
        super().observe(x, forecast, y)
        if self.q:
            mistaken = y * forecast.margin <= 0
            factor = exp(self.step * (1 - self.rho)) if mistaken else exp(-self.step * self.rho)
            s = abs(forecast.margin) / forecast.unit
            self.q, anew = self.ceiling.move(self.q, s, factor)
            self.t = min(self.t, 1500) if anew else self.t


class RateTracking(Threshold):
    """Hold a share `rate` of rounds asked."""

    def __init__(self, rate=0.08, step=0.2):
        super().__init__()
        self.rate, self.step = rate, step

    def advance(self, forecast, asked):
        if self.q:
            self.q *= exp(-self.step * (1 - self.rate)) if asked else exp(self.step * self.rate)


class Auto(Query):
    """The threshold of the default learner, with tail, proportional floor and one-class phase."""

    def __init__(self, hard=False, explore=0.0, step=0.5):
        self.hard, self.explore, self.step = hard, explore, step
        self.begin()

    def begin(self):
        self.q = None
        self.t, self.ceiling = 0, Ceiling()
        self.asked_share = 0.5
        self.seen = {-1.0: 0, 1.0: 0}

    @property
    def one(self):
        return min(self.seen.values()) == 0

    @property
    def n(self):
        return sum(self.seen.values())

    @property
    def floor(self):
        return max(0.0 if self.hard else min(0.02, 0.15 * self.asked_share), self.explore)

    def by_rule(self, s):
        if s <= (self.q or s / 2):
            return 1.0
        return 0.0 if self.one or self.hard else ((self.q or s / 2) / s) ** 8

    def probability(self, x, forecast):
        s = abs(forecast.margin) / forecast.unit
        if self.n == 0 or s < 1e-12:
            return 1.0
        return max(self.by_rule(s), self.floor)

    def advance(self, forecast, asked):
        if forecast.norm == 0 and self.n > 0:  # the learner has begun again
            self.begin()
        self.t += 1
        s = abs(forecast.margin) / forecast.unit
        if self.n == 0 or s < 1e-12:
            return
        self.q = self.q or s / 2
        self.asked_share += (asked - self.asked_share) * 2 / (self.t + 1)
        if self.one:
            a = 0.25 / (1 + self.n / 30)
            self.q *= exp(-0.5 * (1 - a)) if asked else exp(0.5 * a)
        elif not asked:
            self.q *= 1 + 4 / self.t

    def observe(self, x, forecast, y):
        s = abs(forecast.margin) / forecast.unit
        if self.q and s >= 1e-12 and not self.one and self.by_rule(s) > 0:
            share = self.by_rule(s) / max(self.by_rule(s), self.floor)
            mistaken = y * forecast.margin <= 0
            factor = exp(share * self.step * (0.55 if mistaken else -0.45))
            self.q, anew = self.ceiling.move(self.q, s, factor)
            self.t = min(self.t, 5000) if anew else self.t
        self.seen[float(y)] += 1


class Capped(Query):
    """The threshold of the default for many classes, under a second one that holds a rate."""

    def __init__(self, explore=0.005, covers=True, first_share=0.1):
        self.floor = explore
        self.q = self.qr = None
        self.t = self.labels = self.sought = self.asked = 0
        self.seen = {}
        self.late = False
        self.covers, self.coverage = covers, Coverage(share=first_share)

    def preview(self, x):
        if self.covers and self.labels < 400:
            self.coverage.preview(x)

    @property
    def by_coverage(self):
        return self.coverage.speaks and (self.asked < 15 or len(self.seen) < 2)

    def certainty(self, forecast):
        return abs(forecast.margin) / forecast.unit / self.coverage.weight

    def by_rule(self, s):
        e = min(self.q, self.qr)
        return 1.0 if s <= e else (e / s) ** 4

    def few(self, k):
        share = self.labels / len(self.seen) if self.seen else self.labels
        return self.seen.get(k, 0) < min(10, 0.2 * share)

    def seeks(self, forecast, told=0):
        pair = getattr(forecast, "best", 0), getattr(forecast, "second", 1)
        begun = self.labels >= 20 * len(self.seen)
        may_be_late = begun and any(self.few(k) for k in pair)
        return may_be_late and self.sought - told < self.labels / 8

    def share(self, forecast, told=0):
        odds = self.by_rule(self.certainty(forecast))
        if self.seeks(forecast, told):
            return odds
        return min(1.0, odds / self.floor) if self.floor else 1.0

    def probability(self, x, forecast):
        if self.by_coverage:
            return 1.0 if self.coverage.stands_out else self.floor
        if len(self.seen) < 2:
            return 1.0 if self.labels < 20 else max(0.1, self.floor)
        s = self.certainty(forecast)
        if self.q is None:
            self.q = self.qr = max(s / 2, 1e-6)
        return 1.0 if self.seeks(forecast) else max(self.by_rule(s), self.floor)

    def advance(self, forecast, asked):
        self.t += 1
        first = self.by_coverage
        if self.q is not None and not first:
            spent = self.share(forecast) if asked else 0.0
            self.sought += asked and self.seeks(forecast)
            if not asked:
                self.q *= 1 + 4 / self.t
            self.qr = min(self.qr * exp(0.2 * (0.1 - spent)), 4 * self.q)
            self.q = min(self.q, 4 * self.qr)
        self.coverage.decide(asked, first)
        self.asked += asked

    def count_class(self, k):
        self.labels += 1
        self.late = self.few(k)
        self.seen[k] = self.seen.get(k, 0) + 1

    def observe(self, x, forecast, y):
        if self.q is None:
            return
        mistaken = y * forecast.margin <= 0
        if mistaken and self.late:
            self.q, self.qr = self.q * exp(0.55), max(self.q, self.qr) * exp(0.55)
        else:
            share = self.share(forecast, told=1)
            in_deviations = forecast.variance > 0 and self.labels > len(x)
            least = 0.3 if in_deviations else 0.0
            self.q = max(self.q * exp(share * (0.55 if mistaken else -0.45)), least)


class Budget(Query):
    """Another rule within a budget: a line to keep to, and the least certain rows to fill up."""

    def __init__(self, query, total=None, horizon=None, rate=None, cost=None, per_label=None):
        self.query, self.horizon, self.rate = query, horizon, rate
        self.total = total if cost is None else cost // per_label
        self.t = self.n = 0
        self.q = None

    def line(self, t):
        """Return the labels that should have been asked after t rounds."""
        if self.rate:
            return self.rate * t
        return self.total * min(t / self.horizon, 1) if self.horizon else None

    @property
    def most(self):
        line = self.line(self.t + 1)
        if self.rate:
            return line
        ahead = max(0.1 * self.total, 10)
        return min(self.total, line + ahead) if self.horizon else self.total

    @property
    def share(self):
        """Return the share of the rounds to come that is to be asked."""
        if self.rate:
            return self.rate
        if not self.horizon or self.t >= self.horizon:
            return 0.0
        return min(1.0, (self.total - self.n) / (self.horizon - self.t))

    def probability(self, x, forecast):
        odds = self.query.probability(x, forecast)
        if self.n + 1 > self.most:
            return 0.0
        if self.share == 1 or (self.rate and self.line(self.t + 1) - self.n >= 1.5):
            return 1.0
        behind = self.share > 0 and self.n + bool(self.rate) < self.line(self.t + 1)
        s = abs(forecast.margin) / forecast.unit
        return 1.0 if behind and (self.q is None or s <= self.q) else odds

    def advance(self, forecast, asked):
        self.query.advance(forecast, asked)
        if self.share > 0:
            s = abs(forecast.margin) / forecast.unit
            self.q = (self.q or s / 2 or None) and (self.q or s / 2) * exp(
                0.2 * (self.share - asked)
            )
        self.t += 1
        self.n += asked

    def preview(self, x):
        self.query.preview(x)

    def count_class(self, k):
        self.query.count_class(k)

    def observe(self, x, forecast, y):
        self.query.observe(x, forecast, y)


class Floor(Query):
    """Another rule above a floor; it does not hear of labels that only the floor asked for."""

    def __init__(self, query, explore):
        self.query, self.explore = query, explore

    def probability(self, x, forecast):
        return max(self.query.probability(x, forecast), self.explore)

    def advance(self, forecast, asked):
        self.query.advance(forecast, asked)

    def preview(self, x):
        self.query.preview(x)

    def count_class(self, k):
        self.query.count_class(k)

    def observe(self, x, forecast, y):
        if self.query.probability(x, forecast) >= self.explore:
            self.query.observe(x, forecast, y)
