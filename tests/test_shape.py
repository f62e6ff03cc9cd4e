"""The shape of the package: imports point down, adapters are leaves, `__all__` is complete, imports do no work."""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
NAME = "discussion_helper"
LONGEST = 350
LONG: Mapping[str, str] = {}  # file -> why it is longer than LONGEST lines

LAYERS = (  # from the bottom; a module imports from its own layer and those below
    (
        *(
            "errors",
            "bounds",
            "failures",
            "lazy",
            "clock",
            "waiters",
            "event_loop",
            "telemetry",
            "policy",
            "repeats",
            "revision",
            "types",
            "title",
            "settings",
        ),
        *("config_file", "config_keys", "regular_file", "shown", "tool_use", "tuning"),
    ),
    ("models",),
    (
        *("event", "events", "overflow", "subscription", "watchers", "background", "closing", "generation"),
        *("backlog", "following", "weight"),
        *("iteration", "onset", "parts", "going_on", "governor", "readying", "storing", "turns"),
    ),
    (
        "record",
        "reply",
        "replies",
        "delivery",
        "anticipation",
        "speculation",
        "taking_back",
        "not_understood",
        "present",
        "beginning",
        "discussion",
        "session",
        "registry",
        "taps",
    ),
    ("tools",),
    ("audio",),
    ("vad", "turn", "stt", "tts", "responder"),
    ("voice", "text"),
    ("listening", "recorder", "tracing"),
    ("testing",),
    ("gateway", "interaction", "store"),
    ("client", "mcp", "web", "platforms"),
    ("app", "choices", "text_app"),
    ("doctor",),
    ("commands", "bench", "command_line", "cli", "__main__", ""),
)
RANK = {folder: rank for rank, layer in enumerate(LAYERS) for folder in layer}
STAGES = LAYERS[6]
COMPOSERS = (
    "app",
    "bench",
    "choices",
    "commands",
    "doctor",
    "listening",
    "text_app",
)  # they choose the adapters
SHARED = (  # not adapters: parts of stages that others stand on
    *("responder.clauses", "responder.completion", "responder.embedded_model", "responder.endpoint_client"),
    *("responder.llama", "responder.patience", "responder.reasoning"),
    *("stt.mel", "tts.heard", "turn.activity", "turn.endpointing", "turn.turns"),
    *("turn.completeness", "turn.evidence", "turn.pauses", "turn.policy_endpointer", "turn.prosody"),
    *("turn.attention", "turn.gate", "turn.push_to_talk", "turn.wake", "vad.network"),
)
LEAF = ("errors", "regular_file", "settings", "models")  # all that `models` may import
TESTERS = ("testing", "commands", "bench", "web")  # who may import `testing`
VAGUE = {"common", "helper", "helpers", "misc", "util", "utils"}
HEAVY = (
    *("ctranslate2", "faster_whisper", "mcp", "onnxruntime", "openai"),
    *("piper", "pydantic", "sounddevice", "xllamacpp"),
)
MUTABLE = {"list", "dict", "set", "bytearray", "deque", "defaultdict", "Counter", "OrderedDict", "WeakSet", "Lock"}
CHANGES = {"add", "append", "clear", "discard", "extend", "insert", "pop", "remove", "setdefault", "sort", "update"}


class Module(NamedTuple):
    """One file: its dotted name inside the package ("" is the package itself), and what is in it."""

    name: str
    lines: int
    body: ast.Module

    @property
    def folder(self) -> str:
        return self.name.partition(".")[0]


Tree = dict[str, Module]


def parsed(sources: Mapping[str, str]) -> Tree:
    return {name: Module(name, text.count("\n"), ast.parse(text)) for name, text in sources.items()}


@cache
def package() -> Tree:
    files = {file.relative_to(ROOT / NAME).with_suffix(""): file for file in (ROOT / NAME).rglob("*.py")}
    texts = {".".join(path.parts).removesuffix("__init__").rstrip("."): file for path, file in files.items()}
    return parsed({name: file.read_text(encoding="utf-8") for name, file in texts.items()})


