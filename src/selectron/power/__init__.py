"""802.11 power saving ([Mon06] section 2.5): a simulator, policies, and their comparison.

>>> from selectron.power import BoundedSlowdown, simulate, web_workload
>>> run = simulate(BoundedSlowdown(p=0.5), web_workload(pages=10, seed=1))
>>> f"{run.energy_j_per_page:.2f} J a page, {run.latency_s:.3f} s"
'1.48 J a page, 0.282 s'
"""

from selectron.power.comparison import Comparison, Row, compare
from selectron.power.network import Network, Radio
from selectron.power.policies import named_policy, standard_policies
from selectron.power.policies.fixed import AlwaysOn, BoundedSlowdown, StaticPsm
from selectron.power.policies.learned import Learned
from selectron.power.policies.lpsm import (
    INVERSE,
    INVERSE_LOG,
    DelayAndEnergy,
    Lpsm,
    SleepLoss,
    lpsm_inverse_log,
)
from selectron.power.policies.plan import FixedPlan
from selectron.power.policies.policy import Controller, Policy
from selectron.power.polling import AdaptivePoller, BackOff, FixedInterval
from selectron.power.regimes import changing_workload
from selectron.power.results import Diary, Run
from selectron.power.simulator import simulate
from selectron.power.thesis import mismatches, report
from selectron.power.web import web_workload
from selectron.power.workload import Fetch, Page, Push, Workload

__all__ = [
    "INVERSE",
    "INVERSE_LOG",
    "AdaptivePoller",
    "AlwaysOn",
    "BackOff",
    "BoundedSlowdown",
    "Comparison",
    "Controller",
    "DelayAndEnergy",
    "Diary",
    "Fetch",
    "FixedInterval",
    "FixedPlan",
    "Learned",
    "Lpsm",
    "Network",
    "Page",
    "Policy",
    "Push",
    "Radio",
    "Row",
    "Run",
    "SleepLoss",
    "StaticPsm",
    "Workload",
    "changing_workload",
    "compare",
    "lpsm_inverse_log",
    "mismatches",
    "named_policy",
    "report",
    "simulate",
    "standard_policies",
    "web_workload",
]
