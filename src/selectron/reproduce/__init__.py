"""Run the tables and figures of the papers again, and show how the defaults were chosen.

There is a folder for each paper, `default` for the defaults of this library, and `peers` for other
libraries. A module in them is a study: its functions `jobs`, `measure`, `report`, `text` and `draw`
make one experiment. `harness` has the code that all studies share.
"""

from typing import Any

from selectron.reproduce.default import (
    estimate_coverage,
    families,
    multiclass,
    poller,
    poller_http,
    power_learned,
    sphere,
    stop_when,
    tracking,
)
from selectron.reproduce.dkm09 import labels as dkm09_labels
from selectron.reproduce.harness.experiment import Experiment
from selectron.reproduce.harness.problems import require_digits
from selectron.reproduce.mon06 import regret, sleeping, table_4_1, trace
from selectron.reproduce.peers import labels as peers_labels
from selectron.reproduce.ss05 import figure_3, kernel_budget

__all__ = ["EXPERIMENTS", "Experiment"]

# Names, the lines that `selectron reproduce --list` shows, studies, and how many seeds they have.
EXPERIMENTS: dict[str, Experiment[Any, Any]] = {
    experiment.name: experiment
    for experiment in (
        Experiment("dkm09-labels", "labels on the sphere, [DKM09] Theorems 1 and 3: d log(1/eps) "
                   "against a power of 1/eps", dkm09_labels, 8),
        Experiment("sphere", "labels on the sphere of the default learner, beside DKM's: both d "
                   "log(1/eps), less than half", sphere, 8),
        Experiment("default-families", "labels of the default learner on images, tables, synthetic "
                   "sets, noisy labels, rare classes", families, 20, reads_data=True),
        Experiment("estimate-coverage", "honest numbers: bias and coverage of the estimated error "
                   "over 2,000 runs a learner", estimate_coverage),
        Experiment("stop-when", "stop_when on MNIST 4 against 7: when it stops, at what price, and "
                   "how often wrongly", stop_when, 200, reads_data=True, processes=True,
                   needs=stop_when.digits),
        Experiment("tracking", "learners as experts under drift: mistakes with all labels and with "
                   "few, Reuters by date", tracking, 8, reads_data=True),
        Experiment("mon06-figure-2-5", "[Mon06] Figure 2-5: how LPSM's sleeping times evolve, with "
                   "1/T and with 1/log T", sleeping.FIGURE_2_5, 1),
        Experiment("mon06-figure-2-6", "[Mon06] Figure 2-6: energy per page of every power-saving "
                   "policy", sleeping.FIGURE_2_6, 4),
        Experiment("mon06-figure-2-7", "[Mon06] Figure 2-7: slowdown of every policy over no power "
                   "saving", sleeping.FIGURE_2_7, 4),
        Experiment("mon06-figure-2-8", "[Mon06] Figure 2-8: slowdown of single pages against their "
                   "own loading time", sleeping.FIGURE_2_8, 4),
        Experiment("mon06-figure-2-9", "[Mon06] Figure 2-9: loss of every expert and of LPSM",
                   trace.FIGURE_2_9, reads_data=True),
        Experiment("mon06-figure-2-10", "[Mon06] Figure 2-10: LPSM's weights on its experts",
                   trace.FIGURE_2_10, reads_data=True),
        Experiment("mon06-figure-2-11", "[Mon06] Figure 2-11: LPSM against the best expert, fixed "
                   "and current", trace.FIGURE_2_11, reads_data=True),
        Experiment("mon06-regret", "[Mon06] sections 2.3 and 2.4: regret is log T when the "
                   "switching rate is learnt, else linear", regret, 1),
        Experiment("mon06-table-4.1", "labels to learn handwritten digits, [Mon06] Table 4.1 and "
                   "Figures 4-5 and 4-6, and ours", table_4_1, 5, reads_data=True,
                   processes=True, needs=require_digits),
        Experiment("peers-labels", "the digits of mon06-table-4.1 by other libraries' active "
                   "learners (10 to 50 folds)", peers_labels, 5, reads_data=True, processes=True,
                   needs=peers_labels.needs),
        Experiment("multiclass", "ten classes: labels to an error, and a class that comes late (10 "
                   "streams a problem)", multiclass, 10, reads_data=True,
                   processes=True, needs=require_digits),
        Experiment("poller", "AdaptivePoller against the best fixed interval in hindsight, "
                   "back-off and a fixed interval", poller, 8, reads_data=True),
        Experiment("poller-http", "AdaptivePoller on a real HTTP server of this machine, in a loop "
                   "and in asyncio; real time", poller_http, 1),
        Experiment("power-learned", "sleeping radios, [Mon06] section 2.5: a policy that learns, "
                   "against those of the thesis", power_learned),
        Experiment("ss05-figure-3", "[SS05] Figure 3: Ballseptron's mistakes against r on digits, "
                   "the D1 and D2 bounds under noise", figure_3, 5, reads_data=True,
                   processes=True, needs=require_digits),
        Experiment("kernel-budget", "a fixed memory: time, bytes and mistakes with 500 support "
                   "vectors, and with no limit", kernel_budget, reads_data=True,
                   processes=True, needs=require_digits),
    )
}  # fmt: skip
