"""From parameters to a run: begun by the first rows, checked against all later ones."""

from copy import deepcopy
from typing import Any, Self
from warnings import warn

import numpy as np

from selectron.classifier.batch import refusal, tame, vet
from selectron.classifier.batch_of_one import batch_of_one
from selectron.classifier.inputs import (
    feature_names,
    outside,
    part,
    read_rows,
    shape,
    unit_length,
)
from selectron.classifier.kernel_machine import KernelMachine
from selectron.classifier.kernel_rules import kernel_machine
from selectron.classifier.labels import Labels
from selectron.classifier.ledger import with_ledger
from selectron.classifier.machine import Machine, Stop
from selectron.classifier.multilabel import MultilabelRun, rows_of
from selectron.classifier.one_row import OneRow, Owner, one_row
from selectron.classifier.parameters import Parameters
from selectron.classifier.row_forms import as_table
from selectron.classifier.rules import Wishes, choose_rules
from selectron.classifier.run import Run
from selectron.classifier.seeds import seed_of
from selectron.loop import NOT_FINITE, UNSOUND
from selectron.numeric.rows import Csr, Rows

# Bound to compiled code: made anew after a copy.
THIN = ("_one_row", "_predict_row", "_learn_row", "_row_class", "_bound_to")

AnyRun = Run | MultilabelRun


