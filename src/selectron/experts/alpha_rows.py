"""The Fixed-share rows of Learn-α, all at once, and the weights over them."""

from selectron.arrays import Indices, Vector
from selectron.experts.alpha_layout import AlphaRows, Room
from selectron.experts.hearing import likelihoods, scaled_likelihoods, scaled_mixture
from selectron.experts.rate import Rate, step_rate
from selectron.experts.scaled import align, power_of_two, split
from selectron.experts.sharing import Row, stiff_share
from selectron.experts.steps import mean_excess, smallest_awake, sum_awake, sum_of
from selectron.numeric.elementary import jitable
from selectron.numeric.sums import lane_dot

SAFE_MASS = 1e-250  # above this no term that underflowed would have counted


@jitable
def learn_calm(rows: AlphaRows, likelihood: Vector, evidence: Vector) -> None:
    """Share as the last step left it, then learn: every calm row in one pass."""
    scale, floor, spread, move = rows.scale, rows.floor, rows.spread, rows.move
    for j in range(len(scale)):
        evidence[j] = 0.0
    for i in range(len(likelihood)):
        row, factor = rows.calm[i], likelihood[i]
        for j in range(len(scale)):
            learnt = (scale[j] * row[j] + floor[j]) * factor
            row[j] = learnt
            evidence[j] += learnt
    for j in range(len(scale)):
        scale[j] = spread[j] / evidence[j]
        floor[j] = move[j]


@jitable
def share_restless(rows: AlphaRows, evidence: Vector) -> None:
    """Share at once in the restless rows; the leader has its own sum over the others."""
    calm, n = rows.calm, len(rows.calm)
    first = len(rows.scale) - len(rows.restless_stay)
    for j in range(first, len(rows.scale)):
        leader, others = 0, 0.0
        for i in range(1, n):
            leader = i if calm[i, j] > calm[leader, j] else leader
        for i in range(n):
            others += calm[i, j] if i != leader else 0.0
        stay, move, total = rows.restless_stay[j - first], rows.move[j], others + calm[leader, j]
        leading = stay * calm[leader, j] + move * others
        for i in range(n):
            calm[i, j] = (stay * calm[i, j] + move * (total - calm[i, j])) / total
        calm[leader, j] = leading / total
        evidence[j], rows.scale[j], rows.floor[j] = total, 1.0, 0.0


@jitable
def row_of(weights: Vector, exponents: Indices, room: Room) -> Row:
    """Return a stiff row that hears the likelihoods of this step."""
    return Row(
        False,
        weights,
        exponents,
        room.mantissas,
        room.exponents,
        room.room,
        room.spare,
        room.spare_exponents,
    )


@jitable
def learn_stiff(rows: AlphaRows, room: Room) -> None:
    """Learn and share in every stiff row; their evidence goes to the exponents over the rows."""
    calm = len(rows.scale)
    for k in range(len(rows.stiff_stay)):
        row = row_of(rows.stiff[k], rows.stiff_exponents[k], room)
        room.evidence[calm + k], exponent = stiff_share(row, rows.stiff_stay[k], rows.stiff_move[k])
        rows.exponents[calm + k] += exponent


@jitable
def mix_rows(rows: AlphaRows, room: Room) -> None:
    """Write the weight of every expert in the mixture of all rows, O(mn)."""
    calm, weights = len(rows.scale), room.weights
    _, total = sum_rows(rows, room)
    resting = 0.0
    for j in range(calm):
        share = room.shares[j] / total
        room.evidence[j] = share * rows.scale[j]
        resting += share * rows.floor[j]
    for i in range(len(weights)):
        weights[i] = lane_dot(rows.calm[i], room.evidence[:calm]) + resting
    for k in range(len(rows.stiff_stay)):
        share = room.shares[calm + k] / total
        for i in range(len(weights)):
            weights[i] += share * (rows.stiff[k, i] * power_of_two(rows.stiff_exponents[k, i]))


@jitable
def mix_rows_scaled(rows: AlphaRows, room: Room) -> None:
    """Do as `mix_rows` with scaled numbers: where all plain weights may be 0."""
    calm, m = len(rows.scale), len(rows.mantissas)
    terms, exponents = room.evidence, room.term_exponents
    for i in range(len(room.weights)):
        for j in range(m):
            if j < calm:
                value, exponent = rows.scale[j] * rows.calm[i, j] + rows.floor[j], 0
            else:
                value, exponent = rows.stiff[j - calm, i], rows.stiff_exponents[j - calm, i]
            terms[j], carry = split(rows.mantissas[j] * value)
            exponents[j] = rows.exponents[j] + exponent + carry
        largest = align(terms, exponents, room.shares)
        room.weights[i], carry = split(sum_of(room.shares))
        room.weight_exponents[i] = largest + carry


@jitable
def wake_all(rows: AlphaRows, room: Room, losses: Vector) -> None:
    """Give sleepers the likelihood of the whole mixture of those awake."""
    mass = lane_dot(room.weights, room.likelihood)
    if mass > SAFE_MASS:
        mixture, exponent = split(mass / sum_awake(room.weights, losses))
    else:
        mix_rows_scaled(rows, room)
        row = row_of(room.weights, room.weight_exponents, room)
        mixture, exponent = scaled_mixture(row, losses)
    for i in range(len(losses)):
        if losses[i] != losses[i]:
            room.likelihood[i] = mixture * power_of_two(exponent)
            room.mantissas[i], room.exponents[i] = mixture, exponent


@jitable
def weigh_rows(rows: AlphaRows, evidence: Vector) -> None:
    """Multiply the weight of every row by its evidence ([Mon06], equation 2.7)."""
    mantissas, exponents = rows.mantissas, rows.exponents
    for j in range(len(evidence)):
        mantissas[j], carry = split(mantissas[j] * evidence[j])
        exponents[j] += carry


@jitable
def sum_rows(rows: AlphaRows, room: Room) -> tuple[int, float]:
    """Write the weights of the rows at their largest exponent; return it and their sum."""
    largest = align(rows.mantissas, rows.exponents, room.shares)
    return largest, sum_of(room.shares)


@jitable
def hear_all(rows: AlphaRows, room: Room, rate: Rate, losses: Vector) -> tuple[float, float, float]:
    """Write the likelihood of every expert; return the smallest loss, the mean's excess, and η."""
    smallest, awake = smallest_awake(losses)
    excess = 0.0
    if rate.tuned or awake < len(losses):
        mix_rows(rows, room)
        excess = mean_excess(room.weights, losses, smallest)
    eta = step_rate(rate, excess)
    likelihoods(losses, smallest, eta, room.likelihood)
    if len(rows.stiff_stay) > 0 or awake < len(losses):
        scaled_likelihoods(losses, smallest, eta, room.mantissas, room.exponents)
    if awake < len(losses):
        wake_all(rows, room, losses)
    return smallest, excess, eta
