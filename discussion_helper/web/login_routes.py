"""/login: a form that takes the password, for browsers that have no link."""

import hashlib
from base64 import b64encode
from html import escape
from urllib.parse import parse_qs

from starlette.requests import ClientDisconnect, Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Route

from discussion_helper.web.door import LOGIN, Door

__all__ = ["LoginRoutes", "form_headers"]

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 22rem; margin: 15vh auto 0; padding: 0 1.25rem; }
label { display: block; }
input, button { box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: 0 0.75rem; font: inherit; }
[role="alert"] { padding-left: 0.75rem; border-left: 0.25rem solid #c62f26; }
"""
_FORM = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>Log in</title>
<style>{style}</style>
<main>
<h1>Log in</h1>
{told}<form method="post" action="{action}">
<input name="username" value="owner" autocomplete="username" hidden>
<p><label for="password">Password</label>
<input id="password" name="password" type="password" autocomplete="current-password" required autofocus></p>
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
        shown = await _password_in(request)
        refused = self._door.guess(request, "password")
        if refused is not None:
            return refused
        if await self._door.password.is_right(shown):
            return self._door.let_in(request, "password")
        self._door.failed(request, "password")
        return _form(401, "That is not the password.")


def form_headers() -> dict[str, str]:
    """No script, and one style. With the policy "no-referrer" browsers would send the form with `Origin: null`."""
    style = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    )
    return {"Content-Security-Policy": policy, "Referrer-Policy": "same-origin"}


async def _password_in(request: Request) -> str:
    """What the form holds; "" where it is none, or its sender is gone."""
    try:
        fields = parse_qs((await request.body()).decode("utf-8", "replace"), max_num_fields=4)
    except (ValueError, ClientDisconnect):
        return ""
    return fields.get("password", [""])[0]


def _form(status: int, told: str = "") -> Response:
    line = f'<p role="alert">{escape(told)}</p>\n' if told else ""
    page = _FORM.format(style=_STYLE, told=line, action=LOGIN)
    return HTMLResponse(page, status_code=status, headers=form_headers())
