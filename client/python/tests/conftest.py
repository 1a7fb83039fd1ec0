"""The service that the tests ask: one for all, with a database of its own."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import running_service


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    folder: Path = tmp_path_factory.mktemp("service")
    folder.chmod(0o755)  # Postgres runs as another user if this one is root
    return {**os.environ, "AKHAR_DATA_DIR": str(folder / "data")}


@pytest.fixture(scope="session")
def service(environment: dict[str, str]) -> Iterator[running_service.Service]:
    with running_service.served(running_service.program(), environment) as it:
        yield it


@pytest.fixture
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses of the clients, which take no time."""
    made: list[float] = []

    async def slept(seconds: float) -> None:
        made.append(seconds)

    monkeypatch.setattr("akhar_client.client.time.sleep", made.append)
    monkeypatch.setattr("akhar_client.async_client.asyncio.sleep", slept)
    return made
