"""/login: a form that takes the password, for browsers that have no link."""

from html import escape
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.routing import Route

from discussion_helper.web.door import LOGIN, Door
from discussion_helper.web.plain_page import plain_page

__all__ = ["LoginRoutes"]

_FORM = """{told}<form method="post" action="{action}">
<input name="username" value="owner" autocomplete="username" hidden>
<p><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus></p>
<p><button>Log in</button></p>
</form>"""


class LoginRoutes:
    """The handlers, and their routes; for a door with a password. Whoever is not let in reaches these alone."""

    def __init__(self, door: Door) -> None:
        self._door = door
        self.routes = [Route(LOGIN, self._show, methods=["GET"]), Route(LOGIN, self._take, methods=["POST"])]

    async def _show(self, _: Request) -> Response:
        return _form(200)

    async def _take(self, request: Request) -> Response:
        """A guess is counted before it is looked at: many at once are no more than the same number one by one."""
        assert self._door.password is not None
        shown = await _password_in(request)
        refused = self._door.guess(request, "password")
        if refused is not None:
            return refused
        if await self._door.password.is_right(shown):
            return self._door.let_in(request, "password")
        self._door.failed(request, "password")
        return _form(401, "That is not the password.")


async def _password_in(request: Request) -> str:
    """What the form holds; "" where it is none, or its sender is gone."""
    try:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=4)
    except (ValueError, ClientDisconnect):
        return ""
    return fields.get("password", [""])[0]


def _form(status: int, told: str = "") -> Response:
    line = f'<p role="alert">{escape(told)}</p>\n' if told else ""
    return plain_page("Log in", _FORM.format(told=line, action=LOGIN), status=status, has_form=True)
