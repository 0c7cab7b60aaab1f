"""Forks, interpreters, copies of the package, and the command."""

from __future__ import annotations

import multiprocessing
import shutil
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pytest
from test_search import model

import bubbleproof as bp


def answer(_: int) -> str:
    return bp.optimize(model(), memory="60%").schedule.to_json()


@pytest.mark.parametrize("method", ["fork", "spawn"])
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_processes_search_after_threads_have(method: str) -> None:
    searching = threading.Thread(target=answer, args=(0,))
    searching.start()
    expected = answer(0)
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context(method)) as pool:
        assert list(pool.map(answer, range(4), timeout=120)) == [expected] * 4
    searching.join()


def python(code: str, *path: Path) -> subprocess.CompletedProcess[str]:
    lines = [f"import sys; sys.path[:0] = {[str(each) for each in path]!r}", code]
    return subprocess.run([sys.executable, "-c", "\n".join(lines)], capture_output=True, text=True, timeout=120)


@pytest.mark.skipif(sys.version_info < (3, 13), reason="_interpreters has been there since 3.13")
def test_a_second_interpreter_is_refused_and_harms_nobody() -> None:
    ended = python(
        "import _interpreters, bubbleproof as bp\n"
        "other = _interpreters.create()\n"
        "failed = _interpreters.exec(other, 'import bubbleproof')\n"
        "print(failed is not None, bp.Model(devices=1, microbatches=1, forward=1, backward_input=1, backward_weight=1))"
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stdout.startswith("True <Model"), ended.stdout


def test_two_copies_of_the_package_live_side_by_side(tmp_path: Path) -> None:
    shutil.copytree(Path(bp.__file__).parent, tmp_path / "bubbleproof")
    ended = python(
        "import pickle, bubbleproof as first\n"
        "model = first.Model(devices=1, microbatches=1, forward=1, backward_input=1, backward_weight=1)\n"
        "packed = pickle.dumps(model)\n"
        "for name in [name for name in sys.modules if name.partition('.')[0] == 'bubbleproof']: del sys.modules[name]\n"
        f"sys.path.insert(0, {str(tmp_path)!r})\n"
        "import bubbleproof as second\n"
        "assert second.__file__ != first.__file__\n"
        "again = pickle.loads(packed)\n"
        "assert type(again) is second.Model and again != model and again.to_toml() == model.to_toml()\n"
        "print('two')"
    )
    assert (ended.returncode, ended.stdout) == (0, "two\n"), ended.stderr


def command(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "bubbleproof", *arguments], capture_output=True, text=True, timeout=120, **options
    )


def test_the_command_comes_with_the_package(tmp_path: Path) -> None:
    assert command("--version").stdout == f"bubbleproof {bp.__version__}\n"
    path = tmp_path / "model.toml"
    model().save(path)
    ended = command("optimize", str(path), "--memory", "60%", "-o", str(tmp_path / "schedule.json"))
    assert ended.returncode == 0, ended.stderr
    schedule = bp.Schedule.load(tmp_path / "schedule.json")
    assert bp.check(schedule).replay.makespan == bp.optimize(model(), memory="60%").value
    ended = command("optimize", str(tmp_path / "none.toml"))
    assert ended.returncode == 2 and "none.toml" in ended.stderr and ended.stdout == ""


def test_a_pipe_that_is_closed_is_no_disaster() -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "bubbleproof", "--help"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert program.stdout is not None and program.stderr is not None
    program.stdout.close()
    assert program.stderr.read() == ""
    program.wait(timeout=120)
