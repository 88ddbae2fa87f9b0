"""What `selectron power` is asked for, and options that would have no effect refused."""

from argparse import Namespace

from selectron.power import (
    Learned,
    Policy,
    Workload,
    changing_workload,
    named_policy,
    standard_policies,
    web_workload,
)

LEARNED = "learned"
EVERYTHING = [*(policy.name for policy in standard_policies()), LEARNED]
PAGES, REGIMES, MAX_SLEEP = 100, 12, 1.2


def check_options(options: Namespace, names: list[str]) -> None:
    """Refuse what cannot be run, and what would be passed over in silence."""
    if options.runs < 1:
        raise ValueError(f"--runs must be at least 1, got {options.runs}")
    for name in names:
        if name not in EVERYTHING:
            raise ValueError(f"--policy {name!r}: choose among {', '.join(EVERYTHING)}")
    _check_lambdas(options.lambdas or [])
    _refuse_idle_traffic_options(options)
    _refuse_repetitions("--policy", names)
    if LEARNED not in names:
        _refuse_what_only_learned_knows(options, names)


def _check_lambdas(lambdas: list[float]) -> None:
    for value in lambdas:
        if not 0 < value < float("inf"):
            raise ValueError(f"--lambda {value:g}: give Joules a second, finite and > 0")
    _refuse_repetitions("--lambda", [f"{value:g}" for value in lambdas])


def _refuse_repetitions(option: str, given: list[str]) -> None:
    for word in given:
        if given.count(word) > 1:
            raise ValueError(f"{option} {word} is there twice: give each once")


def _refuse_idle_traffic_options(options: Namespace) -> None:
    if options.traffic == "web" and options.regimes is not None:
        raise ValueError(f"--regimes {options.regimes} is for --traffic changing; web has --pages")
    if options.traffic == "changing" and options.pages is not None:
        raise ValueError(f"--pages {options.pages} is for --traffic web; changing has --regimes")


def _refuse_what_only_learned_knows(options: Namespace, names: list[str]) -> None:
    why = f"is for --policy {LEARNED}, which is not among {', '.join(names)}"
    if options.max_sleep is not None:
        raise ValueError(f"--max-sleep {options.max_sleep:g} {why}")
    priced = options.task == "compare" and (options.traffic == "changing" or options.json)
    if options.lambdas and not priced:
        raise ValueError(f"--lambda {options.lambdas[0]:g} {why}")


def workload(options: Namespace, seed: int) -> Workload:
    if options.traffic == "web":
        return web_workload(PAGES if options.pages is None else options.pages, seed)
    return changing_workload(REGIMES if options.regimes is None else options.regimes, seed)


def policies(options: Namespace, names: list[str], lambdas: list[float]) -> list[Policy]:
    """Find the policies by their names: learned is one for every λ."""
    found: list[Policy] = []
    max_sleep = MAX_SLEEP if options.max_sleep is None else options.max_sleep
    for name in names:
        if name == LEARNED:
            found += [Learned(lambda_, max_sleep) for lambda_ in lambdas]
        else:
            found.append(named_policy(name))
    return found