def at_import(body: list[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when the module is imported."""
    for node in body:
        if isinstance(node, ast.If) and re.search(r"TYPE_CHECKING|__main__", ast.unparse(node.test)):
            continue
        yield node
        if isinstance(node, ast.If | ast.Try | ast.With | ast.ClassDef):
            yield from at_import([*node.body, *getattr(node, "orelse", []), *getattr(node, "finalbody", [])])
            yield from at_import([line for handler in getattr(node, "handlers", []) for line in handler.body])


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [f"{'.' * node.level}{node.module or ''}.{alias.name}" for alias in node.names]
    return []


def ours(nodes: Iterator[ast.stmt] | Iterator[ast.AST], tree: Tree) -> Iterator[str]:
    """The package's modules that `nodes` import."""
    for name in (name for node in nodes for name in imported(node)):
        if name.startswith("."):
            yield name  # relative: in no layer, so refused
        elif name == NAME or name.startswith(f"{NAME}."):
            inner = name.removeprefix(NAME).lstrip(".")
            yield inner if inner in tree else inner.rpartition(".")[0]


def edges(tree: Tree) -> Iterator[tuple[Module, str]]:
    return ((module, target) for module in tree.values() for target in set(ours(ast.walk(module.body), tree)))


def layering(tree: Tree) -> list[str]:
    """Imports point down."""
    found = [f"{name} is in no layer" for name, module in tree.items() if module.folder not in RANK]
    for module, target in edges(tree):
        below = RANK.get(target.partition(".")[0], len(LAYERS)) <= RANK.get(module.folder, -1)
        if not below or (module.folder == "models" and target.partition(".")[0] not in LEAF):
            found.append(f"{module.name} imports {target or NAME}, which is not below it")
    return found


def cycles(tree: Tree) -> list[str]:
    """No module needs itself to be imported."""
    graph = {name: set(ours(at_import(module.body.body), tree)) for name, module in tree.items()}
    try:
        graphlib.TopologicalSorter(graph).prepare()
    except graphlib.CycleError as error:
        return [" -> ".join(error.args[1])]
    return []


def adapters(tree: Tree) -> list[str]:
    """A stage shows its port and what is SHARED; its adapters are chosen by the COMPOSERS. Fakes are for tests."""
    found = []
    for module, target in edges(tree):
        folder, _, file = target.partition(".")
        if module.folder == folder:
            continue
        if folder in STAGES and file not in ("", "base") and target not in SHARED and module.folder not in COMPOSERS:
            found.append(f"{module.name} imports the adapter {target}")
        if folder == "testing" and module.folder not in TESTERS:
            found.append(f"{module.name} imports {target}")
    return found


def assigned(node: ast.AST) -> list[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        return [node.name]
    targets = node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
    value = getattr(node, "value", None)
    if isinstance(value, ast.Call) and ast.unparse(value.func) in ("TypeVar", "ParamSpec", "TypeVarTuple"):
        return []
    return [name.id for target in targets for name in ast.walk(target) if isinstance(name, ast.Name)]


def rank_of(name: str) -> tuple[int, str]:
    """The order of isort, which ruff keeps too: constants, classes, the rest."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2, name)


def exports(tree: Tree) -> list[str]:
    """`__all__` is there, sorted, and holds every public name that the module makes, and no other."""
    found = []
    for name, module in tree.items():
        made = {name for node in module.body.body for name in assigned(node)}
        lazy = [line for node in module.body.body if isinstance(node, ast.If) for line in node.body]
        imports = [*module.body.body, *lazy]
        brought = {alias.asname or alias.name for node in imports for alias in getattr(node, "names", [])}
        lists = [node for node in module.body.body if "__all__" in assigned(node)]
        listed: list[str] = ast.literal_eval(lists[0].value) if lists else []  # type: ignore[attr-defined]
        public = {name for name in made if not name.startswith("_") and name != "TYPE_CHECKING"}
        lost = public - set(listed) | set(listed) - (made | brought | {n.rpartition(".")[2] for n in tree})
        if not lists or lost or listed != sorted(set(listed), key=rank_of):
            found.append(f"{name or NAME}: __all__ is missing, unsorted, or wrong about {sorted(lost)}")
    return found


def globals_(tree: Tree) -> list[str]:
    """No hidden state: at module level only constants, and no statement that does something."""
    tables = set()
    found = []
    for name, module in tree.items():
        found += [f"{name}: global" for node in ast.walk(module.body) if isinstance(node, ast.Global)]
        for node in at_import(module.body.body):
            call = isinstance(node, ast.Expr) and not isinstance(node.value, ast.Constant)
            if call or isinstance(node, ast.For | ast.While | ast.With | ast.AugAssign | ast.Delete):
                found.append(f"{name}, line {node.lineno}: work at import")
        for node in module.body.body:
            value, names = getattr(node, "value", None), [name for name in assigned(node) if name != "__all__"]
            literal = isinstance(value, ast.List | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp)
            made = isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in MUTABLE
            found += [f"{name}: {state} can change" for state in names if made or (literal and not state.isupper())]
            tables |= {state for state in names if literal}
    for name, module in tree.items():
        found += [f"{name} changes {table}" for node in ast.walk(module.body) for table in changed(node) & tables]
    return found


def changed(node: ast.AST) -> set[str]:
    """The names whose value this expression changes in place."""
    if isinstance(node, ast.Subscript) and not isinstance(node.ctx, ast.Load):
        return {ast.unparse(node.value)}
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in CHANGES:
        return {ast.unparse(node.func.value)}
    return set()


def heavy(tree: Tree) -> list[str]:
    """What takes long to import, or opens something, is imported where it is used."""
    pairs = [(name, used) for name, m in tree.items() for node in at_import(m.body.body) for used in imported(node)]
    return [f"{name} imports {used} when it is imported" for name, used in pairs if used.partition(".")[0] in HEAVY]


def manners(tree: Tree) -> list[str]:
    """Every module says what it is, is named for it, and fits in LONGEST lines or says why not."""
    found = [f"{name or NAME} has no docstring" for name, m in tree.items() if not ast.get_docstring(m.body)]
    found += [f"{name} says nothing" for name in tree if VAGUE & set(re.split(r"[._]", name))]
    found += [f"{m.name} has {m.lines} lines" for m in tree.values() if m.lines > LONGEST and m.name not in LONG]
    return found + [f"{n} is short: drop its reason" for n in LONG if n in tree and tree[n].lines <= LONGEST]


CHECKS = (layering, cycles, adapters, exports, globals_, heavy, manners)


@pytest.mark.parametrize("check", CHECKS)
def test_the_package_keeps_its_shape(check: Callable[[Tree], list[str]]) -> None:
    assert "\n".join(check(package())) == ""


GOOD = (
    '"""A thing."""\n\nimport time\n\n__all__ = ["Thing"]\n\n_SIZES = {"a": 1}\n\n\n'
    'class Thing:\n    """It."""\n\n    def f(self):\n        print(time.time(), _SIZES["a"])\n'
)
CASES = (
    (layering, {"audio.x": "from discussion_helper.voice.y import Y", "voice.y": ""}, "audio.x imports voice.y"),
    (layering, {"audio.x": "def f():\n    import discussion_helper.app", "app": ""}, "audio.x imports app"),
    (layering, {"audio.x": "from discussion_helper import Session", "": ""}, "audio.x imports discussion_helper"),
    (layering, {"audio.x": "from . import frames"}, "audio.x imports ."),
    (layering, {"models.x": "from discussion_helper.types import Message", "types": ""}, "models.x imports types"),
    (layering, {"unheard": ""}, "unheard is in no layer"),
    (cycles, {n: f"from {NAME}.audio import {o}" for n, o in (("audio.x", "y"), ("audio.y", "x"))}, "audio.x -> "),
    (adapters, {"voice.x": "import discussion_helper.stt.whisper", "stt.whisper": ""}, "the adapter stt.whisper"),
    (adapters, {"tts.x": "from discussion_helper.stt.whisper import W", "stt.whisper": ""}, "tts.x imports the"),
    (adapters, {"voice.x": "from discussion_helper.testing import fakes", "testing.fakes": ""}, "voice.x imports"),
    (exports, {"x": "def f(): ..."}, "missing, unsorted, or wrong about ['f']"),
    (exports, {"x": "__all__ = ['f']\ndef f(): ...\nclass G: ..."}, "wrong about ['G']"),
    (exports, {"x": "__all__ = ['A', 'gone']\nA: int = 1"}, "wrong about ['gone']"),
    (exports, {"x": "__all__ = ['f', 'G']\ndef f(): ...\nclass G: ..."}, "unsorted"),
    (globals_, {"x": "seen = []"}, "x: seen can change"),
    (globals_, {"x": "import collections\nSEEN = collections.deque()"}, "x: SEEN can change"),
    (globals_, {"x": "SEEN = {}\ndef f(): SEEN['a'] = 1"}, "x changes SEEN"),
    (globals_, {"x": "SEEN = {}", "y": "from x import SEEN\nSEEN.update(a=1)"}, "y changes SEEN"),
    (globals_, {"x": "n = 0\ndef f():\n    global n\n    n = 1"}, "x: global"),
    (globals_, {"x": "if True:\n    print(1)"}, "x, line 2: work at import"),
    (heavy, {"x": "try:\n    import sounddevice as sd\nexcept OSError:\n    sd = None"}, "x imports sounddevice"),
    (heavy, {"x": "class A:\n    from piper.voice import B"}, "x imports piper.voice.B"),
    (manners, {"x": "A = 1"}, "x has no docstring"),
    (manners, {"audio.wav_utils": '"""Utils."""'}, "audio.wav_utils says nothing"),
    (manners, {"x": '"""Long."""\n' + "\n" * LONGEST}, f"x has {LONGEST + 1} lines"),
)


@pytest.mark.parametrize(("check", "sources", "says"), CASES)
def test_a_check_sees_what_is_wrong(check: Callable[[Tree], list[str]], sources: dict[str, str], says: str) -> None:
    assert any(says in line for line in check(parsed(sources)))


@pytest.mark.parametrize("check", CHECKS)
def test_a_check_accepts_what_is_right(check: Callable[[Tree], list[str]]) -> None:
    lazy = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    import piper\ndef f():\n    import piper\n"
    lazy = f'"""Another."""\n{lazy}__all__ = ["f"]\n'
    base = f'"""A port."""\nfrom {NAME}.audio.x import Thing\n__all__: list[str] = []\n'
    sources = {"": GOOD, "audio": GOOD, "audio.x": GOOD, "stt.base": base, "stt.lazy": lazy}
    app = f'"""Chooses."""\nfrom {NAME}.stt import lazy\n__all__: list[str] = []\n'
    assert check(parsed(sources | {"stt": GOOD, "app": app})) == []


def test_importing_every_module_loads_nothing_heavy_and_starts_no_thread() -> None:
    script = (
        f"import importlib, pkgutil, sys, threading, {NAME}\n"
        f"for found in pkgutil.walk_packages({NAME}.__path__, '{NAME}.'):\n"
        "    found.name.endswith('__main__') or importlib.import_module(found.name)\n"
        f"print(sorted(set({HEAVY}) & set(sys.modules)), threading.active_count(), '{NAME}.stt.base' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert done.stderr == ""
    assert done.stdout.strip() == "[] 1 True"


def test_importing_the_package_loads_nothing_but_its_names() -> None:
    """The command line passes through it, and is to take Ctrl-C at once: 2 ms, and no library."""
    script = f"import sys; old = set(sys.modules); import {NAME}; print(sorted(set(sys.modules) - old))"
    done = subprocess.run([sys.executable, "-W", "error", "-c", script], cwd=ROOT, capture_output=True, text=True)
    assert (f"['{NAME}', '{NAME}.lazy']\n", "") == (done.stdout, done.stderr)
