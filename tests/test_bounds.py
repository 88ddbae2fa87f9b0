"""Every bound refuses arguments outside their range, with the word, the value and a remedy."""

import doctest
import inspect
from math import inf, nan

import pytest

from selectron import bounds
from selectron.bounds import cbgz06, cbgz06_classes, ccg04, dkm09, mon06, mon06_experts, ng, ss05

MODULES = [getattr(bounds, name) for name in bounds.__all__]

FIRST_ORDER = {"max_norm": 1.0, "target_margin": 0.5, "hinge": 1.0, "comparator_norm": 1.0}
SHAPE = {"target_margin": 0.5, "comparator_energy": 2.0, "log_volume": 3.0}
SPHERE = {"d": 10, "error": 0.01, "delta": 0.05, "c": 0.01}
SIMILAR = {**SPHERE, "similarity": 0.5}
WINNOW = {"alpha": 0.5, "target_margin": 0.5, "max_norm": 1.0}
BALL = {"max_norm": 1.0, "target_margin": 0.5, "r": 0.1}

SHARE = {"horizon": 11, "best_alpha": 0.2, "alpha": 0.3}
POSTERIOR = {"switch_rates": [0.0, 1.0], "probabilities": [0.2, 0.8]}
MOVES = {"best_transition": [[0.9, 0.1], [0.1, 0.9]], "transition": [[0.8, 0.2], [0.5, 0.5]]}

VALID = {
    ng.novikoff: {"max_norm": 1.0, "margin": 0.5},
    ss05.d2_mistakes: {**BALL, "hinge_norm": 1.0},
    ss05.d1_mistakes: {**BALL, "hinge": 1.0},
    ss05.d2_mistakes_refined: {**BALL, "hinge_norm": 1.0, "n_margin_errors": 3},
    ss05.d1_mistakes_refined: {**BALL, "hinge": 1.0, "n_margin_errors": 3},
    ss05.d2_mistakes_too: {**BALL, "hinge_norm": 1.0, "n_margin_errors": 3},
    ss05.d1_mistakes_too: {**BALL, "hinge": 1.0, "n_margin_errors": 3},
    ss05.margin_error_discount: {"r": 0.1, "target_margin": 0.5},
    ss05.multiclass_scale: {"max_norm": 1.0, "r": 0.1},
    cbgz06.perceptron_mistakes: {**FIRST_ORDER, "b": 1.0},
    cbgz06.perceptron_optimal_b: FIRST_ORDER,
    cbgz06.perceptron_optimal_mistakes: FIRST_ORDER,
    cbgz06.p_norm_mistakes: {**FIRST_ORDER, "b": 1.0, "p": 3.0},
    cbgz06.p_norm_every_label: {**FIRST_ORDER, "p": 3.0},
    cbgz06.adaptive_mistakes: {**FIRST_ORDER, "beta": 1.0},
    cbgz06.adaptive_rate_floor: {"beta": 1.0, "n_updates": 3},
    cbgz06.log_volume_of: {"a": 1.0, "eigenvalues": [1.0, 2.0]},
    cbgz06.second_order_mistakes: {**SHAPE, "b": 1.0, "hinge": 1.0},
    cbgz06.second_order_optimal_b: SHAPE,
    cbgz06.second_order_optimal_mistakes: {**SHAPE, "hinge": 1.0},
    cbgz06.winnow_parameters: WINNOW,
    cbgz06.winnow_mistakes: {**WINNOW, "hinge": 1.0, "d": 8},
    cbgz06.winnow_every_label: {
        "eta": 0.1,
        "target_margin": 0.5,
        "max_norm": 1.0,
        "hinge": 1.0,
        "d": 8,
    },
    cbgz06_classes.class_perceptron_mistakes: {**FIRST_ORDER, "b": 1.0},
    cbgz06_classes.class_second_order_mistakes: {**SHAPE, "b": 1.0, "hinge": 1.0},
    cbgz06_classes.class_second_order_every_label: {**SHAPE, "hinge": 1.0},
    cbgz06_classes.class_adaptive_mistakes: {**FIRST_ORDER, "beta": 1.0},
    ccg04.mean_error: {"mistakes": 5, "rounds": 100, "delta": 0.05},
    ccg04.vote_error: {"mistakes": 5, "rounds": 100, "delta": 0.05},
    ccg04.expected_error: {"mistakes": 5, "rounds": 100},
    ccg04.survivor_error: {"survived": 20, "n_hypotheses": 100, "delta": 0.05},
    dkm09.perceptron_sine_floor: {"n_updates": 3, "start_norm": 1.0},
    dkm09.perceptron_sine_floor_at: {"norm": 2.0},
    dkm09.modified_perceptron_mistakes: {"d": 10, "error": 0.01, "delta": 0.05},
    **dict.fromkeys(
        [
            dkm09.active_updates,
            dkm09.patience,
            dkm09.active_labels,
            dkm09.active_errors,
            dkm09.active_rows,
            dkm09.runs,
        ],
        SPHERE,
    ),
    **dict.fromkeys(
        [
            mon06.active_updates,
            mon06.patience,
            mon06.printed_patience,
            mon06.active_labels,
            mon06.active_errors,
            mon06.runs,
        ],
        SIMILAR,
    ),
    mon06_experts.static_expert_regret: {"n": 3},
    mon06_experts.fixed_share_regret: SHARE,
    mon06_experts.partition_regret: {"horizon": 11, "n": 3, "switches": 2, "alpha": 0.3},
    mon06_experts.markov_share_regret: {"horizon": 11, **MOVES},
    mon06_experts.learn_alpha_regret: {"horizon": 11, "best_alpha": 0.2, "alphas": [0.1, 0.3]},
    mon06_experts.discretised_regret: {"horizon": 11, "n_alphas": 5, "delta": 0.05},
    mon06_experts.approximate_size: {"delta": 0.05},
    mon06_experts.relative_quality: {"horizon": 11, "best_alpha": 0.2, "second_derivative": 9.0},
    mon06_experts.quality_from_variance: {"horizon": 11, "best_alpha": 0.2, "variance": 0.001},
    mon06_experts.regret_identity: {**SHARE, **POSTERIOR},
    mon06_experts.fixed_share_regret_floor: {**SHARE, "quality": 0.9},
}
ARGUMENTS = [
    (f, name) for f, known in VALID.items() for name in known if not isinstance(known[name], list)
]
NEVER_ZERO = {
    "a",
    "alpha",
    "b",
    "beta",
    "c",
    "d",
    "delta",
    "error",
    "eta",
    "margin",
    "max_norm",
    "norm",
    "p",
}
NEVER_ZERO |= {"horizon", "n", "n_alphas", "n_hypotheses", "rounds", "similarity", "target_margin"}
MAY_BE_ZERO = {(f, "alpha") for f in VALID if f.__module__ == mon06_experts.__name__}


