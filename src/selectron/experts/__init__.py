"""Mixtures of experts that follow the best one, also when it changes ([Mon06], chapter 2)."""

from selectron.experts.discretisation import discretisation_size, optimal_alphas
from selectron.experts.fixed_share import FixedShare
from selectron.experts.learn_alpha import LearnAlpha
from selectron.experts.markov_share import MarkovShare
from selectron.experts.mixture import Mixture
from selectron.experts.rate import AdaHedge
from selectron.experts.regret import (
    BestAlpha,
    BestExpert,
    BestPartition,
    best_alpha,
    best_expert,
    best_partition,
    fixed_share_losses,
    regret_to_best_alpha,
    regret_to_best_expert,
    regret_to_best_partition,
)
from selectron.experts.static import StaticExpert
from selectron.experts.store import load_experts, save_experts

__all__ = [
    "AdaHedge",
    "BestAlpha",
    "BestExpert",
    "BestPartition",
    "FixedShare",
    "LearnAlpha",
    "MarkovShare",
    "Mixture",
    "StaticExpert",
    "best_alpha",
    "best_expert",
    "best_partition",
    "discretisation_size",
    "fixed_share_losses",
    "load_experts",
    "optimal_alphas",
    "regret_to_best_alpha",
    "regret_to_best_expert",
    "regret_to_best_partition",
    "save_experts",
]
