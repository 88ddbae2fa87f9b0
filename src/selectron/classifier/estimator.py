"""The public learner: scikit-learn's interface, and questions and answers apart in time."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from selectron.arrays import Vector
from selectron.classifier.answers import paired
from selectron.classifier.hypothesis import Hypothesis
from selectron.classifier.inputs import read_rows, shape
from selectron.classifier.label_arrays import read_labels
from selectron.classifier.label_sets import names_of, several_a_row
from selectron.classifier.labels import Labels
from selectron.classifier.lifecycle import AnyRun
from selectron.classifier.multilabel import MultilabelRun
from selectron.classifier.rules import Rules
from selectron.classifier.run import Ask
from selectron.classifier.store import save


class SelectiveClassifier(Hypothesis):
    """Learn classes from a stream, asking for as few labels as possible.

    Without arguments there is no knob to set: rows are scaled online, every label asked teaches a
    Bayesian probit belief (of low rank above 4,096 features and for sparse rows), and labels are
    asked below a threshold that holds the share of mistakes among them, now and then above it. The
    first 50 rows of a stream (a tenth of the rows, but at least 10, where `fit` gets fewer than
    500) only teach the scale: no label of theirs is asked.

    Parameters
    ----------
    update : update rule, optional
        How a label changes the hypothesis: one of `selectron.updates`.
    query : query rule, optional
        Whether to ask: one of `selectron.queries`.
    scaling : scaling, optional
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
        update: Any = None,
        query: Any = None,
        *,
        scaling: Any = None,
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

    def fit(self, X: Any, y: Any, classes: Iterable[Any] | None = None) -> Self:
        """Make one pass over the rows in their order, from scratch.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
        y : array of n labels, several labels a row, or oracle(indices) -> labels
            Several labels come as a matrix of 0 and 1, or as lists of them. Of an array, only the
            set of classes and the labels asked for are used. An oracle is called with the position
            of each row whose label is asked, and no other. Labels are told apart as Python does:
            1 and "1" are two classes, also in one list; 1, 1.0 and True are one. None, NaN and
            fractions are no labels.
        classes : labels, optional
            With them not even the set of classes is read from y.
        """
        rows = read_rows(X, owner=type(self).__name__)
        n = shape(rows)[0]
        several = several_a_row(y)
        labels_given = y if callable(y) or several else read_labels(y, n)
        if several:
            run: AnyRun = self._begin_several(rows, names_of(y, classes), n)
        else:
            found = classes is None and not callable(y)
            labels = Labels.found_in(labels_given) if found else Labels(classes)
            run = self._begin(rows, labels, n)
        return self._teach(run, X, rows, labels_given)

    def partial_fit(self, X: Any, y: Any, classes: Iterable[Any] | None = None) -> Self:
        """Go on with the pass; the first call begins one.

        Parameters
        ----------
        X, y : as in `fit`
        classes : labels, optional
            The classes, at the first call. Without them they join as they come.
        """
        rows = self._read_more(X)
        classes = None if classes is None else list(classes)
        several = isinstance(self._run, MultilabelRun) or (self._run is None and several_a_row(y))
        labels_given = y if callable(y) or several else read_labels(y, shape(rows)[0])
        run = self._run
        if run is None and several:
            run = self._begin_several(rows, names_of(y, classes), None)
        elif run is None:
            run = self._begin(rows, Labels(classes), None)
        if classes is not None and set(Labels(classes).classes) != set(run.labels.classes):
            raise ValueError(
                f"classes={list(classes)!r} differ from those of the first call, "
                f"{run.labels.classes.tolist()!r}"
            )
        return self._teach(run, X, rows, labels_given)

    def decision_function(self, X: Any) -> Vector:
        """Return the margin of every row, positive for `classes_[1]`; of more, a score a class.

        The largest score is predicted, of equal ones that of the first class.
        """
        margins: Vector = self._margins(X, exact=True)
        return margins

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row; of several labels a row, a matrix of flags."""
        names: NDArray[Any] = self._started().names(self._margins(X, exact=False))
        return names

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class, or all of whose labels, are predicted right."""
        predicted = self.predict(X)
        right = (predicted == self._started().read(y, len(predicted))).reshape(len(predicted), -1)
        return float(np.average(right.all(axis=1), weights=sample_weight))

    def ask(self, X: Any) -> Ask:
        """Predict, and decide which labels to ask for; nothing is learnt until `tell`.

        Each row is a round: its coin is tossed and the query rule moves on.
        """
        rows = self._read_more(X)
        run = self._run or self._begin(rows, Labels(), None)
        answer = run.ask(rows)
        self._adopt(run, X)
        return answer

    def tell(self, tickets: Any, labels: Any) -> int:
        """Teach answers to questions of `ask`: late, in any order, any subset.

        A ticket that was answered or given up is passed over. With an unknown ticket or label
        among them, none of the answers is learnt.

        Returns
        -------
        int
            How many of the answers were new.
        """
        run = self._started()
        learnt = run.tell(paired(tickets, labels))
        self._unbind_if_moved(run)
        return learnt

    def forget(self, tickets: Any) -> int:
        """Give up questions that will never be answered.

        Returns
        -------
        int
            How many of them still waited.
        """
        return self._started().forget(np.atleast_1d(tickets))

    def ask_one(self, x: Any) -> Ask:
        """Play a round on one row: predict, and say whether its label is worth asking for.

        Answer with `tell(ask.tickets, y)` later, or with `learn_one(x, y)` at once.
        """
        row = self._one_row if x.__class__ is self._row_class else self._thin(x)
        try:
            return row.ask(x)
        except ValueError:
            self._drop_if_empty()
            raise

    def predict_one(self, x: Any) -> Any:
        """Return the class of one row, None before any label. Nothing changes."""
        if x.__class__ is self._row_class:
            return self._predict_row(x)
        return None if self._run is None else self._thin(x).predict(x)

    def learn_one(self, x: Any, y: Any) -> Self:
        """Teach one labelled row: the one just asked about, or a new one."""
        try:
            if x.__class__ is self._row_class:
                self._learn_row(x, y)
            else:
                self._thin(x).learn(x, y)
        except ValueError:
            self._drop_if_empty()
            raise
        return self

    def save(self, path: str | Path) -> None:
        """Write everything to a file; `selectron.load` goes on from it exactly, coins included."""
        run = self._started()
        save(run, self._begun_with, Path(path))

    @property
    def classes_(self) -> NDArray[Any]:
        return self._started(AttributeError).labels.classes

    @property
    def rules_(self) -> Rules:
        """The three rules at work, defaults filled in."""
        return self._started(AttributeError).machine.rules

    @property
    def n_seen_(self) -> int:
        return self._started(AttributeError).machine.n_seen

    @property
    def n_asked_(self) -> int:
        return self._started(AttributeError).machine.n_asked

    @property
    def n_updates_(self) -> int:
        machines = self._started(AttributeError).machines
        return sum(int(machine.state.update.n_updates) for machine in machines)