def public_functions(module):
    members = inspect.getmembers(module, inspect.isfunction)
    return {f for name, f in members if f.__module__ == module.__name__ and name[0] != "_"}


def identify(value):
    return f"{value.__module__.rpartition('.')[2]}.{value.__name__}" if callable(value) else value


def test_every_bound_is_listed_here():
    assert set(VALID) == set().union(*map(public_functions, MODULES))


@pytest.mark.parametrize("function", VALID, ids=identify)
def test_arguments_go_by_word_and_the_citation_is_in_the_first_line(function):
    kinds = {p.kind for p in inspect.signature(function).parameters.values()}
    assert kinds == {inspect.Parameter.KEYWORD_ONLY}
    key = function.__module__.rpartition(".")[2].partition("_")[0]  # a paper may fill two files
    assert f"[{key}]" in function.__doc__.splitlines()[0].lower()
    assert ">>>" in function.__doc__


@pytest.mark.parametrize(("function", "name"), ARGUMENTS, ids=identify)
def test_a_value_out_of_range_is_named_with_its_remedy(function, name):
    function(**VALID[function])
    no_zero = name in NEVER_ZERO and (function, name) not in MAY_BE_ZERO
    for bad in (nan, inf, -1.0) + ((0.0,) if no_zero else ()):
        with pytest.raises(ValueError, match=rf"{name} must be in .*, got {bad!r}; \w+"):
            function(**VALID[function] | {name: bad})


