"""The rates that are mixed: a few sizes of bet, since the best one is known only afterwards.

Chosen elsewhere, on logs of image streams that nothing here is judged on. Every grid is valid; a
poor one costs width (up to a quarter), a finer one a little of the level.
"""

import numpy as np

from selectron.estimate.mixture import log_shares

UP_SHARES = 0.8 * 1.5 ** -np.arange(12.0)  # of the floor: a rate above the odds may lose all
UP_WEIGHTS = log_shares(1.0 / ((np.arange(12) + 1.0) * (np.arange(12) + 2.0)))
LOW_RATES = 0.5 * 2.0 ** -np.arange(16.0)
LOW_WEIGHTS = log_shares(1.0 / (np.arange(16) + 2.0))
