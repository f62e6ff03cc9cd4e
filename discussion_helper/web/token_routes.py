"""/token/rotate: a new token, told once to who asks for it."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.web.door import Door
from discussion_helper.web.encoding import Answer
from discussion_helper.web.origins import address_of
from discussion_helper.web.problems import Problem

__all__ = ["TokenRoutes"]


class TokenRoutes:
    """The handler, and its route."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self.routes = [Route("/token/rotate", self._rotate, methods=["POST"])]

    async def _rotate(self, request: Request) -> Response:
        """Who asked goes on with the cookie or the token of this answer; everybody else needs the new link."""
        if not self._door.keys.required:
            raise Problem(409, "This server asks for no token.", fix="Give create_app a token.")
        token = self._door.keys.rotate()
        self._door.audit.note("token_rotated", by="request", address=address_of(request))
        answer = Answer({"token": token, "link": f"/?token={token}"})
        self._door.give_cookie(request, answer)
        return answer
