"""The Piper synthesiser keeps every rule of its port."""

import shutil
from pathlib import Path

import pytest

from discussion_helper.models import Store, load_manifest
from discussion_helper.testing.conformance import Limits, check_synthesiser
from discussion_helper.tts.piper import PiperSynthesiser


@pytest.mark.anyio
@pytest.mark.models
@pytest.mark.slow
@pytest.mark.timeout(300)  # half a minute on a busy machine
async def test_the_real_voice_conforms(tmp_path: Path) -> None:
    path = Store().path_of(load_manifest().model("joe-medium"))
    damaged = tmp_path / "joe"
    shutil.copytree(path, damaged)
    next(damaged.glob("*.onnx")).write_bytes(b"no network")

    report = await check_synthesiser(
        lambda: PiperSynthesiser(path),
        make_dead=lambda: PiperSynthesiser(damaged),
        limits=Limits(patience_s=1.0, let_go_s=2.0, close_s=2.0, blocked_s=1.0, call_s=60.0),
    )

    assert ["synthesiser.slow-can-be-left"] == [finding.rule.name for finding in report.unchecked]
