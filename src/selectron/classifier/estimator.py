"""The methods of a learner on a stream, and `SelectiveClassifier`.

A `StreamClassifier` has the methods that scikit-learn and River expect, and holds at most one
`Run`, which has everything that was learnt. The classes that users make, `SelectiveClassifier` here
and `TrackingClassifier`, say with which machine a run begins. scikit-learn itself is not imported
where it can be avoided: that costs seconds.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import replace
from functools import cache
from html import escape
from inspect import signature
from pathlib import Path
from threading import RLock
from typing import TYPE_CHECKING, Any, Literal, Self, TypeVar, overload
from warnings import warn

import numpy as np

from selectron.arrays import Array, Given, Label, Matrix, Seed, Table, Vector
from selectron.classifier.class_weight import ClassWeight, check_named, read_weights
from selectron.classifier.labels import Labels, names_of, paired, plain, read_labels, several_a_row
from selectron.classifier.ledger import with_ledger
from selectron.classifier.machine import LinearMachine, Machine
from selectron.classifier.multilabel import AnyRun, MultilabelRun
from selectron.classifier.one_row import FIRST_CALLS, OneRow, batch_of_one, thin_row
from selectron.classifier.pool import Choice
from selectron.classifier.quality import Quality
from selectron.classifier.rows import as_table, feature_names, read_rows, uneven, unit_length
from selectron.classifier.rules import Wishes, choose_rules, kernel_rules, rule_named
from selectron.classifier.run import Ask, AskOne, Checkpoint, Run
from selectron.classifier.store import Params, packing, read, save
from selectron.classifier.tickets import Waiting
from selectron.estimate import Estimate, Outlook
from selectron.estimate.evidence import WORST
from selectron.files import DamagedFile, refusing
from selectron.kernels import KernelChoice, KernelFunction
from selectron.kernels.machine import KernelMachine
from selectron.numeric.rows import Csr, Rows, row_columns, row_values, shape
from selectron.protocol import hypothesis
from selectron.scalings import Intercept, Raw
from selectron.spec import QueryRule, Rules, Scaling, Spec, UpdateRule, rule_from_text
from selectron.updates.weighted import Weighted

if TYPE_CHECKING:
    from selectron.features import Recipe

BEGINNING = RLock()  # held by whoever begins a run: before that there is no lock of its own
# The methods for one row belong to compiled code and to one run, so a copy makes its own.
THIN = ("_one_row", "_predict_row", "_learn_row", "_row_class", "_bound_to")


class Requests(dict[tuple[str, str], bool | str | None]):
    """Arguments that scikit-learn's meta-estimators hand on to methods, if it is requested."""

    def __sklearn_clone__(self) -> "Requests":
        return Requests(self)


NOT_REQUESTED = Requests(
    {("fit", "classes"): None, ("partial_fit", "classes"): None, ("score", "sample_weight"): None}
)

Classifier = TypeVar("Classifier", bound="StreamClassifier")


