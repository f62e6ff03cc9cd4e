"""What `discussion_helper.text.providers` gives, and what it loads for it."""

import subprocess
import sys

import pytest

from discussion_helper.text import providers


def test_all_that_a_program_needs_can_be_imported_from_there() -> None:
    assert {"EmbeddedProvider", "EndpointProvider", "CHATML_TOOLS", "ToolChoice", "Temperature"} <= set(
        providers.__all__
    )
    for name in providers.__all__:
        assert getattr(providers, name) is not None
    with pytest.raises(AttributeError, match="Nothing"):
        providers.Nothing  # type: ignore[attr-defined]  # noqa: B018


def test_one_provider_loads_no_other() -> None:
    look = "from discussion_helper.text.providers import ToolChoice; import sys; print([m for m in sys.modules if m in"
    modules = "('discussion_helper.text.providers.embedded', 'openai', 'xllamacpp')])"
    done = subprocess.run([sys.executable, "-c", f"{look} {modules}"], capture_output=True, text=True, check=True)

    assert "[]" == done.stdout.strip()
