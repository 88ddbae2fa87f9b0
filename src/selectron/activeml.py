"""Selectron's query rules as stream query strategies of scikit-activeml.

`pip install 'selectron[activeml]'`.
"""

from copy import deepcopy
from typing import Any, Self

import numpy as np

from selectron.arrays import Array, Flags, Given, Indices, Matrix, Seed, Table, Vector
from selectron.extras import extra
from selectron.numeric.coins import coins
from selectron.numeric.rows import DenseRow
from selectron.protocol import Forecast, QueryState, advance, ask_probability, observe, preview
from selectron.queries import Budget
from selectron.spec import QueryRule, rule_from_text

with extra("activeml"):
    from skactiveml.base import SingleAnnotatorStreamQueryStrategy, SkactivemlClassifier
    from skactiveml.utils import check_type
from sklearn.base import clone
from sklearn.utils import check_array, check_consistent_length

WRONG, RIGHT = -1.0, 1.0


class RuleSampling(SingleAnnotatorStreamQueryStrategy):  # type: ignore[misc]
    """Ask as a query rule of `selectron.queries` does, within a budget that is never exceeded.

    The rule sees how far the most probable class of the classifier leads the second: a margin in
    [0, 1]. Utilities are 1 less this margin. Where the rule asks for less than the budget allows,
    the least certain candidates are asked besides, as by `selectron.queries.Budget`.

    Parameters
    ----------
    rule : query rule or text
        Such as `Margin(b=0.1)` or "margin:b=0.1". A `Budget` is taken as it is.
    budget : float, optional
        The share of labels that may be asked, in (0, 1]; 0.1 if left out.
    random_state : int or numpy.random.RandomState, optional
        Seed of the coins.

    Examples
    --------
    >>> import numpy as np
    >>> from skactiveml.classifier import ParzenWindowClassifier
    >>> X = np.random.default_rng(0).standard_normal((200, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> clf = ParzenWindowClassifier(classes=[0, 1]).fit(X[:10], y[:10])
    >>> strategy = RuleSampling("margin:b=0.1", budget=0.2, random_state=0)
    >>> len(strategy.query(X[10:], clf))
    37
    """

    state_: QueryState  # of the rule
    seed_: int
    n_seen_: int  # candidates that were decided on

    def __init__(
        self,
        rule: QueryRule | str = "margin:b=0.1",
        budget: float | None = None,
        random_state: Seed = None,
    ) -> None:
        super().__init__(budget=budget, random_state=random_state)
        self.rule = rule

    def query(
        self,
        candidates: Table,
        clf: Any,
        X: Table = None,
        y: Given = None,
        sample_weight: Array | None = None,
        fit_clf: bool = False,
        return_utilities: bool = False,
    ) -> Indices | tuple[Indices, Vector]:
        """Return the positions of the candidates to ask about; nothing changes until `update`.

        Parameters
        ----------
        candidates : array of shape (n, d)
        clf : skactiveml.base.SkactivemlClassifier
            Tells how probable each class is.
        X, y, sample_weight : optional
            What a copy of `clf` is fitted to if `fit_clf`.
        fit_clf : bool
        return_utilities : bool
            Return the utility of each candidate too.
        """
        candidates, return_utilities = self._validate_data(candidates, return_utilities)
        clf = _classifier(clf, X, y, sample_weight, fit_clf)
        self._begin(candidates.shape[1])
        margins = _leads(clf.predict_proba(candidates))
        tossed = coins(self.seed_, self.n_seen_, len(candidates))
        state = deepcopy(self.state_)  # rules change arrays of theirs in place
        queried = []
        for t, x in enumerate(candidates):
            row, forecast = DenseRow(x), _forecast(margins[t])
            state = preview(state, row)
            asked = bool(tossed[t] < ask_probability(state, row, forecast))
            state = advance(state, forecast, asked)
            if asked:
                queried.append(t)
        found = np.array(queried, np.int64)
        return (found, 1.0 - margins) if return_utilities else found

    def update(
        self,
        candidates: Table,
        queried_indices: Given,
        budget_manager_param_dict: dict[str, Any] | None = None,
    ) -> Self:
        """Go on by these candidates, of which some were asked about.

        Parameters
        ----------
        candidates : array of shape (n, d)
        queried_indices : positions of the candidates that were asked about
        budget_manager_param_dict : dict, optional
            "utilities": those that `query` returned. "mistakes": a flag for each position, whether
            the classifier had predicted another class than the answer. `Balanced`, `Auto`,
            `Halving` and `AdaptiveMargin` learn from it; without it answers count as right.
        """
        asked: Flags = np.zeros(len(candidates), bool)
        asked[queried_indices] = True
        known = budget_manager_param_dict or {}
        utilities = np.asarray(known.get("utilities", np.ones(len(asked))), float)
        answers = np.full(len(asked), RIGHT)
        mistakes = known.get("mistakes")
        if mistakes is not None:
            answers[queried_indices] = np.where(mistakes, WRONG, RIGHT)
        rows = np.asarray(candidates, float)
        self._begin(rows.shape[1])
        state = self.state_
        for t in range(len(asked)):
            row, forecast = DenseRow(rows[t]), _forecast(1.0 - utilities[t])
            state = advance(preview(state, row), forecast, bool(asked[t]))
            if asked[t]:
                state = observe(state, row, forecast, float(answers[t]))
        self.state_ = state
        self.n_seen_ += len(asked)
        return self

    def _begin(self, d: int) -> None:
        """Begin with the first candidates, whichever method is called first."""
        if hasattr(self, "state_"):
            return
        self._validate_random_state()
        self._validate_budget()
        rule = rule_from_text(self.rule, QueryRule) if isinstance(self.rule, str) else self.rule
        check_type(rule, "rule", QueryRule)
        if not isinstance(rule, Budget):
            rule = Budget(rule, rate=self.budget_)
        elif self.budget is not None:
            raise ValueError(f"budget={self.budget} beside {rule!r}: give one of them")
        self.state_ = rule.begin(d)
        self.seed_ = int(deepcopy(self.random_state_).randint(2**31 - 1))
        self.n_seen_ = 0


def _classifier(clf: Any, X: Table, y: Given, sample_weight: Array | None, fit_clf: bool) -> Any:
    """Return the classifier, or a copy that is fitted; refuse what cannot be used."""
    check_type(clf, "clf", SkactivemlClassifier)
    check_type(fit_clf, "fit_clf", bool)
    if sample_weight is not None:
        check_consistent_length(np.array(sample_weight), y)
    if X is not None and y is not None:
        X, y = check_array(X), np.array(y)
        check_consistent_length(X, y)
    if not fit_clf:
        return clf
    return clone(clf).fit(X, y) if sample_weight is None else clone(clf).fit(X, y, sample_weight)


def _leads(chances: Matrix) -> Vector:
    """Return how far the most probable class of each row leads the second."""
    if chances.shape[1] < 2:
        return np.ones(len(chances))
    ranked = np.sort(chances, axis=1)
    leads: Vector = ranked[:, -1] - ranked[:, -2]
    return leads


def _forecast(margin: float) -> Forecast:
    return Forecast(float(margin), unit=1.0, norm=1.0, variance=0.0)
