"""The poller as it is defined: lists, loops, matrices of switching, no compiled code."""

from math import exp, log

from selectron.experts import optimal_alphas


class PlainPoller:
    def __init__(self, min_interval, max_interval, poll_cost, delay_cost):
        rungs = [min_interval]
        while 2 * rungs[-1] < max_interval * (1 - 1e-9):
            rungs.append(2 * rungs[-1])
        if rungs[-1] < max_interval:
            rungs.append(max_interval)
        self.experts = []
        for rung in rungs:
            for reach in (1, 4, 16, 64):
                expert = (rung, min(max_interval, reach * rung))
                if expert not in self.experts:
                    self.experts.append(expert)
        self.poll_cost, self.delay_cost = poll_cost, delay_cost
        self.alphas = [a for a in optimal_alphas(horizon=1000).tolist() if a <= 0.5]
        n = len(self.experts)
        self.rows = [[1 / n] * n for _ in self.alphas]
        self.top = [1 / len(self.alphas)] * len(self.alphas)
        self.gap = 0.0
        self.silence = 0.0

    def proposed(self):
        return [min(hi, max(lo, self.silence)) for lo, hi in self.experts]

    def weights(self):
        n = len(self.experts)
        return [
            sum(t * row[i] for t, row in zip(self.top, self.rows, strict=True)) for i in range(n)
        ]

    def next(self):
        return 1 / sum(w / t for w, t in zip(self.weights(), self.proposed(), strict=True))

    def observe(self, n_items, elapsed):
        n = len(self.experts)
        losses = [
            self.poll_cost * elapsed / t + self.delay_cost * n_items * t / 2
            for t in self.proposed()
        ]
        least = min(losses)
        mean = sum(w * (loss - least) for w, loss in zip(self.weights(), losses, strict=True))
        first = self.gap == 0
        eta = 10 * log(n) / (mean if first else self.gap) if mean > 0 or not first else 1.0
        likelihood = [exp(-eta * (loss - least)) for loss in losses]
        evidence = [
            sum(p * like for p, like in zip(row, likelihood, strict=True)) for row in self.rows
        ]
        total = sum(t * e for t, e in zip(self.top, evidence, strict=True))
        self.gap += mean if first else max(0.0, mean + log(total) / eta)
        self.top = [t * e / total for t, e in zip(self.top, evidence, strict=True)]
        for j, alpha in enumerate(self.alphas):
            learnt = [
                p * like / evidence[j] for p, like in zip(self.rows[j], likelihood, strict=True)
            ]
            self.rows[j] = [
                sum(learnt[k] * (1 - alpha if k == i else alpha / (n - 1)) for k in range(n))
                for i in range(n)
            ]
        self.silence = 0.0 if n_items > 0 else self.silence + elapsed
