"""Errors.

    DiscussionError                   something happened to you; says what, and the fix
    ├── SettingError                  a value given from outside is wrong (also a ValueError)
    ├── AudioFileError                a file is missing, empty, corrupt, too long or not audio
    ├── DeviceError                   a microphone or loudspeaker cannot be opened or went away
    ├── ModelError                    a model's files
    │   ├── ModelMissing              not on this machine yet
    │   ├── ModelCorrupt              bytes differ from the manifest
    │   └── DownloadFailed            no source answered, or no space was left
    ├── RecogniserError               speech could not be turned into text
    ├── ResponderError                no reply could be made
    │   ├── EndpointRefused           the endpoint answered with an error (key, quota, 4xx, 5xx)
    │   ├── EndpointUnreachable       nobody answers there
    │   ├── EndpointStalled           it stopped answering, or broke off in mid-stream
    │   └── NothingToSay              the reply has no words
    └── SynthesisError                text could not be turned into speech

Using an object wrongly (starting twice, waiting before the start) is a plain RuntimeError.
"""

__all__ = [
    "AudioFileError",
    "DeviceError",
    "DiscussionError",
    "DownloadFailed",
    "EndpointRefused",
    "EndpointStalled",
    "EndpointUnreachable",
    "ModelCorrupt",
    "ModelError",
    "ModelMissing",
    "NothingToSay",
    "RecogniserError",
    "ResponderError",
    "SettingError",
    "SynthesisError",
]


class DiscussionError(Exception):
    """Base of every error that is not a programming mistake.

    `fix` is one imperative sentence for the person at the keyboard; "" when there is none.
    `str()` is one line: what happened, then the fix.
    """

    def __init__(self, what: str, *, fix: str = "") -> None:
        super().__init__(what, fix)
        self.what = what
        self.fix = fix

    def __str__(self) -> str:
        return f"{self.what} {self.fix}".rstrip()


class SettingError(DiscussionError, ValueError):
    """A setting is out of range or of the wrong kind; the text names the field."""


class AudioFileError(DiscussionError):
    """An audio file cannot be used; the text names the file."""


class DeviceError(DiscussionError):
    """An audio device cannot be opened, or went away while in use."""


class ModelError(DiscussionError):
    """Something is wrong with a model's files."""


class ModelMissing(ModelError):
    """The model has not been pulled to this machine."""


class ModelCorrupt(ModelError):
    """A model file's size or sha256 is not the manifest's."""


class DownloadFailed(ModelError):
    """No source could deliver the model; the text lists what was tried."""


class RecogniserError(DiscussionError):
    """The recogniser failed."""


class ResponderError(DiscussionError):
    """The responder failed."""


class NothingToSay(ResponderError):
    """The model has ended its reply without a word; a session goes on all the same."""


class EndpointRefused(ResponderError):
    """The endpoint answered with an error status, with a redirection, or with more than is read of one event."""


class EndpointUnreachable(ResponderError):
    """The endpoint's address cannot be reached."""


class EndpointStalled(ResponderError):
    """The endpoint stopped sending, closed the stream before the end, or gave no sign of life in time."""


class SynthesisError(DiscussionError):
    """The synthesiser failed."""
