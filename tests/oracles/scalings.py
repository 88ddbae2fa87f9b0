"""Scalings that learn from rows without labels, as they are defined: one `absorb` a row."""

import numpy as np


class Winsorised:
    def __init__(self, d, clip=2.5, bias=0.5):
        self.clip, self.bias = clip, bias
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
        v = self.clipped(x)
        self.usual += (v @ v - self.usual) / self.t

    def clipped(self, x):
        return np.array([np.clip((x[j] - self.mu[j]) / sd, -self.clip, self.clip) if sd else 0.0
                         for j, sd in enumerate(self.sd)])  # fmt: skip

    def present(self, x):
        z = np.append(self.clipped(x), self.bias * np.sqrt(self.usual))
        return z / (np.sqrt(z @ z) or 1.0)


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