class StreamClassifier:
    """A classifier that learns from a stream, predicts at once, and asks for some labels."""

    explore: float | None = None  # the least odds of a question
    window: int | None = None  # rounds that the estimate of late looks back on
    stop_when: str | None = None
    kernel: str | KernelFunction | None = None
    recipe: "Recipe | None" = None  # makes rows of records
    random_state: Seed = None
    n_features_in_: int
    feature_names_in_: Array
    _metadata_request: Requests = NOT_REQUESTED  # `clone` knows this name
    _run: AnyRun | None = None
    _begun_with: Params  # the parameters with which the run began: they may change
    _one_row: OneRow  # the methods for one row, made for the type of row seen last
    _predict_row: Callable[[Table], Given]  # two of these methods: a look-up less at each call
    _learn_row: Callable[[Table, Given], object]
    _row_class: type | None = None  # the type of row that these methods are made for
    _bound_to: Labels | None = None  # the labels that these methods know
    _first_calls: int = 0  # that were made before there were such methods

    # --- what each classifier defines

    def _begin(self, rows: Rows, labels: Labels, n: int | None) -> Run:
        """Return a run for rows like these, n of them if that is known."""
        raise NotImplementedError  # every classifier has its own

    def _begin_several(self, rows: Rows, names: Labels, n: int | None) -> MultilabelRun:
        """Return a run for several labels a row."""
        raise NotImplementedError  # every classifier has its own, or refuses

    # --- learning

    def fit(self, X: Table, y: Given, classes: Iterable[Label] | None = None) -> Self:
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
        X = X if self.recipe is None else _made_of(X, self.recipe)
        rows = read_rows(X, owner=type(self).__name__)
        n = shape(rows)[0]
        several = several_a_row(y)
        given = y if callable(y) or several else read_labels(y, n)
        if several:
            return self._teach(self._begin_several(rows, names_of(y, classes), n), X, rows, given)
        found = classes is None and not callable(y)
        labels = Labels.found_in(given) if found else Labels.named(classes)
        return self._teach(self._begin(rows, labels, n), X, rows, given)

    def partial_fit(self, X: Table, y: Given, classes: Iterable[Label] | None = None) -> Self:
        """Go on with the pass; the first call begins one.

        Parameters
        ----------
        X, y : as in `fit`
        classes : labels, optional
            The classes, at the first call. Without them they join as they come.
        """
        with self._turn():
            run, rows = self._run, self._read_more(X)
            classes = None if classes is None else list(classes)
            several = isinstance(run, MultilabelRun) or (run is None and several_a_row(y))
            given = y if callable(y) or several else read_labels(y, shape(rows)[0])
            if run is None and several:
                run = self._begin_several(rows, names_of(y, classes), None)
            elif run is None:
                run = self._begin(rows, Labels.named(classes), None)
            if classes is not None and set(Labels.named(classes).classes) != set(
                run.labels.classes
            ):
                raise ValueError(
                    f"classes={classes!r} differ from those of the first call, "
                    f"{run.labels.classes.tolist()!r}"
                )
            return self._teach(run, X, rows, given)

    def _teach(self, run: AnyRun, X: Table, rows: Rows, y: Given) -> Self:
        """Learn the rows; a run that is new takes the place of the one before."""
        with run.lock:
            if callable(y):  # labels are being paid for: what is learnt is kept, whatever happens
                run.vet(rows)
                self._adopt(run, X)
            try:
                run.teach(rows, y)
            finally:
                if self._row_class is not None:
                    self._unbind_if_moved(run)
            self._adopt(run, X)
            if run.rounds >= LONG and run.n_asked < HARDLY * run.rounds:
                _warn_of_silence(run, rows)
        return self

    # --- predictions

    def decision_function(self, X: Table) -> Vector:
        """Return the margin of every row, positive for `classes_[1]`; of more, a score a class.

        The largest score is predicted, of equal ones that of the first class.
        """
        run = self._started()
        return run.finite_margins(self._read_more(X), exact=True)[0]

    def predict(self, X: Table) -> Array:
        """Return the class of every row; of several labels a row, a matrix of flags."""
        run = self._started()
        names: Array = run.predict(self._read_more(X))
        return names

    def score(self, X: Table, y: Given, sample_weight: Array | None = None) -> float:
        """Return the share of rows whose class, or all of whose labels, are predicted right."""
        predicted = self.predict(X)
        right = (predicted == self._started().read(y, len(predicted))).reshape(len(predicted), -1)
        return float(np.average(right.all(axis=1), weights=sample_weight))

    # --- questions and answers apart in time

    def ask(self, X: Table, *, lookahead: int = 1) -> Ask:
        """Predict, and decide which labels to ask for; nothing is learnt until `tell`.

        Each row is a round: its coin is tossed and the query rule moves on.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (n, d)
        lookahead : int
            Of so many rows at a time, ask about those that are least certain and differ from each
            other: as many questions as the query rule has there. For streams with a buffer, whose
            answers come later than a window. These rows are not drawn, so no estimate counts them.
        """
        whole = isinstance(lookahead, int | np.integer) and not isinstance(lookahead, bool)
        if not whole or lookahead < 1:
            raise ValueError(f"lookahead must be a whole number of rows >= 1, got {lookahead!r}")
        with self._turn():
            rows = self._read_more(X)
            run = self._run or self._begin(rows, Labels(), None)
            if isinstance(run, Run):
                answer = run.ask(rows, lookahead)
            elif lookahead == 1:
                answer = run.ask(rows)
            else:
                raise ValueError("lookahead= is for one label a row")
            self._adopt(run, X)
            return answer

    def tell(
        self, tickets: Given, labels: Given, *, correct: bool = False, refund: bool = False
    ) -> int:
        """Teach answers to questions of `ask`: late, in any order, any subset.

        A ticket that was answered or given up is passed over. With an unknown ticket or label
        among them, none of the answers is learnt.

        Parameters
        ----------
        tickets : int or list of int
        labels : label or list of labels
            None is an answer too: nobody knows. Its question is closed, as by `forget`.
        correct : bool
            Replace answers that were told before. That takes a hypothesis that is a sum over all
            labels (`Ridge`), rows as they are, and a query rule that does not learn; with other
            rules it is refused, and the reason named. Reaches back to the latest answers since the
            learner was made or loaded, 2²⁰ numbers of rows in all.
        refund : bool
            Give the price of answers that nobody knows back to a `Budget`.

        Returns
        -------
        int
            How many of the questions were closed, or of the answers replaced.
        """
        run = self._started()
        with run.lock:
            answers = paired(tickets, labels)
            learnt = run.correct(answers) if correct else run.tell(answers, refund=refund)
            if self._row_class is not None:
                self._unbind_if_moved(run)
        return learnt

    def forget(self, tickets: Given = (), *, older_than: int | None = None) -> int:
        """Give up questions that will never be answered; a `Budget` gets their price back.

        Parameters
        ----------
        tickets : int or list of int
        older_than : int, optional
            Give up all questions that have waited for more rounds than this.

        Returns
        -------
        int
            How many of them still waited.
        """
        run = self._started()
        with run.lock:
            old = [] if older_than is None else run.tickets.asked_before(run.rounds - older_than)
            return run.forget([*np.atleast_1d(tickets).tolist(), *old])

    @property
    def waiting(self) -> list[Waiting]:
        """The questions that wait for an answer, the oldest first."""
        run = self._started(AttributeError)
        with run.lock:
            return run.waiting()

    # --- going back

    def snapshot(self) -> Checkpoint:
        """Copy what was learnt, so that `restore` can go back to it."""
        run = self._started()
        if not isinstance(run, Run):
            raise ValueError("snapshots are for one label a row; save to a file instead")
        with run.lock:
            return run.checkpoint()

    def restore(self, snapshot: Checkpoint) -> Self:
        """Forget all that was learnt since the snapshot, which may be used again."""
        run = self._started()
        if not isinstance(run, Run):
            raise ValueError("snapshots are for one label a row; save to a file instead")
        with run.lock:
            run.back_to(snapshot)
            self._unbind()
        return self

    # --- one row at a time

    def ask_one(self, x: Table) -> AskOne:
        """Play a round on one row: predict, and say whether its label is worth asking for.

        Answer with `tell(ask.tickets, y)` later, or with `learn_one(x, y)` at once.
        """
        row = self._one_row if x.__class__ is self._row_class else self._bind(x)
        try:
            return row.ask(x)
        except ValueError:
            self._drop_if_empty()
            raise

    def predict_one(self, x: Table) -> Given:
        """Return the class of one row, None before any label. Nothing changes."""
        if x.__class__ is self._row_class:
            return self._predict_row(x)
        if self._run is None:
            return None
        if self._first_calls < FIRST_CALLS:  # without the lock: nobody waits for another's pass
            self._first_calls += 1
            return batch_of_one(self._run, x).predict(x)
        return self._bind(x).predict(x)

    def learn_one(self, x: Table, y: Given) -> Self:
        """Teach one labelled row: the one just asked about, or a new one."""
        try:
            if x.__class__ is self._row_class:
                self._learn_row(x, y)
            else:
                self._bind(x).learn(x, y)
        except ValueError:
            self._drop_if_empty()
            raise
        return self

    def _bind(self, x: Table) -> OneRow:
        """Make the methods for rows of the type of x; the first row may begin the run."""
        with self._turn():
            if self._run is None:
                row = as_table(x if hasattr(x, "tocsr") else np.asarray(x, dtype=float))
                self._adopt(self._begin(read_rows(row), Labels(), None))
            run = self._started()
            if isinstance(run, MultilabelRun) or not isinstance(run.machine, LinearMachine):
                self._one_row = batch_of_one(run, x)
            elif run.arrived or run.machine.waits or self._first_calls < FIRST_CALLS:
                self._first_calls += 1
                return batch_of_one(run, x)
            else:
                self._one_row = thin_row(run, x, self)
            self._predict_row, self._learn_row = self._one_row.predict, self._one_row.learn
            self._bound_to = run.labels
            self._row_class = x.__class__  # last: another thread may look
            return self._one_row

    def _learn_class(self, x: Table, y: Given, look: Callable[[Table], Given]) -> Self:
        """Teach a row whose label the methods for one row do not know yet."""
        run: Any = self._run
        if not run.labels.knows(y):
            look(x)  # a row that is refused must not leave its class behind
        self._unbind()
        if run.tickets.just_asked is not None and run.begins_anew(y):
            rows = self._read_more(as_table(x))
            ticket = run.tickets.answered_by(row_values(rows).reshape(-1), row_columns(rows))
            if ticket is not None:
                self.tell(ticket, y)
                return self
        run.admit(y)
        self._bind(x).learn(x, plain(y))
        return self

    def _unbind_if_moved(self, run: AnyRun) -> None:
        """Drop the methods for one row if a class has joined, or if a row waits for its label.

        These methods belong to one machine and its labels, and let every row arrive as a new one.
        """
        if self._bound_to is not run.labels or run.arrived:
            self._unbind()

    def _unbind(self) -> None:
        self._row_class = None

    def _drop_if_empty(self) -> None:
        """Forget a run whose very first row was refused: its width was never accepted."""
        if self._run is not None and self._run.rounds == 0:
            self._run = None
            self._unbind()
            del self.n_features_in_

    # --- how good it is

    def estimate(
        self, level: float = 0.95, window: int | str | None = None, *, missing: str = WORST
    ) -> Estimate:
        """Estimate the error of the stream so far, or of late, without any test set.

        With a goal for the error or the risk and no window, the estimate is the one that the goal
        waits for: of the rounds since its start, with `high` as its one end, and with the mistakes
        that were seen for `low`.

        Parameters
        ----------
        level : float
            Probability that the interval holds, at all times at once.
        window : int or "half", optional
            None is the stream so far. A number of rounds is the one the learner was made with;
            "half" is the later half of the stream where it was made without.
        missing : "worst" or "at random"
            What questions that were given up would have been answered: anything, or whether they
            were given up does not depend on whether the prediction was right.

        Returns
        -------
        Estimate
            `error`, `low`, `high`, `precision`, `recall`, `f1`: of the predictions as they were
            made, round by round, asked or not.

        Examples
        --------
        >>> import numpy as np
        >>> from selectron import SelectiveClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((10_000, 10))
        >>> y = X @ rng.standard_normal(10) > 0
        >>> clf = SelectiveClassifier(explore=0.1, random_state=0).fit(X, y)
        >>> print(clf.estimate(window="half"))
        error 0.4 % (0.2 to 1.9 %, 95 % at all times), 638 labels of 6,000 rounds
        """
        with self._started().lock:
            return self._quality().estimate(level, window, missing)

    def outlook(self, labels: int = 100, level: float = 0.95) -> Outlook:
        """Tell what the next labels are expected to bring, if all goes on as it went of late."""
        with self._started().lock:
            return self._quality().outlook(labels, level)

    @overload
    def readout(self, *, as_dict: Literal[False] = False) -> str: ...
    @overload
    def readout(self, *, as_dict: Literal[True]) -> dict[str, object]: ...
    def readout(self, *, as_dict: bool = False) -> str | dict[str, object]:
        """Say in a few lines how good it is, what is still to be known, and why it asks or not.

        As a dictionary it has the same by name, ready for JSON.
        """
        with self._started().lock:
            if not as_dict:
                return self._quality().in_lines()
            told = self._quality().readout()
        return {
            name: value.to_dict() if isinstance(value, Estimate | Outlook) else value
            for name, value in told.items()
        }

    @property
    def stopped_at_(self) -> int | None:
        """The round at which the goal was met and the questions ended, None while they go on."""
        ledger = self._started(AttributeError).ledger
        return None if ledger is None else ledger.met_at

    def _quality(self) -> Quality:
        return Quality(self._started(), self.window)

    # --- the run, and what it has learnt

    @property
    def classes_(self) -> Array:
        return self._started(AttributeError).labels.classes

    @property
    def rules_(self) -> Rules:
        """The three rules at work, defaults filled in."""
        return self._started(AttributeError).machine.rules

    @property
    def n_seen_(self) -> int:
        return self._started(AttributeError).rounds

    @property
    def n_asked_(self) -> int:
        return self._started(AttributeError).n_asked

    @property
    def n_updates_(self) -> int:
        return self._started(AttributeError).n_updates

    def save(self, path: str | Path) -> None:
        """Write everything to a file; `selectron.load` goes on from it exactly, coins included."""
        save(self, self._started(), Path(path))

    def packing(self) -> Callable[[], bytes]:
        """Copy everything; what is returned makes the bytes of its file while learning goes on."""
        return packing(self, self._started())

    def _started(self, error: type[Exception] | None = None) -> AnyRun:
        run = self._run
        if run is None:
            message = (
                f"This {type(self).__name__} instance is not fitted yet: call fit, partial_fit, "
                "ask or learn_one first"
            )
            if error is not None:
                raise error(message)
            from sklearn.exceptions import NotFittedError  # noqa: PLC0415

            raise NotFittedError(message)
        return run

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Hold the lock of the run; before there is one, that of all beginnings."""
        while True:
            run = self._run
            with BEGINNING if run is None else run.lock:
                if self._run is run:
                    yield
                    return

    def _seed(self) -> int:
        """Return the seed below 2⁶³ that random_state stands for; None draws a fresh one."""
        given = self.random_state
        if given is None:
            return int(np.random.default_rng().integers(2**63))
        if isinstance(given, np.random.Generator):
            return int(given.integers(2**63))
        if isinstance(given, np.random.RandomState):
            return int(given.randint(2**31))
        if isinstance(given, int | np.integer) and not isinstance(given, bool):
            if 0 <= given < 2**63:
                return int(given)
            raise ValueError(f"random_state must lie in [0, 2**63), got {given}")
        raise TypeError(f"random_state must be None, an integer or a generator, got {given!r}")

    def _adopt(self, run: AnyRun, X: Table = None) -> None:
        """Go on with this run; what users can see of the rows is that of its first ones."""
        if self._row_class is not None:
            self._unbind_if_moved(run)
        if self._run is run:
            return
        self._run = run
        self._begun_with = self.get_params(deep=False)
        self.n_features_in_ = run.machine.d
        names = feature_names(X) if hasattr(X, "columns") else None
        if names is not None:
            self.feature_names_in_ = names
        elif hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _read_more(self, X: Table) -> Rows:
        """Read rows; once a run has begun, they must be of its width."""
        run = self._run
        X = X if self.recipe is None else _made_of(X, self.recipe)
        if run is None:
            return read_rows(X, owner=type(self).__name__)
        self._check_names(X)
        rows = read_rows(X, run.machine.dtype, owner=type(self).__name__)
        width = shape(rows)[1]
        if width != run.machine.d:
            raise ValueError(
                f"X has {width} features, but {type(self).__name__} is expecting {run.machine.d} "
                "features as input"
            )
        return rows

    def _check_names(self, X: Table) -> None:
        if hasattr(X, "columns") or hasattr(self, "feature_names_in_"):
            from sklearn.utils.validation import _check_feature_names  # noqa: PLC0415

            _check_feature_names(self, X, reset=False)

    # --- scikit-learn's conventions

    def __getstate__(self) -> dict[str, object]:
        """Copy what was learnt, so that others may learn while it is written down."""
        state = {name: value for name, value in self.__dict__.items() if name not in THIN}
        return state | {"_run": deepcopy(self._run)} if self._run is not None else state

    def __copy__(self) -> Self:
        """Return a learner of its own: two that share what they have learnt would spoil it."""
        return deepcopy(self)

    @classmethod
    @cache
    def _parameter_names(cls) -> list[str]:
        return [name for name in signature(cls.__init__).parameters if name != "self"]

    def get_params(self, deep: bool = True) -> Params:
        """Return the constructor's arguments; `deep`, the knobs of rules too, as `query__b`."""
        params = {name: getattr(self, name) for name in self._parameter_names()}
        for name, value in [*params.items()] if deep else []:
            rule = rule_named(name, value)
            if isinstance(rule, Spec):
                params |= {f"{name}__{knob}": value for knob, value in rule.knobs().items()}
        return params

    def set_params(self, **params: object) -> Self:
        """Change some of the constructor's arguments; they take effect at the next fit."""
        known = self.get_params()
        for name in params:
            if name not in known:
                raise ValueError(
                    f"Invalid parameter {name!r} for estimator {type(self).__name__}. "
                    f"Valid parameters are: {sorted(known)!r}."
                )
        for name in sorted(params):  # a rule before its knobs
            owner, _, knob = name.partition("__")
            value = params[name]
            rule = rule_named(owner, getattr(self, owner))
            setattr(self, owner, replace(rule, **{knob: value}) if knob else value)
        return self

    def _repr_html_(self) -> str:
        """Show the parameters and what was learnt as a table, in notebooks."""
        shown = dict(self.get_params(deep=False))
        if self._run is not None:
            names = "classes_", "n_features_in_", "n_seen_", "n_asked_", "n_updates_", "rules_"
            shown |= {name: getattr(self, name) for name in names}
        cells = (f"<tr><th>{name}</th><td>{escape(repr(v))}</td></tr>" for name, v in shown.items())
        caption = f"<caption>{type(self).__name__}</caption>"
        return f"<table>{caption}{''.join(cells)}</table>"

    def __repr__(self) -> str:
        defaults = {n: p.default for n, p in signature(type(self).__init__).parameters.items()}
        changed = ", ".join(
            f"{name}={value!r}"
            for name, value in self.get_params(deep=False).items()
            if value is not defaults[name] and value != defaults[name]
        )
        return f"{type(self).__name__}({changed})"

    def set_fit_request(self, *, classes: bool | str | None) -> Self:
        """Say whether meta-estimators of scikit-learn hand `classes` on to `fit`."""
        return self._request("fit", "classes", classes)

    def set_partial_fit_request(self, *, classes: bool | str | None) -> Self:
        """Say whether meta-estimators of scikit-learn hand `classes` on to `partial_fit`."""
        return self._request("partial_fit", "classes", classes)

    def set_score_request(self, *, sample_weight: bool | str | None) -> Self:
        """Say whether meta-estimators of scikit-learn hand `sample_weight` on to `score`."""
        return self._request("score", "sample_weight", sample_weight)

    def _request(self, method: str, name: str, wish: bool | str | None) -> Self:
        self._metadata_request = Requests(self._metadata_request | {(method, name): wish})
        return self

    def get_metadata_routing(self) -> object:
        """Return what scikit-learn's meta-estimators hand on to which method."""
        from sklearn.utils.metadata_routing import MetadataRequest  # noqa: PLC0415 - costs seconds

        routing = MetadataRequest(owner=self)
        for (method, name), wish in self._metadata_request.items():
            getattr(routing, method).add_request(param=name, alias=wish)
        return routing

    def _takes_many_classes(self) -> bool:
        return True

    def __sklearn_tags__(self) -> object:
        from sklearn.utils import (  # noqa: PLC0415
            ClassifierTags,
            InputTags,
            Tags,
            TargetTags,
        )

        return Tags(
            estimator_type="classifier",
            target_tags=TargetTags(required=True),
            classifier_tags=ClassifierTags(multi_class=self._takes_many_classes()),
            input_tags=InputTags(sparse=True),
        )


