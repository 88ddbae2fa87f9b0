"""Scalings that learn from rows without labels, as they are defined: one `absorb` a row."""

import numpy as np


class Winsorised:
    def __init__(self, d, clip=2.5, bias=0.5, cut=2.5):
        self.clip, self.bias, self.cut = clip, bias, cut
        self.t, self.usual = 0, 0.0
        self.mu, self.m2, self.sd = np.zeros(d), np.zeros(d), np.zeros(d)

    def absorb(self, x):
        self.t += 1
        dv, most = x - self.mu, self.clip * self.sd
        if self.t > 20:
            dv = np.where(self.sd > 0, np.clip(dv, -most, most), dv)
        self.mu = self.mu + dv / self.t
        self.m2 = self.m2 + dv**2 * (1 - 1 / self.t)
        self.sd = np.sqrt(self.m2 / self.t)
        v = self.clipped(x, self.clip)
        self.usual += (v @ v - self.usual) / self.t

    def clipped(self, x, most):
        return np.array([np.clip((x[j] - self.mu[j]) / sd, -most, most) if sd else 0.0
                         for j, sd in enumerate(self.sd)])  # fmt: skip

    def present(self, x):
        z = np.append(self.clipped(x, self.cut), self.bias * np.sqrt(self.usual))
        return z / (np.sqrt(z @ z) or 1.0)


class Table(Winsorised):
    """A table as `Automatic` presents it: cut at 3 deviations, whose estimate cuts at 2.5."""

    def __init__(self, d):
        super().__init__(d, cut=3.0)


def cleaned(early):
    """Return the first rows of a table without outliers, and the factor of each column's unit."""
    early, factors = early.copy(), np.ones(early.shape[1])
    for j, column in enumerate(early.T):
        median = np.sort(column)[(len(column) - 1) // 2]
        away = abs(column - median)
        apart = np.sort(away[away > 0])
        spread = apart[(len(apart) - 1) // 2] if len(apart) else 0.0
        column[away > 30 * spread] = median
        size = spread or abs(median)
        if size and not 1e-90 < size < 1e90:
            factors[j] = 2.0 ** min(-np.frexp(size)[1], 1000)
    return early, factors


class Centred:
    def __init__(self, d, bias=0.5):
        self.bias = bias
        self.t, self.mu = 0, np.zeros(d)

    def absorb(self, x):
        self.t += 1
        self.mu = self.mu + (x / np.linalg.norm(x) - self.mu) / self.t

    def present(self, x):
        away = x / np.linalg.norm(x) - self.mu
        length = np.linalg.norm(away)
        return np.append(away / length if length > 1e-12 else 0 * away, self.bias)


def presented(twin, X):
    """Return every row as it is presented just after it was absorbed."""
    rows = []
    for x in X:
        twin.absorb(x)
        rows.append(twin.present(x))
    return np.array(rows)


class Strokes(Centred):
    """Pictures of strokes as `Automatic` presents them: smoothed after a warm-up of 50 rows."""

    def __init__(self, d, bias=0.5):
        super().__init__(d, bias)
        self.side = round(d**0.5)
        self.early, self.passes, self.gain = [], 0, 1.0

    def absorb(self, x):
        super().absorb(x)
        if self.t <= 50:
            self.early.append(x)
        if self.t == 50:
            rows = np.array([super(Strokes, self).present(x)[:-1] for x in self.early])
            pictures = rows.reshape(-1, self.side, self.side)
            total = (pictures**2).sum()
            across = (pictures[:, :, 1:] * pictures[:, :, :-1]).sum()
            down = (pictures[:, 1:] * pictures[:, :-1]).sum()
            self.passes = int(0.5 - 1.0 / np.log(min(across, down) / total))
            self.gain = np.sqrt(total / (self.smooth(rows) ** 2).sum())

    def smooth(self, rows):
        """Multiply pictures by powers of the matrix of the bell [1 2 1]/4 from both sides."""
        n = self.side
        bell = 0.5 * np.eye(n) + 0.25 * np.eye(n, k=1) + 0.25 * np.eye(n, k=-1)
        bell = np.linalg.matrix_power(bell, self.passes)
        pictures = np.asarray(rows).reshape(-1, n, n)
        return (bell @ pictures @ bell).reshape(np.shape(rows))

    def present(self, x):
        z = super().present(x)
        return np.append(self.gain * self.smooth(z[:-1]), z[-1])
