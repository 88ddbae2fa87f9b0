"""What a type checker says of users' code."""

import subprocess
import sys

RIGHT = """
from selectron import SelectiveClassifier
from selectron.queries import Margin
from selectron.updates import Perceptron

SelectiveClassifier(Perceptron(), Margin())
"""


def checked(code, folder):
    """Return what mypy prints of this code."""
    file = folder / "code.py"
    file.write_text(code)
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", folder, file]
    return subprocess.run(command, capture_output=True, text=True, cwd=folder, check=False).stdout


def test_swapped_rules_are_a_type_error(tmp_path):
    assert "Success" in checked(RIGHT, tmp_path)
    swapped = checked(RIGHT.replace("Perceptron(), Margin()", "Margin(), Perceptron()"), tmp_path)
    assert swapped.count("[arg-type]") == 2
    assert 'has incompatible type "Margin"' in swapped
