"""What was learnt, as numbers: a separator, or support vectors and their coefficients."""

from typing import Any

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.classifier.honest import Honest
from selectron.classifier.kernel_machine import KernelMachine
from selectron.protocol import hypothesis
from selectron.scalings import Intercept, Raw


class Hypothesis(Honest):
    """The attributes of a learner that show its hypothesis."""

    @property
    def support_vectors_(self) -> Any:
        return self._dual().support_vectors()

    @property
    def dual_coef_(self) -> Matrix:
        return self._dual().dual_coefficients()

    @property
    def coef_(self) -> Matrix:
        weights, d = self._separator()
        return weights[:, :d].copy()

    @property
    def intercept_(self) -> Vector:
        weights, d = self._separator()
        return weights[:, d].copy() if weights.shape[1] > d else np.zeros(len(weights))

    def _dual(self) -> KernelMachine:
        machine = self._started(AttributeError).machine
        if not isinstance(machine, KernelMachine):
            raise AttributeError("without a kernel there are no support vectors; use coef_")
        return machine

    def _separator(self) -> tuple[Matrix, int]:
        run = self._started(AttributeError)
        machine = run.machine
        if isinstance(machine, KernelMachine):
            raise AttributeError(
                "with a kernel there are no coefficients of features; use dual_coef_ with "
                "support_vectors_, or decision_function"
            )
        if not isinstance(machine.rules.scaling, Raw | Intercept):
            raise AttributeError(
                f"with {machine.rules.scaling.label} the margin is not linear in the row, so there "
                "are no coefficients; use decision_function"
            )
        return np.vstack([hypothesis(each.state.update) for each in run.machines]), machine.d
