"""Mixtures of experts that follow the best one, also when it changes ([Mon06], chapter 2)."""

from pathlib import Path

import numpy as np

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
from selectron.files import DamagedFile as DamagedFile
from selectron.files import Format, Tensors, read_file, refusing, write_file

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


FORMAT = Format(
    "selectron experts", 2, "kind", file="a file of experts", owner="selectron's experts"
)
KINDS: dict[str, type[Mixture]] = {
    kind.__name__: kind for kind in (StaticExpert, FixedShare, MarkovShare, LearnAlpha)
}


def save_experts(experts: Mixture, path: str | Path) -> None:
    """Write a mixture to a file, whole or not at all.

    Examples
    --------
    >>> import tempfile
    >>> experts = StaticExpert(3)
    >>> _ = experts.update([0.1, 0.7, 2.0])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_experts(experts, f"{folder}/three.experts")
    ...     load_experts(f"{folder}/three.experts").weights.round(4).tolist()
    [0.5888, 0.3231, 0.0881]
    """
    kind = type(experts).__name__
    if KINDS.get(kind) is not type(experts):
        raise TypeError(f"cannot save a {kind}; known are {', '.join(KINDS)}")
    tensors = {
        name: np.ascontiguousarray(value).reshape(np.shape(value))  # a number stays one
        for name, value in experts.state().items()
    }
    write_file(Path(path), FORMAT, tensors, kind)


def load_experts(path: str | Path) -> Mixture:
    """Read a mixture that goes on exactly where it was saved."""
    tensors, kind = read_file(Path(path), FORMAT)
    with refusing(Path(path)):
        return made_mixture(kind, tensors)


def made_mixture(kind: str, state: Tensors) -> Mixture:
    """Return the mixture of this kind that was in this state."""
    if kind not in KINDS:
        raise ValueError(f"it holds a {kind}; known are {', '.join(KINDS)}")
    return KINDS[kind].from_state(state)
