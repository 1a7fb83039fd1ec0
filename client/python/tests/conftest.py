"""The service that the tests ask: one for all, with a database of its own."""

import os
from collections.abc import Iterator

import pytest
import running_service


@pytest.fixture(scope="session")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[running_service.Service]:
    folder = tmp_path_factory.mktemp("service")
    folder.chmod(0o755)  # Postgres runs as another user if this one is root
    with running_service.served(
        running_service.program(), {**os.environ, "AKHAR_DATA_DIR": str(folder / "data")}
    ) as it:
        yield it
