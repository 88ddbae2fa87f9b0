"""Judge learners: progressive runs, traces, curves, certificates."""

from selectron.evaluate.batch import BatchHypotheses, LinearHypothesis, batch_hypotheses
from selectron.evaluate.certificate import Certificate
from selectron.evaluate.first_passage import Curve, first_passage
from selectron.evaluate.paired import Difference, holm, paired_differences, signed_rank
from selectron.evaluate.plots import (
    RunCurve,
    learning_curve,
    plot_bands,
    plot_curves,
    plot_data_sets,
    plot_estimates,
    plot_ranks,
)
from selectron.evaluate.progressive import progressive
from selectron.evaluate.ranks import Ranks, average_ranks, critical_difference
from selectron.evaluate.trace import Found, Trace, macro_f1, micro

__all__ = [
    "BatchHypotheses",
    "Certificate",
    "Curve",
    "Difference",
    "Found",
    "LinearHypothesis",
    "Ranks",
    "RunCurve",
    "Trace",
    "average_ranks",
    "batch_hypotheses",
    "critical_difference",
    "first_passage",
    "holm",
    "learning_curve",
    "macro_f1",
    "micro",
    "paired_differences",
    "plot_bands",
    "plot_curves",
    "plot_data_sets",
    "plot_estimates",
    "plot_ranks",
    "progressive",
    "signed_rank",
]
