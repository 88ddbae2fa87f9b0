"""Data sets that come with scikit-learn, by name: to try a command, no file is needed."""

from selectron.arrays import Array

SHIPPED = {
    "breast-cancer": "load_breast_cancer",
    "digits": "load_digits",
    "iris": "load_iris",
    "wine": "load_wine",
}


def read_shipped(name: str) -> tuple[Array, Array]:
    """Return the rows of a data set of this name, and their labels."""
    from sklearn import datasets  # noqa: PLC0415 - costs half a second

    X, y = getattr(datasets, SHIPPED[name])(return_X_y=True)
    return X, y
