"""The public learner: scikit-learn's interface, and questions and answers apart in time."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from selectron.classifier.hypothesis import Hypothesis
from selectron.classifier.inputs import read_rows, shape
from selectron.classifier.labels import Labels, found_classes, read_labels
from selectron.classifier.rules import Rules
from selectron.classifier.run import Ask
from selectron.classifier.store import save
from selectron.numeric.arrays import Vector


class SelectiveClassifier(Hypothesis):
    """Learn two classes from a stream, asking for as few labels as possible.

    Without arguments there is no knob to set: inputs are centred online, every label asked teaches
    a ridge regression (in O(d) above 4,096 features), and labels are asked below a threshold that
    holds the share of mistakes among them. The first 50 rows of a stream (a tenth of the rows, but
    at least 10, where `fit` gets fewer than 500) only teach the mean: no label of theirs is asked.

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
    kernel : "linear", "poly", "rbf" or callable, optional
        Learn in dual form, from support vectors; `degree`, `gamma` and `coef0` as in scikit-learn,
        with "scale" measured on the rows of the first call.
    budget : int, optional
        Support vectors at most; `removal`, "random", "smallest" or "projection", says what makes
        room for a new one.

    Attributes
    ----------
    classes_ : ndarray
        The classes, the first of them on the negative side.
    coef_, intercept_ : ndarray
        A separator whose side is the sign of the margin, where there is one.
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
    120 0.99
    """

    def __init__(  # noqa: PLR0913 - the names are scikit-learn's
        self,
        update: Any = None,
        query: Any = None,
        *,
        scaling: Any = None,
        fit_intercept: bool = False,
        random_state: Any = None,
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
        y : array of n labels, or oracle(indices) -> labels
            Of an array, only the set of classes and the labels asked for are used. An oracle is
            called with the position of each row whose label is asked, and no other.
        classes : two labels, optional
            With them not even the set of classes is read from y.
        """
        rows = read_rows(X, owner=type(self).__name__)
        n = shape(rows)[0]
        labels_given = y if callable(y) else read_labels(y, n)
        if classes is None and not callable(y):
            classes = found_classes(labels_given)
        run = self._begin(rows, Labels(classes), n)
        if callable(y):
            self._adopt(run, X)
        run.teach(rows, labels_given)
        self._adopt(run, X)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Iterable[Any] | None = None) -> Self:
        """Go on with the pass; the first call begins one.

        Parameters
        ----------
        X, y : as in `fit`
        classes : two labels, optional
            The classes, at the first call. Without them they are learnt as they come.
        """
        rows = self._read_more(X)
        labels_given = y if callable(y) else read_labels(y, shape(rows)[0])
        classes = None if classes is None else list(classes)
        run = self._run or self._begin(rows, Labels(classes), None)
        if classes is not None and set(Labels(classes).classes) != set(run.labels.classes):
            raise ValueError(
                f"classes={list(classes)!r} differ from those of the first call, "
                f"{run.labels.classes.tolist()!r}"
            )
        if callable(y):  # labels are being paid for: what is learnt is kept, whatever happens
            self._adopt(run, X)
        run.teach(rows, labels_given)
        self._adopt(run, X)
        return self

    def decision_function(self, X: Any) -> Vector:
        """Return the margin of every row; positive means `classes_[1]`."""
        return self._margins(X, exact=True)

    def predict(self, X: Any) -> NDArray[Any]:
        """Return the class of every row."""
        margins = self._margins(X, exact=False)
        labels = self._started().labels
        if not len(labels.classes):
            raise ValueError(
                "no label has been learnt yet, so there is no class to predict; the default "
                "learner watches 50 rows before it asks for the first one"
            )
        return labels.names(margins)

    def score(self, X: Any, y: Any, sample_weight: Any = None) -> float:
        """Return the share of rows whose class is predicted right."""
        predicted = self.predict(X)
        right = predicted == read_labels(y, len(predicted))
        return float(np.average(right, weights=sample_weight))

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
        if np.ndim(tickets) == 0:
            return self._started().tell([(tickets, labels)])
        if len(tickets) != len(labels):
            raise ValueError(f"{len(tickets)} tickets but {len(labels)} labels: pass one for each")
        return self._started().tell(list(zip(tickets, labels, strict=True)))

    def forget(self, tickets: Any) -> int:
        """Give up questions that will never be answered.

        Returns
        -------
        int
            How many of them still waited.
        """
        waiting = self._started().tickets
        still = {int(t) for t in np.atleast_1d(tickets) if waiting.question(t) is not None}
        for ticket in still:
            waiting.settle(ticket)
        self._started().machine.give_up(len(still))
        return len(still)

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
        return self._thin(x).predict(x)

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
        save(self._started(), self.get_params(), Path(path))

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
        return int(self._started(AttributeError).machine.state.update.n_updates)