def _made_of(X: Table, recipe: "Recipe") -> Table:
    """Make rows of records or texts; rows stay as they are."""
    if hasattr(X, "columns"):
        X = X.to_dict("records")
    listed = isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], dict | str)
    return recipe.rows(X) if listed else X


NOTHING_SAID = None, None, None  # of explore, window and stop_when
DROWNS = 0.99  # share of the squared length that is nearly all
TELLING = 100  # rows that tell how large columns are
LONG, HARDLY = 1000, 0.005  # rows after which so few questions are worth a word
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
        A goal such as "error<=0.03", "risk<=0.03" or "recall>=0.9". Once it is sure, nothing is
        asked any more. For the error, the share of mistakes, and the risk, the mean probability of
        a mistake, the learner learns first; then it asks every label with odds of at least 0.2, or
        `explore`, more where it is unsure, until the rounds since then are sure to keep the goal.
        Other goals are held against the estimate of late, with `explore` 0.2 unless given.
    kernel : "linear", "poly", "rbf" or callable, optional
        Learn in dual form, from support vectors; `degree`, `gamma` and `coef0` as in scikit-learn,
        with "scale" measured on the rows of the first call.
    budget : int, optional
        Support vectors at most; `removal`, "random", "smallest" or "projection", says what makes
        room for a new one.
    recipe : selectron.features.Recipe, optional
        How a row is made of a record. With it X may be a list of records or of texts, or a data
        frame; files of the learner have it too.
    class_weight : dict or "balanced", optional
        What a label of each class weighs, as in scikit-learn: a label of weight w teaches as w
        labels of the same row do. Labels that a dictionary does not name weigh 1. "balanced" weighs
        a label of class k by n / (K n_k), counted over the labels learnt so far. What is left of w
        below one is carried over to the next label of the class; a weight above 100 counts as 100.
        A label costs one of a budget whatever it weighs, query rules see it once, and estimates
        stay plain shares of the rounds; probabilities are those of the weighted labels. Not for
        kernels, nor for several labels a row.

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
    173 1.0
    """

    def __init__(
        self,
        update: UpdateRule | str | None = None,
        query: QueryRule | str | None = None,
        *,
        scaling: Scaling | str | None = None,
        fit_intercept: bool = False,
        random_state: Seed = None,
        explore: float | None = None,
        window: int | None = None,
        stop_when: str | None = None,
        kernel: str | KernelFunction | None = None,
        degree: int = 3,
        gamma: float | str = "scale",
        coef0: float = 0.0,
        budget: int | None = None,
        removal: str = "random",
        recipe: "Recipe | None" = None,
        class_weight: ClassWeight = None,
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
        self.recipe = recipe
        self.class_weight = class_weight

    def _begin(self, rows: Rows, labels: Labels, n: int | None, *, at_hand: bool = False) -> Run:
        n_classes, d = max(2, len(labels.classes)), shape(rows)[1]
        wishes = Wishes.of(self.update, self.query)
        choice = self._kernel_choice()
        if choice is not None:
            rules = kernel_rules(*wishes, choice, n_classes)
        else:
            scaling = self.scaling
            if isinstance(scaling, str):
                scaling = rule_from_text(scaling, Scaling)
            rules = choose_rules(
                scaling,
                *wishes,
                fit_intercept=self.fit_intercept,
                d=d,
                sparse=isinstance(rows, Csr),
                rows=n,
                n_classes=n_classes,
                at_hand=at_hand,
            )
            if isinstance(rules.scaling, Raw | Intercept) and len(rows.values) >= TELLING:
                _warn_of_uneven(rows)
            if rules.update.UNIT_ROWS and not unit_length(rows):
                warn(
                    f"{rules.update.label} is made for rows of length one: yours are scaled to it",
                    stacklevel=3,
                )
        if self.class_weight is not None:
            weights = read_weights(self.class_weight)
            check_named(weights, labels)
            rules = rules._replace(update=Weighted(rules.update, weights))
        ledger = None
        said = self.explore, self.window, self.stop_when
        if said != NOTHING_SAID or rules.query.explore > 0.0:
            rules, ledger = with_ledger(rules, *said, many=n_classes > 2)
        seed = self._seed()
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
        if self.class_weight is not None:
            raise ValueError(
                "class_weight and a kernel do not go together: a label taught several times takes "
                "more support vectors than there is room for; leave one of them out"
            )
        if self.fit_intercept:
            raise ValueError(
                "fit_intercept=True and a kernel do not go together: use "
                'kernel="poly" with coef0 > 0'
            )
        return choice

    def _begin_several(self, rows: Rows, names: Labels, n: int | None) -> MultilabelRun:
        """Begin a learner of two classes for each of several labels, all with the same coins."""
        if self.class_weight is not None:
            raise ValueError(
                "class_weight is for one label a row; with several labels a row make a learner for "
                "each label that shall weigh more"
            )
        first = self._begin(rows, Labels(), n)
        if first.ledger is not None:
            raise ValueError(
                "explore, window and stop_when are for one label a row; with several labels a row "
                "make a learner for each label whose error is to be estimated"
            )
        return MultilabelRun([first, *(deepcopy(first) for _ in names.classes[1:])], names)

    # --- rows at hand

    def choose(
        self,
        X: Table,
        n: int = 1,
        explore: float = 0.0,
        *,
        among: Given = None,
        ask: bool = True,
    ) -> Choice:
        """Choose the rows of X that are most worth a label; answer with `tell`.

        All rows are looked at, so that the order of X does not matter. A row is chosen once. Pass
        the same X again after an answer: it is not looked over anew.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (N, d)
            All rows at hand, answered or not. More may follow at the end in a later call.
        n : int
            How many rows; several at once differ from each other. Fewer if fewer are left.
        explore : float
            With this probability a row is drawn evenly from all that are left instead (an audit).
            So every row that is left has odds, and they are known.
        among : flags or positions, optional
            Choose among these rows only.
        ask : bool
            False only looks: there are no tickets, and the same rows may be chosen again.

        Examples
        --------
        >>> import numpy as np
        >>> from selectron import SelectiveClassifier
        >>> rng = np.random.default_rng(0)
        >>> X = rng.standard_normal((500, 5))
        >>> y = X[:, 0] > X[:, 1]
        >>> clf = SelectiveClassifier(random_state=0)
        >>> for _ in range(40):
        ...     choice = clf.choose(X)
        ...     told = clf.tell(choice.tickets, y[choice.rows])
        >>> print(choice.reasons, round(clf.score(X, y), 2))
        ['doubt'] 0.97
        """
        if not (isinstance(n, int | np.integer) and n >= 1):
            raise ValueError(f"n must be a whole number from 1 on, got n={n!r}")
        if not 0.0 <= explore <= 1.0:
            raise ValueError(f"explore must lie in [0, 1], got explore={explore!r}")
        with self._turn():
            rows = self._read_more(X)
            run = self._at_hand(rows)
            choice = run.choose(X, rows, int(n), float(explore), among, ask=ask)
            self._adopt(run, X)
            return choice

    def tell_rows(self, X: Table, rows: Given, labels: Given) -> Self:
        """Teach labels of rows of X that nobody had to choose: found by search, or known before.

        The same as `choose` among each row alone and `tell`, one after the other, and faster.

        Parameters
        ----------
        X : array, CSR matrix or data frame of shape (N, d)
            All rows at hand, as for `choose`.
        rows : int or list of int
            Positions in X, each without a label yet.
        labels : label or list of labels
        """
        with self._turn():
            read = self._read_more(X)
            run = self._at_hand(read)
            answers = paired(rows, labels)
            chosen = np.array([row for row, _ in answers], np.int64)
            run.tell_rows(X, read, chosen, [label for _, label in answers])
            self._adopt(run, X)
            return self

    def _at_hand(self, rows: Rows) -> Run:
        """Return the run, or begin one whose rows are all at hand; refuse one that looks on."""
        run = self._run or self._begin(rows, Labels(), None, at_hand=True)
        if isinstance(run, MultilabelRun) or not isinstance(run.machine, LinearMachine):
            raise ValueError("choose is for one label a row, without a kernel")
        if run.ledger is not None or not run.machine.rules.scaling.WRITTEN_OUT:
            raise ValueError(
                "choose is for learners without explore, window and stop_when, whose rows were "
                "at hand from the first label on: make a new one, and call choose(explore=...)"
            )
        return run

    # --- probabilities

    @property
    def predict_proba(self) -> Callable[[Table], Matrix]:
        """Return the probability of each class for every row, in the order of `classes_`.

        Of several labels a row, it is the probability of each label. `Probit` and `Rehearsal`, the
        updates of the default, learn from the labels asked how probable a margin makes a class.
        Other rules have no such scale, and a learner with one of them no such method.
        """
        if not self._has_scale():
            raise AttributeError(
                f"{self!r} has no predict_proba: its margins have no scale; use decision_function, "
                "or an update rule that has one, such as Probit() or Rehearsal()"
            )
        return self._chances

    def _has_scale(self) -> bool:
        if self._run is not None:
            return self._run.has_scale
        try:
            update = Wishes.of(self.update, self.query).update
        except (TypeError, ValueError):  # `fit` says what is wrong
            return False
        return self.kernel is None and (update is None or update.HAS_SCALE)

    def _chances(self, X: Table) -> Matrix:
        run = self._started()
        if isinstance(run, MultilabelRun):
            return run.chances(self._read_more(X))
        return run.chances(self._read_more(X), X)

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
    def support_vectors_(self) -> Table:
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


def _warn_of_uneven(rows: Rows) -> None:
    """Say when one column drowns the others of rows that are taken as they are."""
    share = uneven(rows)
    if share is not None and share > DROWNS:
        warn(
            f"one column of X holds {share:.1%} of the squared length of the rows, and named rules "
            "take rows as they are, so that the other columns hardly count: pass "
            'scaling="automatic" (--scaling automatic), or scale the columns yourself',
            stacklevel=4,
        )


def _warn_of_silence(run: AnyRun, rows: Rows) -> None:
    """Say when hardly anything was asked because columns are of unequal size."""
    scaling, update, query = run.machine.rules
    as_they_are = isinstance(scaling, Raw | Intercept) and isinstance(run.machine, LinearMachine)
    if as_they_are and uneven(rows) is not None:
        warn(
            f"{run.n_asked:,} of {run.rounds:,} labels were asked: {query.label} looks at margins, "
            f"and {update.label} makes them as large as the largest column of X; pass "
            'scaling="automatic" (--scaling automatic), or scale the columns yourself',
            stacklevel=4,
        )


def load_as(kinds: Iterable[type[Classifier]], path: str | Path) -> Classifier:
    """Read a classifier of one of these kinds; it goes on exactly where it stopped."""
    run, description = read(Path(path))
    known, name = {kind.__name__: kind for kind in kinds}, str(description["classifier"])
    if name not in known:
        raise DamagedFile(f"{path} holds a {name!r:.40}, not a {' or a '.join(known)}")
    with refusing(Path(path)):
        learner = known[name](**description["params"])
        learner._adopt(run)
    if description["features"]:
        learner.feature_names_in_ = np.array(description["features"], object)
    return learner
