"""Judge learners: progressive runs, traces, curves, certificates."""

from selectron.evaluate.certificate import Certificate
from selectron.evaluate.plots import learning_curve, plot_curves
from selectron.evaluate.progressive import progressive
from selectron.evaluate.trace import Trace

__all__ = ["Certificate", "Trace", "learning_curve", "plot_curves", "progressive"]
