"""The examples of the page on estimates print what it says."""

from tests.docs.places import DOCS
from tests.docs.test_docs import blocks


def test_the_examples_print_what_the_page_says(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    shown = list(blocks(DOCS / "estimate.md"))
    assert len(shown) == 3
    for code, printed in shown:
        exec(compile(code, "estimate.md", "exec"), {})
        assert capsys.readouterr().out == printed
    assert (tmp_path / "run.png").exists()
