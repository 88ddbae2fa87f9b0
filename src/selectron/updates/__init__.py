"""Update rules: how a label changes the hypothesis."""

from selectron.updates.arow import Arow
from selectron.updates.ballseptron import Ballseptron
from selectron.updates.class_ridge import ClassRidge
from selectron.updates.dual_probit import DualProbit
from selectron.updates.half_step import HalfStep
from selectron.updates.passive_aggressive import PassiveAggressive
from selectron.updates.perceptron import Perceptron
from selectron.updates.pnorm import PNorm
from selectron.updates.probit import Probit
from selectron.updates.reflection import Reflection
from selectron.updates.rehearsal import Rehearsal
from selectron.updates.ridge import Ridge
from selectron.updates.second_order import SecondOrder
from selectron.updates.winnow import Winnow

__all__ = [
    "Arow",
    "Ballseptron",
    "ClassRidge",
    "DualProbit",
    "HalfStep",
    "PNorm",
    "PassiveAggressive",
    "Perceptron",
    "Probit",
    "Reflection",
    "Rehearsal",
    "Ridge",
    "SecondOrder",
    "Winnow",
]
