"""The files of the page, as they are served."""

from importlib.resources import files

import httpx
import pytest

from discussion_helper.web import create_app
from discussion_helper.web.page_routes import PAGE_FILES, page_file

pytestmark = pytest.mark.anyio

HTML = {"Accept": "text/html,application/xhtml+xml"}


def client() -> httpx.AsyncClient:
    return httpx.AsyncClient(base_url="http://127.0.0.1:7654", transport=httpx.ASGITransport(create_app(token=None)))


async def test_a_browser_gets_the_page_and_a_program_the_index() -> None:
    async with client() as asked:
        page, index, head = (
            await asked.get("/", headers=HTML),
            await asked.get("/"),
            await asked.head("/", headers=HTML),
        )

    assert "text/html; charset=utf-8" == page.headers["content-type"]
    assert page.text.startswith("<!doctype html>")
    assert "script-src 'self'" in page.headers["content-security-policy"]
    assert "/sessions" == index.json()["sessions"]
    assert ["Accept", "Accept"] == [page.headers["vary"], index.headers["vary"]]
    assert (200, "") == (head.status_code, head.text)


async def test_every_file_is_served_and_kept_until_it_is_another_one() -> None:
    async with client() as asked:
        for name, media_type in PAGE_FILES.items():
            answer = await asked.get(f"/page/{name}")
            again = await asked.get(f"/page/{name}", headers={"If-None-Match": f'"x", W/{answer.headers["etag"]}'})
            other = await asked.get(f"/page/{name}", headers={"If-None-Match": '"another"'})
            assert (200, media_type) == (answer.status_code, answer.headers["content-type"].partition(";")[0])
            assert "no-cache" == answer.headers["cache-control"]
            assert (304, b"", 200) == (again.status_code, again.content, other.status_code)


async def test_nothing_but_the_files_of_the_table_is_served() -> None:
    async with client() as asked:
        for name in ("nothing.js", "%2e%2e%2fapp.py", "..%2Fapp.py", "page_routes.py", "index.html%00.js"):
            assert 404 == (await asked.get(f"/page/{name}")).status_code
    with pytest.raises(KeyError):
        page_file("../app.py")


def test_the_table_has_every_file_and_each_is_short_and_asks_nobody_else() -> None:
    folder = files("discussion_helper.web").joinpath("page")
    assert set(PAGE_FILES) == {file.name for file in folder.iterdir()}
    for name in PAGE_FILES:
        text = page_file(name).content.decode("utf-8")
        assert text.count("\n") <= 400, name
        assert "://" not in text.replace("http://www.w3.org/2000/svg", "").replace("${scheme}//", ""), name
        assert "innerHTML" not in text, name
        assert " style=" not in text, name
