"""What all tests of the transport share."""

import pytest

from tests.support.measured import measure_spawner


@pytest.fixture(scope="session", autouse=True)
def measured_spawner() -> None:
    """Let coverage see into the spawner."""
    measure_spawner()
