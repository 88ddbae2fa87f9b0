"""The pool baseline of texts at hand."""

import numpy as np
from scipy.sparse import csr_array
from sklearn.linear_model import LogisticRegression

from selectron.reproduce.default import text_at_hand


def test_the_goal_is_predicted_once_and_is_that_of_the_whole_curve(monkeypatch):
    draw = np.random.default_rng(0)
    labels = draw.random(150) < 0.4
    counts = draw.poisson(0.3 + 0.5 * (labels[:, np.newaxis] & (np.arange(30) < 6)))
    texts = text_at_hand.Texts(csr_array(counts[:90]), labels[:90], counts[90:], labels[90:])
    monkeypatch.setattr(text_at_hand, "LABELS", 40)
    curve = dict(text_at_hand.pool_errors(texts, 3))
    assert len(set(curve.values())) > 3
    predicted = 0

    def predict(model, rows, own=LogisticRegression.predict):
        nonlocal predicted
        predicted += 1
        return own(model, rows)

    monkeypatch.setattr(LogisticRegression, "predict", predict)
    assert text_at_hand.pool_error(texts, 3) == curve[40]
    assert predicted == 1
