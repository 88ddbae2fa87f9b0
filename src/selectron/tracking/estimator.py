"""`TrackingClassifier`: several learners as experts, followed through drift."""

from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np

from selectron.arrays import Matrix, Vector
from selectron.classifier import Ask, SelectiveClassifier
from selectron.classifier.inputs import shape
from selectron.classifier.labels import Labels
from selectron.classifier.row_forms import as_table, numbers_and_columns
from selectron.classifier.run import NO_FORECASTS, Run
from selectron.classifier.seeds import seed_of
from selectron.numeric.rows import Rows
from selectron.tracking.machines import begin_machine, read_query
from selectron.tracking.store import save


class TrackingClassifier(SelectiveClassifier):
    """Let several learners vote, and follow the one that is right now ([Mon06], chapter 2).

    Each label that is asked teaches all learners, after each was judged by it: its mistake counts
    1/odds of having been asked, so that on the average a learner's losses are its mistakes on the
    whole stream. A mixture of experts, Learn-α unless another is given, turns losses into weights
    v_k; the vote is the sign of Σ v_k clip(p_k, -1, 1), p_k the margins.

    Parameters
    ----------
    learners : list, optional
        Update rules of `selectron` (then one compiled loop runs them all), classifiers with
        `partial_fit` and `decision_function` or `predict`, River's with `learn_one`, or fitted
        ones that only predict, which are never taught. By default ridge regressions of three
        memories and one that begins anew every 400 labels, a Perceptron and a half-step. Those
        given are copied, never changed.
    experts : mixture, optional
        One of `selectron.experts`, for as many experts as there are learners; copied too. By
        default Learn-α, with the optimal switching rates for 2,000 labels up to 1/2.
    query : query rule, optional
        Whether to ask: `ByMargin()`, a tenth of the labels, unless another is given: `ByMistakes`,
        or one of `selectron.queries`, `Always` for all labels and `Uniform` for some at random.
    eta : float, optional
        Learning rate of the default mixture, a unit of loss; refused beside `experts`, which have
        their own. By default the rate of the query rule, where it has one (1 for `Always`), so
        that a label weighs 1 on the average; else 0.1.
    random_state : int, numpy.random.Generator or RandomState, optional
        Seed of the coins. The same seed gives the same run, bit for bit.

    Attributes
    ----------
    weights_ : ndarray of shape (K,)
        The weight of each learner now.
    following_ : int
        The learner of greatest weight; `names_` has its name.
    classes_, n_seen_, n_asked_
        As in `SelectiveClassifier`.

    Examples
    --------
    >>> from selectron.streams import drifting
    >>> from selectron.tracking import TrackingClassifier
    >>> stream = drifting("flips", seed=1)
    >>> clf = TrackingClassifier().fit(stream.X, stream.y)
    >>> print(clf.n_seen_, clf.n_asked_, clf.names_[clf.following_])
    20000 2242 ForgettingRidge(memory=None)
    """

    MANY_CLASSES: ClassVar = False

    def __init__(
        self,
        learners: Any = None,
        experts: Any = None,
        query: Any = None,
        *,
        eta: float | None = None,
        random_state: Any = 0,
    ) -> None:
        self.learners = learners
        self.experts = experts
        self.query = query
        self.eta = eta
        self.random_state = random_state

    def predict_one(self, x: Any) -> Any:
        """Return the class of one row, None before any label. Nothing changes."""
        return self._started().labels.names(self._margins(as_table(x), exact=True))[0]

    def ask_one(self, x: Any) -> Ask:
        """Play a round on one row: predict, and say whether its label is worth asking for."""
        answer = Ask(*(column[0] for column in self.ask(as_table(x))))
        self._started().tickets.just_asked = int(answer.tickets) if answer.asked else None
        return answer

    def learn_one(self, x: Any, y: Any) -> Self:
        """Teach one labelled row: the one just asked about, or a new one, which counts as asked."""
        rows = self._read_more(as_table(x))
        run: Any = self._run or self._begin(rows, Labels(), None)
        labels = run.labels.copy()
        sign = np.array([labels.code(y)], np.int8)
        ticket = run.tickets.answered_by(rows, numbers_and_columns)
        if ticket is not None:
            run.tell([(ticket, y)])
            return self
        run.lesson(rows, sign, NO_FORECASTS, fresh=True)
        run.labels.classes = labels.classes
        run.machine.n_seen += 1
        run.machine.n_asked += 1
        run.tickets.just_asked = None
        self._adopt(run, x)
        return self

    def save(self, path: str | Path) -> None:
        """Write everything to a file; `selectron.tracking.load` goes on from it exactly.

        Learners that are not rules of `selectron` cannot be saved so.
        """
        run: Any = self._started()
        save(run, self.get_params(), Path(path))

    @property
    def weights_(self) -> Vector:
        weights: Vector = self._machine.mixture.weights
        return weights

    @property
    def following_(self) -> int:
        return int(self.weights_.argmax())

    @property
    def names_(self) -> list[str]:
        names: list[str] = self._machine.rules.update.names
        return names

    @property
    def n_updates_(self) -> int:
        """Labels learnt: those asked, without those that still wait for their answer."""
        run = self._started(AttributeError)
        return run.machine.n_asked - len(run.tickets.waiting)

    @property
    def _machine(self) -> Any:
        return self._started(AttributeError).machine

    def _separator(self) -> tuple[Matrix, int]:
        raise AttributeError(
            "a vote of clipped margins is not linear in the row, so there are no coefficients; use "
            "decision_function"
        )

    def _begin_several(self, rows: Rows, names: Labels, n: int | None) -> Any:
        raise ValueError("y has several labels a row: a tracker learns one; track each on its own")

    def _begin(self, rows: Rows, labels: Labels, n: int | None) -> Run:
        machine = begin_machine(
            self.learners,
            self.experts,
            read_query(self.query),
            self.eta,
            (shape(rows)[1], rows.values.dtype, seed_of(self.random_state)),
            labels.only_two(),
        )
        return Run(machine, labels)
