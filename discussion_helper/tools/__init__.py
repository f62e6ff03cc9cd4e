"""Tools: functions that a model may call, in speech and in text."""

from discussion_helper.tools.tool import Tool, tool
from discussion_helper.tools.toolbox import Toolbox

__all__ = ["Tool", "Toolbox", "tool"]
