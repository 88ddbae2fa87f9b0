"""A state comes back through JSON to the bit; a damaged one is refused by the field's name."""

import json

import numpy as np
import pytest

from selectron.experts import AdaHedge, FixedShare, LearnAlpha, MarkovShare, StaticExpert
from tests.experts.twins import one_of_each

LOSSES = np.random.default_rng(1).exponential(size=(40, 3))


def plain(state):
    return json.loads(json.dumps({name: np.asarray(v).tolist() for name, v in state.items()}))


@pytest.mark.parametrize("eta", [0.7, AdaHedge(3.0, cap=50.0)])
@pytest.mark.parametrize("kind", one_of_each(3))
def test_through_json_lists(kind, eta):
    experts = one_of_each(3, eta=eta)[kind]
    experts.run(LOSSES[:20])
    back = type(experts).from_state(plain(experts.state()))
    assert back.run(LOSSES[20:]).tolist() == experts.run(LOSSES[20:]).tolist()
    assert back.weights.tolist() == experts.weights.tolist()


@pytest.mark.parametrize("alphas", [[0.1, 0.9, 0.999], [0.0, 1.0], [0.2]])
def test_learn_alpha_of_every_form_through_json(alphas):
    experts = LearnAlpha(3, alphas=alphas)
    experts.run(LOSSES[:20])
    back = LearnAlpha.from_state(plain(experts.state()))
    assert back.run(LOSSES[20:]).tolist() == experts.run(LOSSES[20:]).tolist()


def cases():
    for kind, experts in one_of_each(3, eta=0.5).items():
        for name, value in experts.state().items():
            if np.size(value):
                yield kind, name


@pytest.mark.parametrize(("kind", "name"), list(cases()))
def test_every_field_is_checked(kind, name):
    experts = one_of_each(3, eta=0.5)[kind]
    experts.run(LOSSES)
    good = experts.state()
    number = np.ndim(good[name]) == 0
    longer = [0.5, 0.5] if number else np.concatenate([good[name], good[name]])
    spoilt = np.array(good[name], float)
    spoilt.flat[-1] = np.nan
    infinite = np.array(good[name], float)
    infinite.flat[-1] = np.inf
    for bad in ("abc", None, {}, [], spoilt, infinite):
        with pytest.raises(ValueError, match=name[:5]):
            type(experts).from_state(good | {name: bad})
    with pytest.raises(ValueError, match=r"shape|is "):  # it, or another that now does not fit
        type(experts).from_state(good | {name: longer})
    del good[name]
    with pytest.raises(ValueError, match="pass what state"):
        type(experts).from_state(good)


@pytest.mark.parametrize(
    ("experts", "changes", "message"),
    [
        (StaticExpert(2), {"prior": [0.5, 0.9]}, "'prior' of the state add up to 1.4"),
        (StaticExpert(2), {"prior": [0.0, 1.0]}, "'prior' of the state holds 0.0"),
        (StaticExpert(2), {"high": [-1.0, 0.0]}, "'high' of the state holds -1.0"),
        (StaticExpert(2), {"eta": 0.0}, "'eta' of the state is 0.0"),
        (StaticExpert(2, eta="adahedge"), {"eta_gap": -1.0}, "'eta_gap' of the state is -1.0"),
        (StaticExpert(2, eta="adahedge"), {"eta_cap": 0.0}, "'eta_cap' of the state is 0.0"),
        (FixedShare(2, 0.1), {"alpha": 3.0}, "alpha is 3.0"),
        (FixedShare(2, 0.1), {"weights": [0.0, 0.0]}, "'weights' of the state add up to 0.0"),
        (FixedShare(2, 0.1), {"exponents": [0.5, 0.0]}, "'exponents' .* not whole numbers"),
        (FixedShare(2, 1.0), {"exponents": [9000, 0]}, "'weights' of the state add up to 1.07"),
        (MarkovShare([[0.5, 0.5], [0.1, 0.9]]), {"weights": [2.0, 2.0]}, "add up to 4.0"),
        (LearnAlpha(2, alphas=[0.1]), {"mantissas": [0.0]}, "'mantissas' of the state add up to"),
        (LearnAlpha(2, alphas=[0.1]), {"calm": [[0.0], [0.0]]}, "'calm' of the state add up to 0"),
        (LearnAlpha(2, alphas=[0.1]), {"floor": [-1.0]}, "'floor' of the state holds -1.0"),
    ],
)
def test_what_cannot_be(experts, changes, message):
    with pytest.raises(ValueError, match=message):
        type(experts).from_state(experts.state() | changes)


@pytest.mark.parametrize("kind", one_of_each(2))
def test_a_state_is_a_dict(kind):
    with pytest.raises(ValueError, match=r"a state is a dict, got \[\]"):
        type(one_of_each(2)[kind]).from_state([])
