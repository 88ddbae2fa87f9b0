"""`TrackingClassifier`: several learners as experts, followed through drift."""

from collections.abc import Iterable

from selectron.arrays import Seed, Vector
from selectron.classifier.estimator import StreamClassifier
from selectron.classifier.labels import Labels
from selectron.classifier.ledger import with_ledger
from selectron.classifier.multilabel import MultilabelRun
from selectron.classifier.run import Run
from selectron.experts import Mixture
from selectron.numeric.rows import Rows, shape
from selectron.scalings import Intercept, Raw, Winsorised
from selectron.spec import QueryRule, Rules, Scaling, rule_from_text
from selectron.tracking.adapters import Foreign, FrozenLearner, adapt
from selectron.tracking.by_margin import ByMargin
from selectron.tracking.machine import MembersMachine
from selectron.tracking.members import MANY_COLUMNS, Committee, default_mixture, fresh_copy

SCALE_MEMORY = 1000  # rows that means and spreads look back on


class TrackingClassifier(StreamClassifier):
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
        ones that only predict, which are never taught and vote on two classes. By default, up to
        64 columns: logistic regressions of four memories and one that watches for changes, forests
        of the last 2,000 and the last 100 labels, and nearest neighbours; up to 1,000: ridge
        regressions, a Perceptron and a half-step; beyond, or with many classes: three first-order
        rules. Those given are copied, never changed.
    experts : mixture, optional
        One of `selectron.experts`, for as many experts as there are learners; copied too. By
        default Learn-α, with the optimal switching rates for 2,000 labels up to 1/2.
    query : query rule, optional
        Whether to ask: `ByMargin(start=0.3, sharp=True)`, a tenth of the labels, unless another is
        given: `ByMistakes`, or one of `selectron.queries`, `Always` for all labels and `Uniform`
        for some at random.
    eta : float, optional
        Learning rate of the default mixture, a unit of loss; refused beside `experts`, which have
        their own. By default the rate of the query rule, where it has one (1 for `Always`), so
        that a label weighs 1 on the average; else 0.1.
    scaling : scaling, or its name, optional
        How rows are presented to rules of `selectron`. By default `Winsorised(memory=1000)`, which
        moves with the stream, for the default learners, and `Intercept()` beyond 1,000 columns;
        learners that are given see rows as they are.
    random_state : int, numpy.random.Generator or RandomState, optional
        Seed of the coins. The same seed gives the same run, bit for bit.
    explore, window, stop_when : optional
        As in `SelectiveClassifier`: the least odds of a question, what the estimate of late looks
        back on, and a goal at which the questions end.

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
    20000 2044 ForgettingLogistic(memory=5.0)
    """

    def __init__(  # noqa: PLR0913 - every knob by its own name
        self,
        learners: Iterable[Foreign] | None = None,
        experts: Mixture | None = None,
        query: QueryRule | str | None = None,
        *,
        eta: float | None = None,
        scaling: Scaling | str | None = None,
        random_state: Seed = 0,
        explore: float | None = None,
        window: int | None = None,
        stop_when: str | None = None,
    ) -> None:
        self.learners = learners
        self.experts = experts
        self.query = query
        self.eta = eta
        self.scaling = scaling
        self.random_state = random_state
        self.explore = explore
        self.window = window
        self.stop_when = stop_when

    def _takes_many_classes(self) -> bool:
        return self.learners is None or (
            isinstance(self.learners, Iterable) and Committee(tuple(self.learners)).many_classes
        )

    def _begin(self, rows: Rows, labels: Labels, n: int | None) -> Run:
        n_classes, d = max(2, len(labels.classes)), shape(rows)[1]
        committee = Committee.of(self.learners, d, n_classes)
        if n_classes == 2:
            labels = labels.only_two()
        elif not committee.many_classes:
            raise ValueError(
                "Only binary classification is supported. The type of the target is multiclass: "
                f"there are {n_classes} classes, and some learners vote on two; let all be update "
                "rules that have a form for many, such as Perceptron() or ForgettingLogistic()"
            )
        if self.query is not None and not isinstance(self.query, QueryRule):
            raise TypeError(
                "query must be a rule such as selectron.tracking.ByMargin or those of "
                f"selectron.queries, got {self.query!r}"
            )
        if self.experts is not None and self.eta is not None:
            raise ValueError(
                f"eta is {self.eta!r} and experts is given: eta is the rate of the default "
                "mixture; give the rate to the mixture, or leave one of them out"
            )
        count, query = len(committee.learners), self.query or ByMargin(start=0.3, sharp=True)
        mixture = (
            default_mixture(count, query, self.eta)
            if self.experts is None
            else fresh_copy(self.experts, count)
        )
        said = self.explore, self.window, self.stop_when
        rules = Rules(self._scaling(committee, d), committee, query)
        rules, ledger = with_ledger(rules, *said, many=n_classes > 2)
        members = None if committee.all_rules else [adapt(each) for each in committee.learners]
        setting = d, rows.values.dtype, self._seed(), n_classes
        run = Run(MembersMachine(rules, mixture, *setting, members), labels, None, ledger)
        for member in members or []:
            if isinstance(member, FrozenLearner):
                member.run = run
        return run

    def _scaling(self, committee: Committee, d: int) -> Scaling:
        """Return how rows are presented, or refuse what does not go with the learners."""
        if self.scaling is None and self.learners is not None:
            return Raw()
        if self.scaling is None:
            return Winsorised(memory=SCALE_MEMORY) if d <= MANY_COLUMNS else Intercept()
        scaling = self.scaling
        if isinstance(scaling, str):
            scaling = rule_from_text(scaling, Scaling)
        if not isinstance(scaling, Scaling):
            raise TypeError(f"scaling must be one of selectron.scalings, got {scaling!r}")
        fits = scaling.WRITTEN_OUT and not scaling.HOLDS_BACK
        if not fits or not (committee.all_rules or isinstance(scaling, Raw)):
            raise ValueError(
                f"{scaling.label} does not go with these learners: scale the rows before, or let "
                "all learners be update rules of selectron and choose a scaling of dense rows"
            )
        return scaling

    def _begin_several(self, rows: Rows, names: Labels, n: int | None) -> MultilabelRun:
        raise ValueError("y has several labels a row: a tracker learns one; track each on its own")

    @property
    def coef_(self) -> Vector:
        raise AttributeError(
            "a vote of clipped margins is not linear in the row, so there are no coefficients; use "
            "decision_function"
        )

    @property
    def weights_(self) -> Vector:
        return self._machine.mixture.weights

    @property
    def following_(self) -> int:
        return int(self.weights_.argmax())

    @property
    def names_(self) -> list[str]:
        update = self._machine.rules.update
        assert isinstance(update, Committee)
        return update.names

    @property
    def _machine(self) -> MembersMachine:
        machine = self._started(AttributeError).machine
        assert isinstance(machine, MembersMachine)
        return machine
