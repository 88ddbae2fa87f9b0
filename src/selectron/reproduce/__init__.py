"""Run the tables and figures of the papers again, and show how the defaults were chosen.

There is a folder for each paper, `default` for the defaults of this library, and `peers` for other
libraries. A module in them is a study: its functions `jobs`, `measure`, `report`, `text` and `draw`
make one experiment. `harness` has the code that all studies share. `experiments.toml` names the
experiments; `published.toml` has the numbers of papers that ours stand beside.
"""

import tomllib
from importlib.resources import files
from pkgutil import resolve_name
from typing import Any

from selectron.reproduce.harness.experiment import AnyExperiment, Experiment

__all__ = ["EXPERIMENTS", "Experiment"]


def _experiment(name: str, **declared: Any) -> AnyExperiment:
    """Make an experiment of its declaration, in which code stands as `module` or `module:name`."""
    code = {part: resolve_name(f"{__name__}.{declared[part]}")
            for part in ("study", "needs") if part in declared}  # fmt: skip
    return Experiment(name, **(declared | code))


_DECLARED = tomllib.loads(files(__name__).joinpath("experiments.toml").read_text("utf-8"))
EXPERIMENTS = {name: _experiment(name, **declared) for name, declared in _DECLARED.items()}
