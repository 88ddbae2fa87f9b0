"""Selectron's learners as River's: rows are dictionaries, and a prediction says whether to ask.

`pip install 'selectron[river]'`.
"""

from typing import Any

from selectron.arrays import Label, Table
from selectron.classifier import SelectiveClassifier as Learner
from selectron.classifier.class_weight import ClassWeight
from selectron.classifier.labels import plain
from selectron.extras import extra
from selectron.features.dict_rows import Crowded, DictRow, DictRows
from selectron.spec import QueryRule, Scaling, UpdateRule

with extra("river"):
    from river.active.base import ActiveLearningClassifier
    from river.base import Classifier

OPTIONS = (
    "update", "query", "scaling", "fit_intercept", "explore", "window", "stop_when", "class_weight",
)  # fmt: skip
EARLY = 1000  # rows; until then a key without a column makes the learner begin anew
MOST_WAITING = 10_000  # questions that wait for their answers; then the oldest is given up
NO_LABEL = object()  # of a row that was asked about: the answer is kept with the row it came with


class SelectiveClassifier(ActiveLearningClassifier):  # type: ignore[misc]
    """Learn classes from dictionaries, and say of each row whether its label is worth asking for.

    `predict_one` and `predict_proba_one` return a pair: the prediction, and whether to ask. Each
    row is a round; the same row again, before anything is learnt, is the same question. Answer with
    `learn_one`, at once or later. `classifier` predicts without playing a round.

    Keys may come and go, and values may be texts. In the first 1,000 rows a key without a column
    makes the learner begin anew, with columns for all keys, and go over the rows so far. Later such
    a key shares a column with others.

    Parameters
    ----------
    update, query, scaling : rule or text, optional
        As in `selectron.SelectiveClassifier`: the default without them.
    fit_intercept : bool
        Append a constant feature.
    explore, window, stop_when : optional
        As in `selectron.SelectiveClassifier`.
    seed : int, optional
        Seed of the coins. The same seed gives the same run.
    class_weight : dict or "balanced", optional
        As in `selectron.SelectiveClassifier`.

    Attributes
    ----------
    learner : selectron.SelectiveClassifier
        The learner on rows of numbers, with `estimate` and `readout`.
    classifier : river.base.Classifier
        The learner without its questions.

    Examples
    --------
    >>> from river import evaluate, metrics
    >>> from river.datasets import Phishing
    >>> model = SelectiveClassifier(seed=0)
    >>> evaluate.progressive_val_score(Phishing(), model, metrics.Accuracy())
    Accuracy: 89.66%
    >>> print(model.learner.n_asked_, "labels of", model.learner.n_seen_)
    173 labels of 1250
    """

    def __init__(
        self,
        update: UpdateRule | str | None = None,
        query: QueryRule | str | None = None,
        scaling: Scaling | str | None = None,
        fit_intercept: bool = False,
        explore: float | None = None,
        window: int | None = None,
        stop_when: str | None = None,
        seed: int | None = None,
        class_weight: ClassWeight = None,
    ) -> None:
        super().__init__(Unasked(self), seed)
        self.update = update
        self.query = query
        self.scaling = scaling
        self.fit_intercept = fit_intercept
        self.explore = explore
        self.window = window
        self.stop_when = stop_when
        self.class_weight = class_weight
        self._random_state = self._rng.getrandbits(31) if seed is None else seed
        self._rows = DictRows()
        self._early: list[tuple[DictRow, Label]] | None = []
        self._names: dict[Label, Label] = {}  # classes as Python's own values, by NumPy's
        self._begin()

    def _begin(self) -> None:
        options = {name: getattr(self, name) for name in OPTIONS}
        self.learner = Learner(random_state=self._random_state, **options)
        self._waiting: dict[bytes, int] = {}  # the tickets of questions, by the keys of their rows
        self._last_key: bytes | None = None  # of the row asked about, if nothing was learnt since
        self._last_answer: tuple[Label, bool] = None, False

    def predict_one(self, x: DictRow, **kwargs: object) -> tuple[Label, bool]:
        """Return the class of one row, None before any label; and whether to ask for its label."""
        row = self.row(x)
        key = self._rows.key
        if key == self._last_key:
            return self._last_answer
        label, _, _, asked, ticket = self.learner.ask_one(row)
        try:
            label = self._names[label]
        except KeyError:
            self._names[label] = label = plain(label)
        self._last_key, self._last_answer = key, (label, asked)
        if asked:
            self._waiting[key] = ticket
            if len(self._waiting) > MOST_WAITING:
                self.learner.forget(self._waiting.pop(next(iter(self._waiting))))
        if self._early is not None:
            self._note(x, NO_LABEL)
        return self._last_answer

    def predict_proba_one(self, x: DictRow, **kwargs: object) -> tuple[dict[Label, float], bool]:
        """Return the probability of each class, and whether to ask for the label.

        Update rules without a scale have no probabilities: then NotImplementedError is raised.
        """
        if not hasattr(self.learner, "predict_proba"):
            raise NotImplementedError(f"{self.learner!r} has no probabilities")
        _, asked = self.predict_one(x)
        return self.classifier.predict_proba_one(x), asked

    def learn_one(self, x: DictRow, y: Label, **kwargs: object) -> None:
        """Teach one labelled row: one that was asked about, now or before, or a new one."""
        row = self.row(x)
        key, waiting = self._rows.key, self._waiting
        ticket = waiting.get(key) if waiting else None
        if ticket is None or key == self._last_key:
            self.learner.learn_one(row, y)
        else:
            self.learner.tell(ticket, y)
        if ticket is not None:
            del waiting[key]
        elif waiting and self._last_key in waiting:
            # In a pipeline a scaler has moved since the question: this row is the one asked about.
            self.learner.forget(waiting.pop(self._last_key))
        self._last_key = None
        if self._early is not None:
            self._note(x, y)

    def row(self, x: DictRow) -> Table:
        """Return the row of x; a key without a column may make the learner begin anew."""
        try:
            return self._rows.row(x)
        except Crowded:
            self._begin_anew(x)
            return self._rows.row(x)

    def _note(self, x: DictRow, y: Label) -> None:
        """Keep an early row; after the last of them the columns are settled."""
        early: Any = self._early
        early.append((dict(x), y))
        if len(early) >= EARLY:
            self._early = None
            self._rows.settled = True

    def _begin_anew(self, x: DictRow) -> None:
        """Begin with columns for the keys of x too, and go over the rows so far."""
        self._rows = self._rows.widened(x)
        self._begin()
        early: Any = self._early
        self._early = None
        for seen, y in early:
            if y is NO_LABEL:
                self.predict_one(seen)
            else:
                self.learn_one(seen, y)
        self._early = early

    def _ask_for_label(self, x: DictRow, y_pred: object) -> bool:
        return self.predict_one(x)[1]


class Unasked(Classifier):  # type: ignore[misc]
    """The learner without its questions: a prediction is no round, and nothing but the class.

    Parameters
    ----------
    model : SelectiveClassifier
    """

    def __init__(self, model: SelectiveClassifier) -> None:
        self.model = model

    def __str__(self) -> str:
        return str(self.model.learner)

    @property
    def _multiclass(self) -> bool:
        return True

    def predict_one(self, x: DictRow, **kwargs: object) -> Label:
        """Return the class of one row, None before any label."""
        label: Label = plain(self.model.learner.predict_one(self.model.row(x)))
        return label

    def predict_proba_one(self, x: DictRow, **kwargs: object) -> dict[Label, float]:
        """Return the probability of each class, none before any label."""
        row, learner = self.model.row(x), self.model.learner
        if learner.predict_one(row) is None:
            return {}
        chances = learner.predict_proba(row.reshape(1, -1))[0].tolist()
        return dict(zip(map(plain, learner.classes_), chances, strict=True))

    def learn_one(self, x: DictRow, y: Label, **kwargs: object) -> None:
        """Teach one labelled row."""
        self.model.learn_one(x, y)
