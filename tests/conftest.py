"""What every test shares."""

import pytest


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio; the core's override this with both event loops."""
    return "asyncio"
