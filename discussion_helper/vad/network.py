"""A small network on onnxruntime, for a thread of the audio."""

from typing import Any

from discussion_helper.telemetry import no_telemetry

__all__ = ["small_network"]


def small_network(content: bytes) -> Any:
    """An inference session on one thread that never spins and prints nothing. Raises what onnxruntime raises."""
    no_telemetry()
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 4  # what goes wrong is raised; nothing is printed as well
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])
    vars(session).pop("_model_bytes", None)  # kept only for a change of providers: 8.7 MB of Smart Turn
    return session
