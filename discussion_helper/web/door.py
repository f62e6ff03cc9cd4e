"""Who is let in, and how often somebody may knock."""

from starlette.requests import HTTPConnection
from starlette.responses import RedirectResponse, Response

from discussion_helper.web.audit import Audit
from discussion_helper.web.keys import Keys
from discussion_helper.web.limits import Limits, raised_by
from discussion_helper.web.origins import address_of, port_of
from discussion_helper.web.passwords import Password
from discussion_helper.web.plain_page import closed_page, refusal_of, shows_pages
from discussion_helper.web.problems import answer_of
from discussion_helper.web.rates import Rates
from discussion_helper.web.strangers import tell_known

__all__ = ["LOGIN", "STRANGERS", "Door", "cookie_name"]

LOGIN = "/login"
"""Where a password is taken, where there is one."""
STRANGERS = 0.1
"""How often somebody who is not let in may ask, as a part of how often the others may."""
_LINK_FIX = "Open the newest link that the server printed, or send `Authorization: Bearer TOKEN`."
_CHALLENGE = {"WWW-Authenticate": "Bearer"}


class Door:
    """Strangers have buckets of their own: on a machine of many users, none of them keeps its owner out."""

    def __init__(self, keys: Keys, password: Password | None, limits: Limits, audit: Audit) -> None:
        self.keys = keys
        self.password = password
        self.audit = audit
        rate, of_all = limits.rate, limits.rate_of_all
        self._known = Rates(rate, of_all, burst_s=limits.burst_s)
        self._strangers = Rates(rate * STRANGERS, of_all * STRANGERS, burst_s=limits.burst_s, shared=True)
        a_minute = limits.wrong_a_minute
        self._wrong = {
            by: Rates(a_minute / 60, a_minute / 6, burst_s=60.0, shared=True) for by in ("token", "password")
        }

    def refusal(self, asked: HTTPConnection) -> Response | None:
        """None = whoever asks is let in."""
        linked = _is_link(asked)
        if not self.keys.required or self._has_cookie(asked):
            return self._welcome(asked) or (RedirectResponse("/", status_code=303) if linked else None)
        shown = asked.query_params["token"] if linked else _bearer(asked)
        if shown is not None:
            return self._refusal_of(asked, shown) or (self.let_in(asked, "link") if linked else None)
        if self.password is not None and asked.scope["path"] == LOGIN:
            return self.stranger(asked)
        return self.stranger(asked) or self._unknown(asked)

    def _refusal_of(self, asked: HTTPConnection, shown: str) -> Response | None:
        """Of a token. One that could be guessed is not even compared after too many wrong ones."""
        if self.keys.guessable and self._wrong["token"].wait_s(address_of(asked)):
            return self.stranger(asked) or self.guess(asked, "token")
        if self.keys.is_token(shown):
            return self._welcome(asked)
        refused = self.stranger(asked) or self.guess(asked, "token")
        if refused is None:
            self.failed(asked, "token")
        return refused or self._unknown(asked)

    def _welcome(self, asked: HTTPConnection) -> Response | None:
        """Of one who may come in: their connection is a stranger's no more, however often they ask."""
        tell_known(asked.scope)
        return self._often(asked, self._known)

    def stranger(self, asked: HTTPConnection) -> Response | None:
        """An answer to one who may not come in, and asks too often."""
        return self._often(asked, self._strangers)

    def guess(self, asked: HTTPConnection, by: str) -> Response | None:
        """Count a guess of this address, of the "token" or the "password"; an answer if there were too many of it."""
        wrong, address = self._wrong[by], address_of(asked)
        wait_s = wrong.take(address)
        where = "came from there" if wrong.is_its_own(address) else "come, from many addresses"
        return _too_often(asked, wait_s, f"Too many wrong {by}s {where}.", "wrong_a_minute") if wait_s else None

    def failed(self, asked: HTTPConnection, by: str) -> None:
        """Put it on record."""
        self.audit.note("login_failed", by=by, address=address_of(asked))

    def let_in(self, asked: HTTPConnection, by: str) -> Response:
        """To the page, without the token in the address, and with the cookie."""
        answer = RedirectResponse("/", status_code=303)
        self.give_cookie(asked, answer)
        self.audit.note("login", by=by, address=address_of(asked))
        return answer

    def give_cookie(self, asked: HTTPConnection, answer: Response) -> None:
        """For as long as the browser runs, the token is not rotated and the server lives."""
        secure = asked.scope.get("scheme") in ("https", "wss")
        answer.set_cookie(cookie_name(asked), self.keys.cookie, httponly=True, samesite="strict", secure=secure)

    def _has_cookie(self, asked: HTTPConnection) -> bool:
        shown = asked.cookies.get(cookie_name(asked))
        return shown is not None and self.keys.is_cookie(shown)

    def _unknown(self, asked: HTTPConnection) -> Response:
        """To the form, where there is a password; otherwise what to do, for a browser as a page."""
        if asked.scope.get("method") != "GET" or not shows_pages(asked.headers) or _bearer(asked) is not None:
            return answer_of(401, "The token is missing or wrong.", _LINK_FIX, _CHALLENGE)
        return closed_page(_CHALLENGE) if self.password is None else RedirectResponse(LOGIN, status_code=303)

    def _often(self, asked: HTTPConnection, rates: Rates) -> Response | None:
        wait_s = rates.take(address_of(asked))
        if not wait_s:
            return None
        if rates.is_its_own(address_of(asked)):
            return _too_often(asked, wait_s, "Requests come too fast.", "rate")
        return _too_often(asked, wait_s, "Requests come too fast, from many addresses.", "rate_of_all")


def _too_often(asked: HTTPConnection, wait_s: float, what: str, limit: str) -> Response:
    """429, and when to come back."""
    seconds = max(1, -int(-wait_s // 1))
    fix = f"Ask again in {seconds} s, or raise the limit ({raised_by(limit)})."
    return refusal_of(asked, 429, what, fix, {"Retry-After": str(seconds)})


def _is_link(asked: HTTPConnection) -> bool:
    return asked.scope.get("method") == "GET" and asked.scope["path"] == "/" and "token" in asked.query_params


def _bearer(asked: HTTPConnection) -> str | None:
    scheme, _, shown = asked.headers.get("authorization", "").partition(" ")
    return shown.strip() if scheme.lower() == "bearer" else None


def cookie_name(asked: HTTPConnection) -> str:
    """Cookies do not know ports: two servers on one machine would take each other's."""
    return f"discussion-helper-{port_of(asked.headers) or 'default'}"
