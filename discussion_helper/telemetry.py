"""What a library would tell its maker about its use, which it is kept from."""

import os

__all__ = ["no_telemetry"]


def no_telemetry() -> None:
    """Before onnxruntime is loaded; what the user has set stays.

    From 1.29 on its wheels for Linux and macOS report each session and model to mobile.events.data.microsoft.com, and
    keep an identifier of the machine in ~/.cache/Microsoft, unless this variable is set by then (its pull request
    27379). Seen with 1.32 (strace): during a talk two threads look that name up; with the variable none does, and
    there is no such file. On Windows the system collects such events: `onnxruntime.disable_telemetry_events` there.
    """
    os.environ.setdefault("ORT_DISABLE_TELEMETRY", "1")
