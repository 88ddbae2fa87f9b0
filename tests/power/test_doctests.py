import doctest
import importlib
import pkgutil

import pytest

import selectron.power

MODULES = [
    "selectron.power",
    *(
        module.name
        for module in pkgutil.walk_packages(selectron.power.__path__, "selectron.power.")
    ),
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_print_what_they_say(name):
    assert doctest.testmod(importlib.import_module(name)).failed == 0
