"""Starts the service for a measurement, with a data folder of its own, and stops it again."""

import os
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

ROOT = Path(__file__).resolve().parents[2]
URL = re.compile(r"listening on (\S+)")
KEY = re.compile(r"Demo key: (\S+)")


@contextmanager
def served(program: Path) -> Iterator[tuple[str, str]]:
    """Run `program serve` in the repository's root, on a free port, with one thread a model; give its URL and a key.

    Raises RuntimeError, with what the program wrote, where it ends before it is ready.
    """
    with tempfile.TemporaryDirectory() as folder:
        environment = {"AKHAR_DATA_DIR": folder, "AKHAR_LISTEN": "127.0.0.1:0", "AKHAR_INFERENCE_THREADS": "1"}
        process = subprocess.Popen(
            [program.resolve(), "serve"],
            cwd=ROOT,
            env=os.environ | environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        try:
            yield _ready(process)
        finally:
            process.terminate()
            process.wait()


def _ready(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Read what the service writes until it says that it is ready; the rest is read and dropped."""
    output = process.stdout
    assert output is not None  # it is a pipe
    written, url = [], None
    for line in output:
        written.append(line)
        url = url or URL.search(line)
        if url and (key := KEY.search(line)):
            Thread(target=lambda: [None for _ in output], daemon=True).start()
            return url[1], key[1]
    raise RuntimeError(f"`akhar serve` ended before it was ready: {''.join(written)}")