class Lifecycle(Parameters):
    """Own at most one run; everything learnt is in it."""

    scaling: Any
    update: Any
    query: Any
    fit_intercept: bool
    random_state: Any
    explore: float | None
    window: int | None
    stop_when: str | None
    kernel: Any
    n_features_in_: int
    feature_names_in_: Any
    _run: AnyRun | None = None
    _begun_with: dict[str, Any]  # the parameters: those of now may be others
    learn_one: Any
    _one_row: OneRow  # for rows of the class last seen
    _predict_row: Any  # two of its three, a look-up nearer
    _learn_row: Any
    _row_class: type | None = None
    _bound_to: Machine | None = None

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in THIN}

    def _begin(self, rows: Rows, labels: Labels, n: int | None) -> Run:
        wishes, n_classes = Wishes(self.update, self.query), max(2, len(labels.classes))
        if self.kernel is not None:
            return Run(kernel_machine(self, rows, n_classes), labels, wishes)
        d = shape(rows)[1]
        rules = choose_rules(
            self.scaling,
            self.update,
            self.query,
            fit_intercept=self.fit_intercept,
            d=d,
            sparse=isinstance(rows, Csr),
            rows=n,
            n_classes=len(labels.classes),
        )
        if rules.update.UNIT_ROWS and not unit_length(rows):
            warn(
                f"{rules.update.label} is made for rows of length one: yours are scaled to it",
                stacklevel=3,
            )
        said = self.explore, self.window, self.stop_when
        rules, ledger = with_ledger(rules, *said, many=n_classes > 2)
        seed = seed_of(self.random_state)
        machine = Machine(rules, d, rows.values.dtype, seed, n_classes, ledger)
        return Run(machine, labels, wishes)

    def _begin_several(self, rows: Rows, names: Labels, n: int | None) -> MultilabelRun:
        """Begin a learner of two classes for each of several labels, all with the same coins."""
        first = self._begin(rows, Labels(), n).machine
        if first.ledger is not None:
            raise ValueError(
                "explore, window and stop_when are for one label a row; with several labels a row "
                "make a learner for each label whose error is to be estimated"
            )
        machines = [deepcopy(first) for _ in names.classes[1:]]
        return MultilabelRun([first, *machines], names)

    def _adopt(self, run: AnyRun, X: Any = None) -> None:
        self._unbind_if_moved(run)
        if self._run is run:
            return
        self._run = run
        self._begun_with = self.get_params(deep=False)
        self.n_features_in_ = run.machine.d
        names = feature_names(X)
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _teach(self, run: AnyRun, X: Any, rows: Rows, y: Any) -> Self:
        """Learn the rows; a run that is new takes the place of the one before."""
        if callable(y):  # labels are being paid for: what is learnt is kept, whatever happens
            vet(run.machine, rows)
            self._adopt(run, X)
        try:
            run.teach(rows, y)
        finally:
            self._unbind_if_moved(run)
        self._adopt(run, X)
        return self

    def _unbind_if_moved(self, run: AnyRun) -> None:
        """Drop the thin path if a class has joined, or if a row that was begun waits for its label.

        It is bound to the machine of then, and takes in every row anew.
        """
        moved = self._bound_to is not run.machine or run.machine.waits
        if self._row_class is not None and moved:
            self._unbind()

    def _unbind(self) -> None:
        self._row_class = None

    def __copy__(self) -> Self:
        """Return a learner of its own: two that share what they have learnt would spoil it."""
        return deepcopy(self)

    def _owner(self) -> Owner:
        def learn(x: Any, y: Any) -> Any:
            self._unbind()
            return self.learn_one(x, y)

        return Owner(self, learn)

    def _started(self, error: type[Exception] | None = None) -> AnyRun:
        if self._run is None:
            message = (
                f"This {type(self).__name__} instance is not fitted yet: call fit, partial_fit, "
                "ask or learn_one first"
            )
            if error is not None:
                raise error(message)
            from sklearn.exceptions import NotFittedError  # noqa: PLC0415

            raise NotFittedError(message)
        return self._run

    def _read_more(self, X: Any) -> Rows:
        """Read rows; once a run has begun, they must be of its width."""
        if self._run is None:
            return read_rows(X, owner=type(self).__name__)
        machine = self._run.machine
        self._check_names(X)
        rows = read_rows(X, machine.dtype, owner=type(self).__name__)
        width = shape(rows)[1]
        if width != machine.d:
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting {machine.d} "
                "features as input"
            )
        return rows

    def _check_names(self, X: Any) -> None:
        if hasattr(X, "columns") or hasattr(self, "feature_names_in_"):
            from sklearn.utils.validation import _check_feature_names  # noqa: PLC0415

            _check_feature_names(self, X, reset=False)

    def _margins(self, X: Any, *, exact: bool) -> Any:
        """Return the margins of two classes, or the scores of more."""
        run = self._started()
        machine, rows = run.machine, self._read_more(X)
        margins = run.margins(rows, exact=exact)
        broken = ~np.isfinite(margins)
        for t in np.flatnonzero(broken.any(axis=1) if broken.ndim == 2 else broken):
            if outside(rows) is not None:
                raise refusal(machine, rows, Stop(int(t), UNSOUND))
            if np.isinf(margins[t]).any() or not tame(part(rows, int(t), int(t) + 1)):
                raise refusal(machine, rows, Stop(int(t), NOT_FINITE))
            margins[t] = 0.0  # a row without a direction is on neither side
        return margins

    def _thin(self, x: Any) -> OneRow:
        """Return the thin path for rows of this class; the first row may begin the run."""
        if self._run is None:
            row = as_table(x if hasattr(x, "tocsr") else np.asarray(x, dtype=float))
            self._adopt(self._begin(read_rows(row), Labels(), None))
        run = self._started()
        if isinstance(run, MultilabelRun):
            self._one_row = rows_of(run)
        elif run.machine.waits:
            return batch_of_one(run, x)
        elif isinstance(run.machine, KernelMachine):
            self._one_row = batch_of_one(run, x)
        else:
            self._one_row = one_row(run, x, self._owner())
        self._predict_row, self._learn_row = self._one_row.predict, self._one_row.learn
        self._bound_to = run.machine
        self._row_class = x.__class__  # last: another thread may look
        return self._one_row

    def _drop_if_empty(self) -> None:
        """Forget a run whose very first row was refused: its width was never accepted."""
        if self._run is not None and self._run.machine.n_seen == 0:
            self._run = None
            self._unbind()
            del self.n_features_in_
