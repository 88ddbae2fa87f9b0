"""Judge learners: progressive runs, traces, curves, certificates."""

from selectron.evaluate.certificate import Certificate
from selectron.evaluate.f_measure import Found, macro_f1, micro
from selectron.evaluate.first_passage import Curve, first_passage
from selectron.evaluate.plots import (
    RunCurve,
    learning_curve,
    plot_bands,
    plot_curves,
    plot_estimates,
)
from selectron.evaluate.progressive import progressive
from selectron.evaluate.trace import Trace

__all__ = [
    "Certificate",
    "Curve",
    "Found",
    "RunCurve",
    "Trace",
    "first_passage",
    "learning_curve",
    "macro_f1",
    "micro",
    "plot_bands",
    "plot_curves",
    "plot_estimates",
    "progressive",
]
