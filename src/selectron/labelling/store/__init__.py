"""Where events are kept: SQLite or PostgreSQL, behind one protocol."""

from pathlib import Path

from selectron.extras import extra
from selectron.labelling.store.log import Damaged, DiskFull, Held, Report, Store, StoreError, Unfit

__all__ = ["Damaged", "DiskFull", "Held", "Report", "Store", "StoreError", "Unfit", "open_store"]


def open_store(url: str | Path, *, readonly: bool = False) -> Store:
    """Open the store at a path or at a `postgresql://` address; make it if it is new.

    Parameters
    ----------
    url : str or Path
        `FILE.db`, or `postgresql://user@host/database`.
    readonly : bool
        Read a store that another process may be writing to; nothing is made, locked or changed.
    """
    if str(url).startswith(("postgresql://", "postgres://")):
        with extra("postgres"):
            from selectron.labelling.store.postgres import PostgresStore  # noqa: PLC0415
        return PostgresStore(str(url), readonly)
    from selectron.labelling.store.sqlite import SqliteStore  # noqa: PLC0415 - beside the other

    return SqliteStore(Path(url), readonly)
