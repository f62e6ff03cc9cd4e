"""Public fakes and the virtual clock, for tests of what is built on the package."""

from discussion_helper.testing.fakes import EchoResponder, ScriptedListener, SilentVoice
from discussion_helper.testing.virtual_clock import VirtualTimeLoop

__all__ = ["EchoResponder", "ScriptedListener", "SilentVoice", "VirtualTimeLoop"]
