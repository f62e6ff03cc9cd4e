"""A page for who is not let in, or not now: words, perhaps a form, one style and no script."""

import hashlib
from base64 import b64encode
from collections.abc import Mapping
from html import escape

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection
from starlette.responses import HTMLResponse, Response

from discussion_helper.web.problems import answer_of

__all__ = ["closed_page", "plain_page", "refusal_of", "shows_pages"]

_STYLE = """
:root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif; }
main { max-width: 22rem; margin: 15vh auto 0; padding: 0 1.25rem; }
label { display: block; }
input, button { box-sizing: border-box; width: 100%; min-height: 2.75rem; padding: 0 0.75rem; font: inherit; }
[role="alert"] { padding-left: 0.75rem; border-left: 0.25rem solid #c62f26; }
"""
_PAGE = """<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>{title}</title>
<style>{style}</style>
<main>
<h1>{title}</h1>
{content}
</main>
</html>
"""
_CLOSED = """<p>Open the newest link that the server printed, where it was started. It lets this browser in.</p>
<p>An older link is worth nothing any more once there is a new one. Whoever runs the server has it print a new one with
<code>kill -USR1 PID</code>, or by starting it again.</p>"""


def shows_pages(headers: Headers) -> bool:
    """Whether who asks, a browser as a rule, takes pages: its scripts and programs do not."""
    return "text/html" in ",".join(headers.getlist("accept")).lower()


def plain_page(
    title: str, content: str, *, status: int, has_form: bool = False, headers: Mapping[str, str] | None = None
) -> Response:
    """`content` is HTML, and stands as it is.

    With the policy "no-referrer" browsers would send a form with `Origin: null`.
    """
    referrer = {"Referrer-Policy": "same-origin"} if has_form else {}
    page = _PAGE.format(title=title, style=_STYLE, content=content)
    return HTMLResponse(page, status, {"Content-Security-Policy": _policy(has_form), **referrer, **(headers or {})})


def closed_page(headers: Mapping[str, str]) -> Response:
    """For a browser without the cookie, where there is no password that it could be asked for."""
    return plain_page("This browser is not let in", _CLOSED, status=401, headers=headers)


def refusal_of(
    asked: HTTPConnection, status: int, what: str, fix: str, headers: Mapping[str, str] | None = None
) -> Response:
    """What is wrong and what helps: a page where a browser shows one, otherwise the JSON of every error."""
    if not shows_pages(asked.headers):
        return answer_of(status, what, fix, headers)
    content = f'<p role="alert">{escape(what)}</p>\n<p>{escape(fix)}</p>'
    return plain_page("The server refuses this", content, status=status, headers=headers)


def _policy(has_form: bool) -> str:
    style = b64encode(hashlib.sha256(_STYLE.encode()).digest()).decode()
    action = "'self'" if has_form else "'none'"
    return (
        f"default-src 'none'; style-src 'sha256-{style}'; base-uri 'none'; form-action {action}; frame-ancestors 'none'"
    )
