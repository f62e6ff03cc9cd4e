"""/threads: what is stored."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.text.errors import ThreadNotFoundError
from discussion_helper.text.threads.base import checked_id
from discussion_helper.text.threads.document import document_of, entries_of
from discussion_helper.web.encoding import Answer
from discussion_helper.web.opening import Opener

__all__ = ["ThreadRoutes"]


class ThreadRoutes:
    """Handlers, and their routes."""

    def __init__(self, opener: Opener) -> None:
        self._opener = opener
        self.routes = [
            Route("/threads", self._list, methods=["GET"]),
            Route("/threads/{thread_id}", self._show, methods=["GET"]),
            Route("/threads/{thread_id}", self._delete, methods=["DELETE"]),
        ]

    async def _list(self, _: Request) -> Response:
        return Answer(await entries_of(self._opener.manager.store))

    async def _show(self, request: Request) -> Response:
        thread = await self._opener.manager.store.get(checked_id(request.path_params["thread_id"]))
        return Answer(document_of(thread))

    async def _delete(self, request: Request) -> Response:
        thread_id = checked_id(request.path_params["thread_id"])
        store = self._opener.manager.store
        with self._opener.writers.deleting(thread_id):
            if not await store.delete(thread_id):
                raise ThreadNotFoundError(thread_id)
        return Response(status_code=204)
