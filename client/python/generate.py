"""Makes `client.py`, the client without asyncio, of `async_client.py`. `--check` only says whether it is current."""

import re
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "src/akhar_client"
MADE = FOLDER / "client.py"
HEAD = '"""The client. `generate.py` makes this file of `async_client.py`: change that one."""\n'
NAMES = {
    r"(?:async|await) ": "",
    r"AsyncIterator\b": "Iterator",
    r"asynccontextmanager\b": "contextmanager",
    r"asyncio\b": "time",
    r"Async(?=[A-Z])": "",
    r"async_(?=[a-z])": "",
    r"__a(?=enter__|exit__)": "__",
    r"a(?=close\b|read\b|iter_lines\b)": "",
}
"""Beginnings of words in the client for asyncio, and what stands for them in the other."""


def ruff(code: str, *command: str) -> str:
    """The code after a command of ruff."""
    arguments = [sys.executable, "-m", "ruff", *command, "--quiet", "--stdin-filename", MADE, "-"]
    return subprocess.run(arguments, input=code, capture_output=True, text=True, check=True).stdout


def made() -> str:
    """The text of the client without asyncio."""
    _, code = (FOLDER / "async_client.py").read_text().split("\n", 1)
    for word, plain in NAMES.items():
        code = re.sub(rf"\b{word}", plain, code)
    # The order of imports, and loops that only yield, which asyncio has no shorter form of.
    return ruff(ruff(HEAD + code, "check", "--select", "I,UP028", "--fix-only", "--unsafe-fixes"), "format")


def main() -> None:
    """Writes the file, or compares it."""
    if "--check" not in sys.argv:
        MADE.write_text(made())
    elif MADE.read_text() != made():
        sys.exit(f"{MADE} is not current: run python generate.py in client/python")


if __name__ == "__main__":
    main()
