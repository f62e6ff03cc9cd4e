"""/login: a form that takes the password, for browsers that have no link."""

from collections.abc import Mapping
from html import escape
from urllib.parse import parse_qs

from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from discussion_helper.web.door import LOGIN, Door

__all__ = ["FORM_HEADERS", "LoginRoutes"]

FORM_HEADERS: Mapping[str, str] = {
    "Content-Security-Policy": (
        "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; sandbox allow-forms "
        "allow-same-origin"
    ),
    "Referrer-Policy": "same-origin",
}
"""No script and no style. With the policy "no-referrer" browsers would send the form with `Origin: null`."""
_FORM = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>Log in</title>
<main>
<h1>Log in</h1>
{told}<form method="post" action="{action}">
<p><label for="password">Password</label></p>
<p><input id="password" name="password" type="password" autocomplete="current-password" required autofocus></p>
<p><button>Log in</button></p>
</form>
</main>
</html>
"""


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
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=4)
        shown = fields.get("password", [""])[0]
        refused = self._door.guess(request)
        if refused is not None:
            return refused
        if await self._door.password.is_right(shown):
            return self._door.let_in(request, "password")
        self._door.failed(request, "password")
        return _form(401, "That is not the password.")


def _form(status: int, told: str = "") -> Response:
    line = f'<p role="alert">{escape(told)}</p>\n' if told else ""
    return HTMLResponse(_FORM.format(told=line, action=LOGIN), status_code=status, headers=FORM_HEADERS)
