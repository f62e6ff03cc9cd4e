"""Who may come in to `discussion-helper serve`, as a process of its own, and how it goes.

The certificate and its key beside this file are for the loopback interface of tests alone.
"""

import argparse
import os
import re
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from discussion_helper.command_line import told
from discussion_helper.commands import serve
from discussion_helper.commands.serve_door import PASSWORD_VARIABLE, checked_entrance
from discussion_helper.errors import SettingError

CERT, KEY = (str(Path(__file__).parent / f"loopback-{what}.pem") for what in ("cert", "key"))
TLS = ["--tls-cert", CERT, "--tls-key", KEY]
PASSWORD = "horse staple battery"
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="no such signals there")

_PROGRAM = """
import argparse, sys
from discussion_helper.commands import serve
parser = argparse.ArgumentParser()
serve.add_parser(parser.add_subparsers())
arguments = parser.parse_args(["serve", *sys.argv[1:]])
sys.exit(arguments.run(arguments))
"""


def parsed(*options: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    serve.add_parser(parser.add_subparsers())
    return parser.parse_args(["serve", *options])


@contextmanager
def served(folder: Path, *options: str, **environment: str) -> Iterator[tuple["subprocess.Popen[str]", str, str]]:
    """The process, the server's address, and the token of its link."""
    own = {"DISCUSSION_HELPER_MODELS": str(folder), **environment}
    process = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", _PROGRAM, "--port", "0", "--store", str(folder / "threads.db"), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **own},
    )
    try:
        yield process, *_linked(process)
    finally:
        process.kill()
        process.communicate()


def _linked(process: "subprocess.Popen[str]") -> tuple[str, str]:
    """Of the next link that it prints."""
    assert process.stdout is not None
    for line in process.stdout:
        if (link := re.fullmatch(r"Open (https?://[^/]+)/\?token=(\S+)\n", line)) is not None:
            return link[1], link[2]
    raise AssertionError(process.stderr and process.stderr.read())


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--host", "0.0.0.0"], "--host: 0.0.0.0 can be .* without TLS and password"),
        (["--host", "::", "--allow-host", "home.lan"], "--host: :: can"),
        (["--host", "192.0.2.1", *TLS], "--host: .* without password"),
        (["--tls-cert", CERT], "--tls-key: it is missing"),
        (["--tls-key", KEY], "--tls-cert: it is missing"),
        (["--tls-cert", "nofile.pem", "--tls-key", KEY], "--tls-cert: nofile.pem is no file"),
        (["--tls-cert", KEY, "--tls-key", CERT], "--tls-cert: .* cannot be used"),
        (["--password-file", "nofile"], "--password-file: nofile cannot be read"),
        (["--password-file", CERT, "--host", "0.0.0.0"], "--host: .* without TLS"),
        (["--password-file", str(Path(__file__).parent)], "--password-file: .* cannot be read"),
        *(
            (["--allow-host", name], rf"--allow-host: .* is no name of a host. Use the name alone, such as {meant},")
            for name, meant in (
                ("http://home.lan", "home.lan"),
                ("https://home.lan:7654/?token=x", "home.lan"),
                ("home.lan:7654", "home.lan"),
                ("home.lan/", "home.lan"),
                ("[::1]:7654", r"\[::1\]"),
                (" home.lan", "home.lan"),
                ("home.lan work.lan", "talk.example.org"),
                ("home.lan,work.lan", "talk.example.org"),
                ("*.lan", "talk.example.org"),
                ("b\u00fccher.lan", "talk.example.org"),
                ("[home]", "talk.example.org"),
                ("fe80::1%lo", "fe80::1"),
                ("[fe80::1%25lo]", r"\[fe80::1\]"),
                *((name, "talk.example.org") for name in ("[[::1]", "[::1", ".x.org", "a..b", "x.org..", "1.2.3.4.5")),
                *((name, "talk.example.org") for name in ("300.1.1.1", "x.0x7f", "a" * 64, "ab." * 84 + "org")),
                ("..", "talk.example.org"),
                ("", "talk.example.org"),
            )
        ),
        *(
            (["--trust-proxy", address], r"--trust-proxy: .* is no address\. Use one such as")
            for address in ("http://127.0.0.1", "127.0.0.1:80", " 127.0.0.1", "localhost", "10.0.0.1/8", "", "*")
        ),
        *((["--trust-proxy", address], "--trust-proxy: everybody is in ") for address in ("0.0.0.0/0", "::/0")),
    ],
)
def test_the_door_stays_shut_unless_all_is_there(options: list[str], says: str) -> None:
    arguments = parsed(*options)
    with pytest.raises(SettingError) as refused:
        checked_entrance(arguments)

    assert re.match(says, told(refused.value, arguments))
    assert refused.value.fix


