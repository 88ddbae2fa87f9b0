"""The multiclass Ballseptron of [SS05], section 4: one prototype a class."""

import numpy as np


class MulticlassBallseptron:
    def __init__(self, d, n_classes, r, mistakes_too=False):
        self.prototypes = np.zeros((n_classes, d))
        self.r, self.mistakes_too = r, mistakes_too
        self.n_mistakes = 0
        self.n_margin_errors = 0

    def learn(self, x, label):
        scores = self.prototypes @ x
        others = [k for k in range(len(scores)) if k != label]
        rival = max(others, key=lambda k: scores[k])
        gap = self.prototypes[label] - self.prototypes[rival]
        if scores[label] <= scores[rival]:  # a tie is a mistake: there is no direction to move in
            self.n_mistakes += 1
            if self.mistakes_too and gap.any():
                x = x - self.r * gap / np.sqrt(gap @ gap)
        elif (x @ gap) / np.sqrt(gap @ gap) <= self.r:
            x = x - self.r * gap / np.sqrt(gap @ gap)
            self.n_margin_errors += 1
        else:
            return
        self.prototypes[label] += x
        self.prototypes[rival] -= x
