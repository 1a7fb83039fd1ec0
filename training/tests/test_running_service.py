"""A service that is started for a measurement and stopped again."""

import os
from pathlib import Path

import pytest
import running_service

READY = """#!/bin/sh
echo "$1 $AKHAR_LISTEN $AKHAR_DATA_DIR $PWD" >"$0.said"
echo $$ >"$0.pid"
trap 'echo ended >"$0.ended"; exit' TERM
echo "listening on http://127.0.0.1:4711"
echo "model loaded" >&2
echo "Akhar is ready. Demo key: ak_one"
while :; do echo more; done
"""


def program(path: Path, script: str) -> Path:
    path.write_text(script)
    path.chmod(0o755)
    return path


def test_a_service_is_ready_when_it_is_given_and_gone_afterwards(tmp_path: Path) -> None:
    akhar = program(tmp_path / "akhar", READY)
    with running_service.served(akhar, {**os.environ, "AKHAR_DATA_DIR": "data"}) as service:
        assert (service.url, service.key) == ("http://127.0.0.1:4711", "ak_one")
        command, listen, data, folder = (tmp_path / "akhar.said").read_text().split()
        assert (command, listen, data) == ("serve", "127.0.0.1:0", "data")
        assert Path(folder) == running_service.ROOT
    assert (tmp_path / "akhar.ended").exists()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "akhar.pid").read_text()), 0)


def test_a_service_that_ends_at_once_says_why(tmp_path: Path) -> None:
    akhar = program(tmp_path / "akhar", "#!/bin/sh\necho 'no Postgres' >&2\nexit 1\n")
    with (
        pytest.raises(RuntimeError, match=r"`akhar serve` ended before it was ready: no Postgres"),
        running_service.served(akhar, os.environ),
    ):
        pass
