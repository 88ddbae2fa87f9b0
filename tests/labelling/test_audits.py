"""The interval of the audits spends its level once."""

from math import log

from selectron.labelling.audits import Audited, Draw, estimate, of_the_rest

DRAWS = [Draw(t % 10 == 0, 2000 - t, goal=0.2) for t in range(200)]


def test_of_what_is_fixed_the_whole_level_is_in_the_upper_limit():
    found = estimate(Audited(DRAWS, 1800, fixed=True), 0.95)
    assert found["low"] == 0.0
    assert found["high"] == of_the_rest(DRAWS, 1800, 0.95).high
    assert found["high"] > found["error"] == 0.1


def test_of_what_moves_each_side_has_half():
    found = estimate(Audited(DRAWS, 1800), 0.95)
    assert 0.0 < found["low"] < 0.1 < found["high"]
    enough = log(2 * 8 / 0.05)
    assert found["high"] <= (20 * 0.4 + enough) / (1 - 2.718281828459045**-0.4) / 200 + 1e-12


def test_mistakes_that_others_took_away_widen_the_interval():
    taken = [draw._replace(gone=10) for draw in DRAWS]
    assert of_the_rest(taken, 1800, 0.95).high > of_the_rest(DRAWS, 1800, 0.95).high
