"""Which rows stand for many others, as it is defined: all products anew, nothing in place."""

import numpy as np


class Coverage:
    """How near the first rows of a stream are to those that were asked for."""

    def __init__(self, room=256, share=0.1):
        self.room, self.share = room, share
        self.rows, self.nearest, self.questions = [], [], []  # questions: of the rows kept
        self.x = self.usual = self.limit = None

    def products(self, x):
        return [float(x @ u) for u in self.rows]

    def preview(self, x):
        self.x = np.array(x, float)
        products = self.products(self.x)
        gains = [max(p - near, 0.0) for p, near in zip(products, self.nearest, strict=True)]
        self.gain = sum(gains) / max(len(gains), 1)
        self.kept = len(self.rows) < self.room
        if self.kept:
            near = [float(self.x @ u) for u in self.questions]
            self.nearest.append(max([0.0, sum(products) / max(len(products), 1), *near]))
            self.rows.append(self.x)

    @property
    def speaks(self):
        if self.x is None or len(self.rows) <= 10:
            return False
        return self.gain > 0 or (self.usual or 0) > 1e-6

    @property
    def stands_out(self):
        return self.limit is None or self.gain >= self.limit

    @property
    def weight(self):
        if not self.speaks or not self.usual:
            return 1.0
        return (max(self.gain, 1e-4) / max(self.usual, 1e-4)) ** 0.7

    def decide(self, asked, first):
        if self.x is None:
            return
        self.usual = self.usual + 0.05 * (self.gain - self.usual) if self.usual else self.gain
        if first:
            self.limit = (self.limit or self.gain) * np.exp(2 * self.share * (asked - self.share))
        if asked:
            new = self.products(self.x)
            self.nearest = [max(pair) for pair in zip(self.nearest, new, strict=True)]
            if self.kept:
                self.questions.append(self.x)
        self.x = None
