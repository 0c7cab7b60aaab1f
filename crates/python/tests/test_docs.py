"""The pages for users of Python are executed: every example prints what the page says."""

from __future__ import annotations

import doctest
from pathlib import Path

import pytest

HERE = Path(__file__).resolve()
ROOT = next(each for each in HERE.parents if (each / "docs" / "python.md").exists())


@pytest.mark.parametrize("page", ["docs/python.md", "README.md"])
def test_a_page_is_true(page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # The pages are about a checkout.
    (tmp_path / "tests").symlink_to(ROOT / "tests")
    text = (ROOT / page).read_text(encoding="utf-8")
    examples = doctest.DocTestParser().get_doctest(text, {}, page, page, 0)
    assert examples.examples
    report: list[str] = []
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS)
    failed = runner.run(examples, out=report.append).failed
    assert failed == 0, "".join(report)


def test_the_ten_lines_are_those_of_the_example() -> None:
    _, code = (ROOT / "examples" / "python" / "ten_lines.py").read_text(encoding="utf-8").split("\n\n", 1)
    assert f"```python\n{code}```" in (ROOT / "docs" / "python-pytorch.md").read_text(encoding="utf-8")