def test_a_password_alone_a_certificate_alone_and_both_are_taken_as_far_as_they_go(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "password"
    file.write_text(f"{PASSWORD}\nanother line\n", encoding="utf-8")
    assert (None, None, ("127.0.0.1",)) == _entrance()
    assert _entrance("--host", "0.0.0.0", "--allow-host", "home.lan", "--password-file", str(file), *TLS)[2] == (
        "home.lan",
        socket.gethostname(),
    )
    assert ("", "") == capsys.readouterr()
    monkeypatch.setenv(PASSWORD_VARIABLE, PASSWORD)
    tls, password, hosts = _entrance("--host", "2001:db8::1", "--insecure")
    assert (None, True, ("[2001:db8::1]",)) == (tls, password is not None, hosts)
    out, err = capsys.readouterr()
    assert ("", 1) == (out, err.count("\n"))
    assert "without TLS:" in err
    monkeypatch.setenv(PASSWORD_VARIABLE, "short")
    with pytest.raises(SettingError) as refused:
        _entrance()
    assert "short" not in str(refused.value)


def test_an_address_of_ipv6_may_be_named_with_its_brackets_or_without() -> None:
    assert ("[::1]", "[fe80::5]") == _entrance("--allow-host", "::1", "--allow-host", "[fe80::5]")[2][:2]


def test_an_address_is_named_as_browsers_write_it() -> None:
    hosts = _entrance("--host", "::1", "--allow-host", "2001:DB8:0:0::1", "--allow-host", "x.org.")[2]
    assert ("[2001:db8::1]", "x.org", "[::1]") == hosts


def _entrance(*options: str) -> tuple[object, object, tuple[str, ...]]:
    found = checked_entrance(parsed(*options))
    return found.tls, found.password, found.hosts


@POSIX
def test_under_tls_a_password_lets_a_browser_in_and_a_signal_sends_everybody_away(tmp_path: Path) -> None:
    trust = ssl.create_default_context(cafile=CERT)
    with served(tmp_path, *TLS, **{PASSWORD_VARIABLE: PASSWORD}) as (process, url, token):
        with httpx.Client(base_url=url, verify=trust, headers={"Origin": url}) as browser:
            form = browser.get("/", headers={"Accept": "text/html"}, follow_redirects=True)
            wrong = browser.post("/login", data={"password": "not the password"})
            right = browser.post("/login", data={"password": PASSWORD})
            let_in = browser.get("/sessions")
            process.send_signal(signal.SIGUSR1)
            _, new = _linked(process)
            after = [
                browser.get("/sessions"),
                browser.get("/sessions", headers={"Authorization": f"Bearer {token}"}),
                browser.get("/sessions", headers={"Authorization": f"Bearer {new}"}),
            ]
        process.send_signal(signal.SIGTERM)
        assert 0 == process.wait(timeout=20)
        out, err = process.communicate()

    assert url.startswith("https://")
    assert 'type="password"' in form.text
    assert [401, 303, 200] == [answer.status_code for answer in (wrong, right, let_in)]
    assert "; Secure" in right.headers["set-cookie"]
    assert [401, 401, 200] == [answer.status_code for answer in after]
    assert ["login_failed", "login", "token_rotated", "login_failed"] == re.findall(
        r"^[-0-9]+ [:0-9]+ (\w+)", err, re.M
    )
    assert not any(secret in out + err for secret in (PASSWORD, "not the password", token, new))


@POSIX
def test_systemd_is_told_and_the_second_signal_ends_it_at_once(tmp_path: Path) -> None:
    with tempfile.TemporaryDirectory() as folder, socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as told_to:
        told_to.bind(f"{folder}/notify")
        told_to.settimeout(20)
        with served(tmp_path, NOTIFY_SOCKET=f"{folder}/notify") as (process, url, token):
            assert b"READY=1" == told_to.recv(100)
            where = urlsplit(url)
            with socket.create_connection((where.hostname, where.port)) as unfinished:  # which it would wait for
                head = f"POST /sessions HTTP/1.1\r\nHost: {where.netloc}\r\nAuthorization: Bearer {token}\r\n"
                unfinished.sendall(f"{head}Content-Length: 10\r\nExpect: 100-continue\r\n\r\n".encode())
                assert b"100" in unfinished.recv(100)
                process.send_signal(signal.SIGTERM)
                assert b"STOPPING=1" == told_to.recv(100)
                process.send_signal(signal.SIGTERM)
                asked_s = time.perf_counter()
                assert 128 + signal.SIGTERM == process.wait(timeout=20)
                took_s = time.perf_counter() - asked_s

    assert took_s < 0.5