@pytest.mark.parametrize(
    ("function", "changes", "message"),
    [
        (cbgz06.winnow_parameters, {"alpha": 1.0}, r"alpha must be in \(0, 1\), got 1.0"),
        (cbgz06.p_norm_mistakes, {"p": 1.9}, r"p must be in \[2, inf\), got 1.9"),
        (dkm09.active_labels, {"delta": 1.0}, r"delta must be in \(0, 1\), got 1.0"),
        (dkm09.active_labels, {"error": 0.5}, r"error must be in \(0, 0.5\), got 0.5"),
        (mon06.active_labels, {"similarity": 1.01}, r"similarity must be in \(0, 1\], got 1.01"),
        (ss05.d1_mistakes, {"target_margin": 1.5}, "at most max_norm, got target_margin=1.5"),
        (ss05.d2_mistakes, {"r": 0.21}, "r must be at most .* = 0.207107, got r=0.21; lower r"),
        (ss05.d2_mistakes_too, {"r": 0.5}, "r must be below target_margin, got r=0.5 .*; lower r"),
        (ss05.d1_mistakes_too, {"target_margin": 1.5}, "at most max_norm, got target_margin=1.5"),
        (cbgz06.log_volume_of, {"eigenvalues": [1.0, -0.1]}, r"must be >= 0, got \[1.0, -0.1\]"),
        (cbgz06.log_volume_of, {"eigenvalues": [nan]}, r"must be >= 0, got \[nan\]"),
        (cbgz06.log_volume_of, {"eigenvalues": [inf]}, r"must be >= 0, got \[inf\]"),
        (cbgz06.perceptron_optimal_b, {"comparator_norm": 0.0}, "got comparator_norm=0.0; give"),
        (cbgz06.second_order_optimal_b, {"log_volume": 0.0}, "log_volume=0.0 above 0; give"),
        (mon06_experts.fixed_share_regret, {"alpha": 1.1}, r"alpha must be in \[0, 1\], got 1.1"),
        (mon06_experts.relative_quality, {"horizon": 1}, r"horizon must be in \[2, inf\), got 1"),
        (
            mon06_experts.fixed_share_regret_floor,
            {"best_alpha": 0.0},
            r"best_alpha must be in \(0, 1\), got 0.0; at the ends",
        ),
        (mon06_experts.learn_alpha_regret, {"alphas": []}, "alphas is empty; give the switching"),
        (mon06_experts.learn_alpha_regret, {"alphas": [1.5]}, r"q is 1.5; it lies in \[0, 1\]"),
        (mon06_experts.markov_share_regret, {"transition": [0.5, 0.5]}, "give a square matrix"),
        (mon06_experts.markov_share_regret, {"best_transition": []}, "give a square matrix"),
        (mon06_experts.markov_share_regret, {"transition": [[0.9, 0.9], [0, 1]]}, "sums to 1"),
        (mon06_experts.regret_identity, {"probabilities": [1.0]}, "give one probability"),
    ],
)
def test_the_ends_of_the_ranges(function, changes, message):
    with pytest.raises(ValueError, match=message):
        function(**VALID[function] | changes)


def test_the_ends_that_belong_to_the_ranges():
    assert mon06_experts.fixed_share_regret(horizon=11, best_alpha=0.0, alpha=0.0) == 0.0
    assert mon06_experts.discretised_regret(horizon=1, n_alphas=1) == 0.0
    assert mon06_experts.discretised_regret(horizon=3, n_alphas=1, delta=0.25) == 0.5
    assert mon06_experts.fixed_share_regret(horizon=11, best_alpha=0.5, alpha=0.0) == inf
    assert mon06.runs(**SIMILAR | {"similarity": 1.0}) == dkm09.runs(**SPHERE)
    largest = ss05.LARGEST_RADIUS * 0.5
    assert ss05.d2_mistakes(max_norm=1.0, target_margin=0.5, hinge_norm=0.0, r=largest) == 4.0
    assert ss05.margin_error_discount(r=largest, target_margin=0.5) == pytest.approx(0)
    assert cbgz06.log_volume_of(eigenvalues=[-1e-17, 0.0]) == 0.0
    assert cbgz06.log_volume_of(eigenvalues=[]) == 0.0
    assert ccg04.survivor_error(survived=0, n_hypotheses=1, delta=0.5) == 1.0
    assert cbgz06.perceptron_mistakes(**FIRST_ORDER | {"comparator_norm": 0.0}, b=0.5) == 4.0


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.__name__)
def test_the_examples_print_what_they_say(module):
    failed, tried = doctest.testmod(module)
    assert tried > 0
    assert failed == 0
