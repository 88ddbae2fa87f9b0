"""`SelectiveClassifier`: learn from a stream, asking for as few labels as possible."""

from copy import deepcopy
from typing import Any
from warnings import warn

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.classifier.interface import StreamClassifier
from selectron.classifier.labels import Labels
from selectron.classifier.ledger import with_ledger
from selectron.classifier.machine import LinearMachine, Machine
from selectron.classifier.multilabel import MultilabelRun
from selectron.classifier.rows import unit_length
from selectron.classifier.rules import Wishes, choose_rules, kernel_rules
from selectron.classifier.run import Run
from selectron.kernels.choice import KernelChoice
from selectron.kernels.machine import KernelMachine
from selectron.numeric.coins import seed_of
from selectron.numeric.rows import Csr, Rows, shape
from selectron.protocol import hypothesis
from selectron.scalings import Intercept, Raw
from selectron.spec import QueryRule, Scaling, UpdateRule, by_name

KERNEL = ("kernel", "degree", "gamma", "coef0", "budget", "removal")


class SelectiveClassifier(StreamClassifier):
    """Learn classes from a stream, asking for as few labels as possible.

    Without arguments there is no knob to set: rows are scaled online, every label asked teaches a
    Bayesian probit belief (of low rank above 4,096 features and for sparse rows), and labels are
    asked below a threshold that holds the share of mistakes among them, now and then above it. The
    first 50 rows of a stream (a tenth of the rows, but at least 10, where `fit` gets fewer than
    500) only teach the scale: no label of theirs is asked.

    Parameters
    ----------
    update : update rule or text, optional
        How a label changes the hypothesis: one of `selectron.updates`, or its name, such as
        "perceptron" or "ridge:a=2".
    query : query rule or text, optional
        Whether to ask: one of `selectron.queries`, or its name, such as "margin:b=0.1".
    scaling : scaling or text, optional
        How rows are presented to the update rule: one of `selectron.scalings`. When an update rule
        is given, rows are taken as they are unless a scaling is given too.
    fit_intercept : bool
        Append a constant feature. The papers' separators pass through the origin.
    random_state : int, numpy.random.Generator or RandomState, optional
        Seed of the coins. The same seed gives the same run, bit for bit.
    explore : float, optional
        The least odds of a question, in (0, 1]. With it the error can be estimated without bias,
        at all times, from the labels asked: see `estimate` and `readout`.
    window : int, optional
        Rounds that the estimate of late looks back on, a multiple of 4; the later half of the
        stream if left out.
    stop_when : str, optional
        A goal such as "error<=0.03" or "recall>=0.9". Once the estimate of late is sure of it
        nothing is asked any more. Sets `explore` to 0.2 where it is not given.
    kernel : "linear", "poly", "rbf" or callable, optional
        Learn in dual form, from support vectors; `degree`, `gamma` and `coef0` as in scikit-learn,
        with "scale" measured on the rows of the first call.
    budget : int, optional
        Support vectors at most; `removal`, "random", "smallest" or "projection", says what makes
        room for a new one.

    Attributes
    ----------
    classes_ : ndarray
        The classes; of two, the first is on the negative side.
    coef_, intercept_ : ndarray
        A separator whose side is the sign of the margin, where there is one; of more than two
        classes a prototype each, of several labels a row a separator each.
    n_seen_, n_asked_, n_updates_ : int
        Rounds, labels asked for, changes of the hypothesis.
    support_vectors_, dual_coef_ : array or CSR matrix, ndarray
        With a kernel: the rows kept, and their coefficients.

    Examples
    --------
    >>> import numpy as np
    >>> from selectron import SelectiveClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.standard_normal((2000, 10))
    >>> y = np.where(X @ rng.standard_normal(10) > 0, "yes", "no")
    >>> clf = SelectiveClassifier(random_state=0).fit(X, y)
    >>> print(clf.n_asked_, round(clf.score(X, y), 2))
    162 0.99
    """

    def __init__(
        self,
        update: UpdateRule | str | None = None,
        query: QueryRule | str | None = None,
        *,
        scaling: Scaling | str | None = None,
        fit_intercept: bool = False,
        random_state: Any = None,
        explore: float | None = None,
        window: int | None = None,
        stop_when: str | None = None,
        kernel: Any = None,
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        budget: int | None = None,
        removal: str = "random",
    ) -> None:
        self.update = update
        self.query = query
        self.scaling = scaling
        self.fit_intercept = fit_intercept
        self.random_state = random_state
        self.explore = explore
        self.window = window
        self.stop_when = stop_when
        self.kernel = kernel
        self.degree = degree
        self.gamma = gamma
        self.coef0 = coef0
        self.budget = budget
        self.removal = removal

    def _begin(self, rows: Rows, labels: Labels, n: int | None) -> Run:
        n_classes, d = max(2, len(labels.classes)), shape(rows)[1]
        wishes = Wishes.of(self.update, self.query)
        choice = self._kernel_choice()
        if choice is not None:
            rules = kernel_rules(*wishes, choice, n_classes)
        else:
            rules = choose_rules(
                by_name(self.scaling, Scaling),
                *wishes,
                fit_intercept=self.fit_intercept,
                d=d,
                sparse=isinstance(rows, Csr),
                rows=n,
                n_classes=n_classes,
            )
            if rules.update.UNIT_ROWS and not unit_length(rows):
                warn(
                    f"{rules.update.label} is made for rows of length one: yours are scaled to it",
                    stacklevel=3,
                )
        said = self.explore, self.window, self.stop_when
        rules, ledger = with_ledger(rules, *said, many=n_classes > 2)
        seed = seed_of(self.random_state)
        machine: Machine = (
            LinearMachine(rules, d, rows.values.dtype, seed, n_classes)
            if choice is None
            else KernelMachine(rules, rows, seed, choice, n_classes=n_classes)
        )
        return Run(machine, labels, wishes, ledger)

    def _kernel_choice(self) -> KernelChoice | None:
        """Return the kernel, if there is one, or refuse what does not go with it."""
        if self.kernel is None:
            if self.budget is not None:
                raise ValueError(
                    f"budget={self.budget!r} is a number of support vectors and needs a kernel; "
                    f"a number of labels is query=selectron.queries.Budget(total={self.budget!r}, "
                    "horizon=...)"
                )
            return None
        choice = KernelChoice(*(getattr(self, name) for name in KERNEL))
        if self.scaling is not None and not isinstance(self.scaling, Raw):
            raise ValueError(
                f"scaling={self.scaling!r} and a kernel do not go together: scale the rows before, "
                "and leave scaling out"
            )
        if self.fit_intercept:
            raise ValueError(
                "fit_intercept=True and a kernel do not go together: use "
                'kernel="poly" with coef0 > 0'
            )
        return choice

    def _begin_several(self, rows: Rows, names: Labels, n: int | None) -> MultilabelRun:
        """Begin a learner of two classes for each of several labels, all with the same coins."""
        first = self._begin(rows, Labels(), n)
        if first.ledger is not None:
            raise ValueError(
                "explore, window and stop_when are for one label a row; with several labels a row "
                "make a learner for each label whose error is to be estimated"
            )
        return MultilabelRun([first, *(deepcopy(first) for _ in names.classes[1:])], names)

    # --- what was learnt, as numbers

    @property
    def coef_(self) -> Matrix:
        weights, d = self._separator()
        return weights[:, :d].copy()

    @property
    def intercept_(self) -> Vector:
        weights, d = self._separator()
        return weights[:, d].copy() if weights.shape[1] > d else np.zeros(len(weights))

    @property
    def support_vectors_(self) -> Any:
        return self._kernel_machine().support_vectors()

    @property
    def dual_coef_(self) -> Matrix:
        return self._kernel_machine().dual_coefficients()

    def _kernel_machine(self) -> KernelMachine:
        machine = self._started(AttributeError).machine
        if not isinstance(machine, KernelMachine):
            raise AttributeError("without a kernel there are no support vectors; use coef_")
        return machine

    def _separator(self) -> tuple[Matrix, int]:
        """Return weights whose product with a row has the sign of its margin, and the width."""
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
        weights = [hypothesis(each.states.now.update) for each in run.machines]
        return np.vstack(weights), machine.d
