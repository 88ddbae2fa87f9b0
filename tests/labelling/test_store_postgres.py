"""What is particular to a store on a server: its session, its lock, its version."""

import psycopg
import pytest

from selectron.cli.main import main
from selectron.labelling.store import Held, StoreError, open_store
from selectron.labelling.store import postgres as postgres_store
from tests.labelling.conftest import new_schema
from tests.labelling.counting import begin
from tests.labelling.test_store import answers


@pytest.fixture
def address(postgres):
    address = new_schema(postgres)
    with open_store(address) as store:
        store.append(answers(1, 9))
    return address


def run(address, statement):
    with psycopg.connect(address) as db:
        db.execute(statement)


def test_a_session_that_ends_stops_the_store(address):
    with open_store(address) as store:
        store.append(answers(10, 10))
        pid = store._db.info.backend_pid
        run(address, f"SELECT pg_terminate_backend({pid}, 5000)")
        with open_store(address) as other:  # the lock ended with the session
            other.append(answers(11, 11))
        with pytest.raises(StoreError, match="PostgreSQL"):
            store.append(answers(12, 12))
        with pytest.raises(StoreError, match="opened again"):
            store.append(answers(12, 12))
        assert len(list(store.events())) == 11


def test_a_holder_that_is_no_selectron_is_still_a_holder(address):
    with psycopg.connect(address, application_name="psql") as db:
        db.execute(f"SELECT pg_advisory_lock({postgres_store.LOCK})")
        with pytest.raises(Held, match="in use"):
            open_store(address)


def test_schemas_are_stores_of_their_own(address, postgres):
    with open_store(address), open_store(new_schema(postgres)) as other:
        assert other.verify().events == 0


def test_numbers_have_no_gaps_after_an_error(address):
    store = open_store(address)
    with pytest.raises(StoreError):
        store.append([*answers(10, 12), *answers(1, 1)])
    store.close()
    with open_store(address) as store:
        assert store.append(answers(10, 10)) == 10


def test_a_newer_version_is_refused(address):
    run(address, "UPDATE selectron_version SET version = 2")
    with pytest.raises(StoreError, match="version 2"):
        open_store(address)


def test_an_older_version_is_brought_up_to_date(address, monkeypatch):
    step = "ALTER TABLE selectron_snapshots ADD COLUMN note text;"
    monkeypatch.setattr(postgres_store, "MIGRATIONS", [*postgres_store.MIGRATIONS, step])
    with open_store(address) as store:
        assert store.info()["version"] == 2
        assert store.append(answers(10, 10)) == 10


def test_a_failed_migration_changes_nothing(address, monkeypatch):
    wrong = [*postgres_store.MIGRATIONS, "CREATE TABLE x (y int); wrong;"]
    monkeypatch.setattr(postgres_store, "MIGRATIONS", wrong)
    with pytest.raises(StoreError, match="wrong"):
        open_store(address)
    monkeypatch.undo()
    with open_store(address) as store:
        assert store.info()["version"] == 1


def test_a_server_that_is_not_there():
    with pytest.raises(StoreError, match="PostgreSQL"):
        open_store("postgresql://localhost:1/nothing")


def test_the_commands_take_an_address_and_print_no_password(postgres, tmp_path, capsys):
    address = new_schema(postgres)
    log = begin(n=12)
    for n in range(6):
        log.answer(f"f{n}", None, "spam" if n % 2 else "ham", "ann", item=f"i{n}")
    with open_store(address) as store:
        store.append(log.events)
    secret = address.replace("postgres:@", "postgres:secret@")
    copy, labels = str(tmp_path / "copy.db"), tmp_path / "labels.jsonl"
    assert main(["store", "verify", secret]) == 0
    assert main(["store", "backup", secret, "-o", copy]) == 0
    assert main(["store", "info", secret]) == 0
    assert main(["export", secret, "-o", str(labels)]) == 0
    assert len(labels.read_text().splitlines()) == 6
    said = capsys.readouterr()
    assert "secret" not in said.out + said.err
    assert main(["store", "verify", copy]) == 0
