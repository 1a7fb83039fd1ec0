"""What holds in every Python file of the repository and what ruff has no rule for."""

import ast
import os
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
MAX_FUNCTION_LINES = 60
MAX_FILE_LINES = 400
# Folders of the repository's root that hold what was built or fetched.
NOT_OURS = {"data", "target"}
READERS = ("os.environ.get", "os.environ.pop", "os.environ.setdefault", "os.getenv", "environ.get", "getenv")


def python_files() -> Iterator[Path]:
    """Every Python file of the repository, without hidden folders and what is built or fetched."""
    for folder, names, files in os.walk(ROOT):
        left_out = NOT_OURS if Path(folder) == ROOT else set()
        names[:] = sorted(name for name in names if not name.startswith(".") and name not in left_out)
        yield from (Path(folder) / name for name in sorted(files) if name.endswith(".py"))


def long_functions(source: str) -> list[tuple[str, int]]:
    """Name and number of lines of each function over the limit; decorators count, nested functions count twice."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
            n_lines = (node.end_lineno or first) - first + 1
            if n_lines > MAX_FUNCTION_LINES:
                found.append((node.name, n_lines))
    return found


def environment_reads(source: str) -> list[str]:
    """Names of the environment variables that the source reads; a name that is not a literal is given as its code."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Call) and ast.unparse(node.func) in READERS and node.args:
            name = node.args[0]
        elif isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("os.environ", "environ"):
            if not isinstance(node.ctx, ast.Load):
                continue
            name = node.slice
        else:
            continue
        found.append(str(name.value) if isinstance(name, ast.Constant) else ast.unparse(name))
    return found


FILES = list(python_files())
NAMES = [str(path.relative_to(ROOT)) for path in FILES]


def test_the_files_are_found() -> None:
    assert {"training/manifests.py", "training/tests/test_law.py", "bench/peers/digits.py"} <= set(NAMES)


@pytest.mark.parametrize("path", FILES, ids=NAMES)
def test_no_function_and_no_file_is_too_long(path: Path) -> None:
    source = path.read_text()
    assert long_functions(source) == []
    assert len(source.splitlines()) <= MAX_FILE_LINES


def test_environment_variables_are_documented() -> None:
    """Those of training/ in its README; those of other programs in the file's own docstring."""
    readme = (ROOT / "training/README.md").read_text()
    undocumented = []
    for path, name in zip(FILES, NAMES, strict=True):
        source = path.read_text()
        text = readme if name.startswith("training/") else ast.get_docstring(ast.parse(source)) or ""
        undocumented += [(name, variable) for variable in environment_reads(source) if variable not in text]
    assert undocumented == []


def test_a_long_function_is_seen() -> None:
    body = "\n".join(["    pass"] * MAX_FUNCTION_LINES)
    assert long_functions(f"def short():\n{body[9:]}") == []
    assert long_functions(f"def long():\n{body}") == [("long", MAX_FUNCTION_LINES + 1)]
    assert long_functions(f"class A:\n  async def long(self):\n{body}") == [("long", MAX_FUNCTION_LINES + 1)]
    assert long_functions(f"@decorator\ndef long():\n{body[9:]}") == [("long", MAX_FUNCTION_LINES + 1)]


def test_reads_of_the_environment_are_seen() -> None:
    source = 'os.environ["A"]\nos.environ.get("B", "")\nos.getenv("C")\nos.environ["D"] = "1"\nos.environ.get(name)'
    assert environment_reads(source) == ["A", "B", "C", "name"]
