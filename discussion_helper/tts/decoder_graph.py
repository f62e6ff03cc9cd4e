"""The second half of a voice's network, which makes sound of frames, as a network of its own."""

import mmap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from discussion_helper.tts.protobuf import Buffer, Span, fields, message

__all__ = ["DecoderGraph", "decoder_of"]

# Field numbers of onnx.proto.
_GRAPH, _OPSETS = 7, 8
_NODE, _WEIGHTS, _INPUT, _OUTPUT = 1, 5, 11, 12
_NODE_INPUT, _NODE_OUTPUT, _NODE_NAME, _NODE_OPERATOR = 1, 2, 3, 4
_WEIGHTS_NAME, _VALUE_NAME, _VALUE_TYPE = 8, 1, 2
_IR_VERSION = b"\x08\x08"
"""Of ONNX 1.13: what has opsets up to 18. Piper's voices have 15."""
_FLOATS = message(1, b"\x08\x01")
"""The type of a tensor of them, in any shape."""
_DECODER = b"/dec/"
"""What Piper's exports name its nodes with: the module `dec` of VITS."""


@dataclass(frozen=True, slots=True)
class DecoderGraph:
    """A network from the frames to the audio, and the name of the frames in both networks."""

    frames: str
    network: bytes


@dataclass(frozen=True, slots=True)
class _Node:
    place: Span
    inputs: tuple[bytes, ...]
    outputs: tuple[bytes, ...]
    decodes: bool
    constant: bool


def decoder_of(file: Path) -> DecoderGraph | None:
    """The decoder of the voice in `file`; None where the network cannot be parted there. Raises OSError.

    It can where the decoder takes one tensor from the rest: a voice of several speakers gives it theirs as well.
    """
    try:
        with file.open("rb") as opened, mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as model:
            return _parted(model)
    except (IndexError, ValueError):
        return None


def _parted(model: Buffer) -> DecoderGraph | None:
    (graph,) = fields(model, (0, len(model)), _GRAPH)
    nodes = [_node(model, place) for place in fields(model, graph, _NODE)]
    makers = {name: node for node in nodes for name in node.outputs}
    (audio,) = (model[slice(*name)] for value in fields(model, graph, _OUTPUT) for name in fields(model, value, 1))
    given = {name for node in nodes if node.decodes for name in node.inputs if _is_given(makers.get(name))}
    if len(given) != 1:
        return None
    (frames,) = given
    needed = _needed(audio, frames, makers)
    kept = [node for node in nodes if node.place in needed]
    network = b"".join((*_model_head(model), message(_GRAPH, _graph(model, graph, kept, frames))))
    return DecoderGraph(frames.decode(), network)


def _node(model: Buffer, place: Span) -> _Node:
    def texts(field: int) -> tuple[bytes, ...]:
        return tuple(model[slice(*text)] for text in fields(model, place, field))

    name, operator = b"".join(texts(_NODE_NAME)), b"".join(texts(_NODE_OPERATOR))  # either may be left out
    return _Node(
        place,
        texts(_NODE_INPUT),
        texts(_NODE_OUTPUT),
        decodes=name.startswith(_DECODER),
        constant=operator == b"Constant",
    )


def _is_given(maker: _Node | None) -> bool:
    """By a node that computes, and is not the decoder's."""
    return maker is not None and not maker.decodes and not maker.constant


def _needed(name: bytes, frames: bytes, makers: dict[bytes, _Node]) -> set[Span]:
    """The nodes that make the tensor `name` of the frames."""
    found, open_ = set[Span](), [name]
    while open_:
        maker = makers.get(open_.pop())
        if maker is not None and maker.place not in found and frames not in maker.outputs:
            found.add(maker.place)
            open_ += maker.inputs
    return found


def _model_head(model: Buffer) -> Iterator[bytes]:
    yield _IR_VERSION
    for opsets in fields(model, (0, len(model)), _OPSETS):
        yield message(_OPSETS, model[slice(*opsets)])


def _graph(model: Buffer, graph: Span, kept: list[_Node], frames: bytes) -> bytes:
    used = {name for node in kept for name in node.inputs}
    weights = (place for place in fields(model, graph, _WEIGHTS) if used & set(_names(model, place)))
    value = message(_VALUE_NAME, frames) + message(_VALUE_TYPE, _FLOATS)
    return b"".join(
        (
            *(message(_NODE, model[slice(*node.place)]) for node in kept),
            message(2, b"decoder"),
            *(message(_WEIGHTS, model[slice(*place)]) for place in weights),
            message(_INPUT, value),
            *(message(_OUTPUT, model[slice(*place)]) for place in fields(model, graph, _OUTPUT)),
        )
    )


def _names(model: Buffer, weights: Span) -> Iterator[bytes]:
    return (model[slice(*name)] for name in fields(model, weights, _WEIGHTS_NAME))
