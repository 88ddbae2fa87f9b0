"""The state of a poller as plain numbers and lists, there and back, to the last bit."""

from dataclasses import fields
from math import inf
from reprlib import repr as short_repr
from typing import Any

import numpy as np

from selectron.experts import LearnAlpha
from selectron.power.polling.readings import read_number
from selectron.power.polling.settings import Settings

MOST_POLLS = 2**53  # one a nanosecond for a hundred days
SETTINGS = dict.fromkeys(field.name for field in fields(Settings)).keys()


def lists_of(experts: dict[str, Any]) -> dict[str, Any]:
    """Turn arrays into lists, and infinity into None, which JSON knows; floats stay exact."""
    lists = {name: np.asarray(value).tolist() for name, value in experts.items()}
    return {name: None if value == inf else value for name, value in lists.items()}


def check_state(state: dict[str, Any]) -> tuple[dict[str, Any], int, float, dict[str, Any]]:
    """Return settings, polls, silence and experts, or say what is wrong."""
    if not isinstance(state, dict):
        raise ValueError(f"a state is a dict, got {state!r}; pass what AdaptivePoller.state() gave")
    missing = [name for name in ("settings", "n_polls", "silence", "experts") if name not in state]
    if missing:
        raise ValueError(f"state has no {missing[0]!r}; pass what AdaptivePoller.state() returned")
    settings, n_polls, silence = state["settings"], state["n_polls"], state["silence"]
    if not isinstance(settings, dict) or settings.keys() != SETTINGS:
        raise ValueError(f"the settings are {settings!r}; a state holds {', '.join(SETTINGS)}")
    if not (isinstance(n_polls, int) and 0 <= n_polls < MOST_POLLS):
        raise ValueError(
            f"n_polls is {short_repr(n_polls)}; a state holds a whole number, from 0 to 2^53"
        )
    silence = read_number("silence", silence, "a state holds seconds, 0 or more")
    if not isinstance(state["experts"], dict):
        raise ValueError(f"the experts' state is {state['experts']!r}; a state holds a dict")
    return settings, n_polls, silence, state["experts"]


def experts_from_lists(lists: dict[str, Any], like: LearnAlpha) -> LearnAlpha:
    """Rebuild experts of the same shape as those of a new poller with the same settings."""
    arrays = {}
    for name, value in like.state().items():
        if name not in lists:
            raise ValueError(f"the experts' state has no {name!r}; it is damaged")
        shape = np.shape(value)
        found = _numbers(name, lists[name], np.asarray(value))
        if found.size != int(np.prod(shape)):
            raise ValueError(
                f"{name!r} of the experts' state holds {found.size} numbers instead of "
                f"{int(np.prod(shape))}; it belongs to other intervals, or is damaged"
            )
        arrays[name] = found.reshape(shape) if shape else found.item()
    return LearnAlpha.from_state(arrays)


def _numbers(name: str, given: Any, like: Any) -> Any:
    """Return an array of the type of another: finite, but where that is infinite."""
    try:
        found = np.array(inf if given is None else given, dtype=like.dtype)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(
            f"{name!r} of the experts' state holds no numbers; it is damaged"
        ) from None
    bad = found[~np.isfinite(found)]
    if len(bad) and np.isfinite(like).all():
        raise ValueError(f"{name!r} of the experts' state holds {bad[0]}; it is damaged")
    return found
