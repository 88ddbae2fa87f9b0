"""One job on many processes or machines: an engine maps a function over jobs, whoever dies."""

from selectron.engines.local import Engine, Here, Local, Tick, WorkersLost, nobody_watches
from selectron.extras import extra

__all__ = ["Engine", "Here", "Local", "Tick", "WorkersLost", "engine_of", "nobody_watches"]


def engine_of(name: str, workers: int | None = None, address: str | None = None) -> Engine:
    """Return the engine of a name, "local" or "ray", to be used in a `with` block.

    Parameters
    ----------
    workers : int, optional
        Jobs at a time; one for each core if left out.
    address : str, optional
        Of a Ray cluster, such as "10.0.0.1:6379"; without it Ray starts on this machine.

    Examples
    --------
    >>> from math import sqrt
    >>> with engine_of("local", workers=1) as engine:
    ...     print(engine.map(sqrt, [1.0, 4.0]))
    [1.0, 2.0]
    """
    if workers is not None and workers < 1:
        raise ValueError(f"there must be a worker at least, got workers={workers}")
    if name == "local":
        if address is not None:
            raise ValueError(f"address={address!r} is for the engine ray: local has none")
        return Local(workers)
    if name == "ray":
        with extra("cluster"):
            from selectron.engines.on_ray import OnRay  # noqa: PLC0415

        return OnRay(workers, address)
    raise ValueError(f"unknown engine {name!r}; known are local and ray")
