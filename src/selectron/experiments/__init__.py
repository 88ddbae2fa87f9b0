"""The papers' tables and figures, one file each."""

from selectron.experiments.default_families import DEFAULT_FAMILIES
from selectron.experiments.default_sphere import SPHERE
from selectron.experiments.dkm09_labels import DKM09_LABELS
from selectron.experiments.estimate_coverage import ESTIMATE_COVERAGE
from selectron.experiments.kernel_budget import KERNEL_BUDGET
from selectron.experiments.mon06_figure_2_5 import FIGURE_2_5
from selectron.experiments.mon06_pages import FIGURE_2_6, FIGURE_2_7, FIGURE_2_8
from selectron.experiments.mon06_regret import REGRET
from selectron.experiments.mon06_table_4_1 import TABLE_4_1
from selectron.experiments.mon06_trace import FIGURE_2_9, FIGURE_2_10, FIGURE_2_11
from selectron.experiments.multiclass import MULTICLASS
from selectron.experiments.peers_labels import PEERS_LABELS
from selectron.experiments.poller import POLLER
from selectron.experiments.poller_http import POLLER_HTTP
from selectron.experiments.power_learned import POWER_LEARNED
from selectron.experiments.registry import Experiment
from selectron.experiments.ss05_figure_3 import FIGURE_3
from selectron.experiments.stop_when import STOP_WHEN
from selectron.experiments.tracking import TRACKING

EXPERIMENTS: dict[str, Experiment] = {
    "dkm09-labels": DKM09_LABELS,
    "sphere": SPHERE,
    "default-families": DEFAULT_FAMILIES,
    "estimate-coverage": ESTIMATE_COVERAGE,
    "stop-when": STOP_WHEN,
    "tracking": TRACKING,
    "mon06-figure-2-5": FIGURE_2_5,
    "mon06-figure-2-6": FIGURE_2_6,
    "mon06-figure-2-7": FIGURE_2_7,
    "mon06-figure-2-8": FIGURE_2_8,
    "mon06-figure-2-9": FIGURE_2_9,
    "mon06-figure-2-10": FIGURE_2_10,
    "mon06-figure-2-11": FIGURE_2_11,
    "mon06-regret": REGRET,
    "mon06-table-4.1": TABLE_4_1,
    "peers-labels": PEERS_LABELS,
    "multiclass": MULTICLASS,
    "poller": POLLER,
    "poller-http": POLLER_HTTP,
    "power-learned": POWER_LEARNED,
    "ss05-figure-3": FIGURE_3,
    "kernel-budget": KERNEL_BUDGET,
}

__all__ = ["EXPERIMENTS", "Experiment"]
