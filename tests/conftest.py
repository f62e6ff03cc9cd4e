"""What every test shares."""

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def no_settings_file(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """What a developer has set for talks is not in force here."""
    monkeypatch.setenv("DISCUSSION_HELPER_CONFIG", str(tmp_path / "no-settings.toml"))


@pytest.fixture
def anyio_backend() -> str:
    """Async tests run on asyncio; the core's override this with both event loops."""
    return "asyncio"
