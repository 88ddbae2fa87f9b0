"""The options that choose a kernel and a memory, shared by the commands."""

from argparse import ArgumentParser, Namespace
from typing import Any

from selectron.kernels.choice import NAMES, REMOVALS, KernelChoice


def add_kernel_options(parser: ArgumentParser) -> None:
    parser.add_argument("--kernel", choices=NAMES, help="learn from support vectors")
    parser.add_argument("--degree", type=int, default=3, help="of the poly kernel [3]")
    parser.add_argument("--gamma", default="scale", help="a number, scale or auto [scale]")
    parser.add_argument("--coef0", type=float, default=0.0, help="of the poly kernel [0]")
    parser.add_argument("--budget", type=int, metavar="N", help="keep N support vectors at most")
    parser.add_argument("--removal", choices=REMOVALS, default=REMOVALS[0],
                        help="what makes room when they are N [random]")  # fmt: skip


def kernel_of(options: Namespace) -> dict[str, Any]:
    """Return the learner's parameters, checked before any data are read."""
    if options.kernel is None:
        if options.budget is not None:
            raise ValueError("--budget is for learners with a kernel: name one by --kernel")
        return {}
    settings = {
        "kernel": options.kernel,
        "degree": options.degree,
        "gamma": _gamma(options.gamma),
        "coef0": options.coef0,
        "budget": options.budget,
        "removal": options.removal,
    }
    KernelChoice(**settings)
    return settings


def _gamma(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text
