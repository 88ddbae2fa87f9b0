import numpy as np
import pytest

from selectron.cli import main


@pytest.fixture
def command(capsys):
    """Run a command in this process: its exit code, and what it printed."""

    def run(*arguments):
        capsys.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as stop:
            code = stop.code
        out, err = capsys.readouterr()
        return code, out, err

    return run


@pytest.fixture(scope="session")
def rows():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((240, 5))
    return X, np.where(X @ rng.standard_normal(5) > 0, 4, 7)


@pytest.fixture(scope="session")
def data(tmp_path_factory, rows):
    """A file of rows with two classes, 4 and 7."""
    X, y = rows
    path = tmp_path_factory.mktemp("data") / "two.npz"
    np.savez(path, X=X, y=y)
    return path


@pytest.fixture(scope="session")
def three(tmp_path_factory, rows):
    """The same rows with three classes, 0, 1 and 2, and test rows."""
    X, _ = rows
    path = tmp_path_factory.mktemp("data") / "three.npz"
    y = np.digitize(X[:, 0], [-0.4, 0.4])
    np.savez(path, x_train=X[:200], y_train=y[:200], x_test=X[200:], y_test=y[200:])
    return path
