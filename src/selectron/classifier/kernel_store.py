"""What a file says about a learner with a kernel, beside its arrays."""

from dataclasses import asdict
from typing import Any

from selectron.classifier.inputs import no_rows
from selectron.classifier.kernel_machine import KernelMachine
from selectron.classifier.rules import Rules
from selectron.kernels import functions
from selectron.kernels.choice import KernelChoice


def describe_kernel(machine: KernelMachine) -> dict[str, Any]:
    """Describe kernel, memory and room; a function of the user's cannot be written to a file."""
    if callable(machine.choice.kernel):
        raise ValueError(
            "a learner whose kernel is a function cannot be saved: name a kernel, or pickle it"
        )
    kernel = machine.core.kernel
    return {
        "choice": asdict(machine.choice),
        "function": {"name": type(kernel).__name__} | kernel._asdict(),
        "sparse": machine.sparse,
        "n_classes": machine.n_classes,
        "room": machine.room(),
    }


def described_machine(
    described: dict[str, Any], rules: Rules, d: int, dtype: Any, seed: int, ledger: Any
) -> KernelMachine:
    """Make a machine with room for the arrays of the file."""
    numbers = dict(described["function"])
    function = getattr(functions, numbers.pop("name"))(**numbers)
    machine = KernelMachine(
        rules,
        no_rows(d, dtype, sparse=described["sparse"]),
        seed,
        KernelChoice(**described["choice"]),
        n_classes=described["n_classes"],
        function=function,
    )
    machine.ledger = ledger
    machine.provide(*described["room"])
    return machine
