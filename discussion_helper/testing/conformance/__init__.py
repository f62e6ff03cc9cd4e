"""Whether a part is what its port says: one suite for each port, with named rules. Needs no test framework.

    await check_synthesiser(lambda: MyVoice("voice.bin"))

raises NotConforming, an AssertionError that says which rules are broken, what was seen and what to do, and returns the
report otherwise. It runs on any event loop; a VirtualTimeLoop makes parts that wait for timers alone quick.
"""

from discussion_helper.testing.conformance.detector import DETECTOR_RULES, check_detector
from discussion_helper.testing.conformance.limits import Limits
from discussion_helper.testing.conformance.listener import LISTENER_RULES, check_listener
from discussion_helper.testing.conformance.recogniser import RECOGNISER_RULES, check_recogniser
from discussion_helper.testing.conformance.report import Finding, NotConforming, Report
from discussion_helper.testing.conformance.responder import RESPONDER_RULES, check_responder
from discussion_helper.testing.conformance.rule import Rule
from discussion_helper.testing.conformance.synthesiser import SYNTHESISER_RULES, check_synthesiser
from discussion_helper.testing.conformance.voice import VOICE_RULES, check_voice

__all__ = [
    "DETECTOR_RULES",
    "LISTENER_RULES",
    "RECOGNISER_RULES",
    "RESPONDER_RULES",
    "SYNTHESISER_RULES",
    "VOICE_RULES",
    "Finding",
    "Limits",
    "NotConforming",
    "Report",
    "Rule",
    "check_detector",
    "check_listener",
    "check_recogniser",
    "check_responder",
    "check_synthesiser",
    "check_voice",
]
