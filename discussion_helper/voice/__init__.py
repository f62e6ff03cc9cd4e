"""Spoken sessions: the microphone as a listener, the loudspeaker as a voice."""

__all__: list[str] = []
