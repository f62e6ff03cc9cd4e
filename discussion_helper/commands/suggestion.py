"""What there is to tell those who talk and chat with the default model: a better one may be running."""

from discussion_helper.settings import Settings

__all__ = ["suggestion"]

_DEFAULTS = Settings()


async def suggestion(settings: Settings) -> str:
    """A line about a language model server that runs on this machine, for those who use the default model."""
    import anyio

    if settings.llm != _DEFAULTS.llm:
        return ""
    # An HTTP client takes a while to import; meanwhile the talk goes on.
    await anyio.to_thread.run_sync(__import__, "discussion_helper.responder.discovery")
    from discussion_helper.responder.discovery import find_local_servers

    for server in await find_local_servers():
        return f"{server.name} with {server.models[0]} answers at {server.base_url}: use --llm {server.choices[0]}"
    return ""
