"""`discussion-helper models`: see, fetch and check the models on this machine."""

import argparse
from collections.abc import Callable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from discussion_helper.errors import ModelError, SettingError
from discussion_helper.models import Manifest, Model, Observer, Progress, Store, load_manifest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

__all__ = ["add_parser"]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a command line. What it parses carries `run`, which returns the exit code."""
    parser = subparsers.add_parser("models", help="see, fetch and check the models on this machine")
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    _action(actions, "list", _list, "every model, and how it is kept here")
    pull = _action(actions, "pull", _pull, "fetch models; without a name, those that a first talk needs")
    pull.add_argument("names", nargs="*", metavar="NAME", help="a model's name")
    pull.add_argument("--all", action="store_true", help="fetch every model")
    verify = _action(actions, "verify", _verify, "check every byte; without a name, of all models that are here")
    verify.add_argument("names", nargs="*", metavar="NAME", help="a model's name")
    path = _action(actions, "path", _path, "print where a model is")
    path.add_argument("name", metavar="NAME", help="a model's name")


def _action(
    actions: "argparse._SubParsersAction[argparse.ArgumentParser]",
    name: str,
    run: Callable[[argparse.Namespace], int],
    text: str,
) -> argparse.ArgumentParser:
    parser = actions.add_parser(name, help=text, description=text[0].upper() + text[1:] + ".")
    parser.set_defaults(run=run)
    return parser


def _list(_: argparse.Namespace) -> int:
    from rich.console import Console
    from rich.table import Table

    store = Store()
    table = Table("name", "kind", "size", "licence", "state", "default", caption=f"kept in {store.path}")
    for model in load_manifest():
        mark = "yes" if model.default else ""
        table.add_row(model.name, model.kind, _amount(model.size), model.licence, store.state(model), mark)
    Console().print(table)
    return 0


def _pull(args: argparse.Namespace) -> int:
    from rich.console import Console

    from discussion_helper.models.hub import Hub

    store, models = Store(), _chosen(args, load_manifest())
    console = Console(stderr=True)
    with ExitStack() as stack:
        observer: Observer = stack.enter_context(_Bars(console)) if console.is_terminal else _Lines(console)
        hub = stack.enter_context(Hub())
        for model in models:
            store.pull(model, progress=observer, hub=hub)
    for model in models:
        console.print(f"{model.name} is ready in {store.folder(model)}", highlight=False, soft_wrap=True)
    return 0


def _chosen(args: argparse.Namespace, manifest: Manifest) -> list[Model]:
    if args.all and args.names:
        raise SettingError("--all and the names of models exclude each other.", fix="Give one of them.")
    if args.all:
        return list(manifest)
    return manifest.named(args.names) or manifest.defaults


def _verify(args: argparse.Namespace) -> int:
    store, manifest = Store(), load_manifest()
    models = manifest.named(args.names) or [model for model in manifest if store.state(model) != "missing"]
    if not models:
        print(f"There are no models in {store.path}")
    wrong: list[ModelError] = []
    for model in models:
        try:
            store.verify(model)
        except ModelError as error:
            wrong.append(error)
        else:
            print(f"{model.name}: every byte is right ({_amount(model.size)})")
    if wrong:
        raise wrong[0]
    return 0


def _path(args: argparse.Namespace) -> int:
    print(Store().path_of(load_manifest().model(args.name)))
    return 0


class _Lines:
    """Progress for a log: one line a file, and one for every source that was given up."""

    def __init__(self, console: "Console") -> None:
        self._console = console

    def __call__(self, step: Progress) -> None:
        if text := _line(step):
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)


class _Bars:
    """Progress for a terminal: one bar for each file or package on its way."""

    def __init__(self, console: "Console") -> None:
        from rich import progress
        from rich.table import Column

        self._bars: Bars = progress.Progress(
            progress.TextColumn("{task.description}", table_column=Column(no_wrap=True)),
            progress.BarColumn(bar_width=20),
            progress.DownloadColumn(table_column=Column(no_wrap=True)),
            progress.TimeRemainingColumn(compact=True),
            console=console,
            transient=True,
        )
        self._tasks: dict[tuple[str, str], TaskID] = {}

    def __enter__(self) -> "_Bars":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, step: Progress) -> None:
        if step.kind == "bytes":
            self._advance(step)
        elif text := _line(step):
            self._bars.console.print(text, highlight=False, markup=False)

    def _advance(self, step: Progress) -> None:
        key = (step.model, step.item)
        if key not in self._tasks:
            self._tasks[key] = self._bars.add_task(f"{step.model}  {step.item}", total=step.total)
        going = step.done < step.total
        self._bars.update(self._tasks[key], completed=step.done, total=step.total, visible=going)


def _line(step: Progress) -> str:
    match step.kind:
        case "ready":
            return f"{step.model}: {step.item}, {_amount(step.total)}, from {step.source}"
        case "gave_up":
            return f"{step.model}: {step.source} gave up: {step.reason}"
        case "waiting":
            return f"{step.model}: waiting for another process that is pulling it"
        case "bytes":
            return ""


def _amount(size: int) -> str:
    from rich.filesize import decimal

    return decimal(size)
