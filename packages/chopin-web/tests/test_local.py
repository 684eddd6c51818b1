"""The local mode: checkouts that keep their identity, a token, signed names."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest
from starlette.applications import Starlette
from starlette.testclient import TestClient

from chopin_core.errors import ChopinError, InvalidField
from chopin_core.ids import UserId
from chopin_core.people import Person
from chopin_web.local.authority import LocalAuthority, local_person
from chopin_web.local.checkouts import SANDBOX, current_checkout, open_checkouts, parse_remote
from chopin_web.local.secrets import LocalSecrets, keep_secrets, read_token
from chopin_web.local.sign_in import LocalSignIn, return_path
from chopin_web.refusals import domain_error

SECRETS = LocalSecrets(token="t" * 43, cookie_key="k" * 43)
OWNER = Person(id=UserId("local:ada"), login="ada")


def checkout(path: Path, remote: str | None = None) -> Path:
    subprocess.run(["git", "init", "-q", "-b", "trunk", str(path)], check=True)
    if remote:
        subprocess.run(["git", "-C", str(path), "remote", "add", "origin", remote], check=True)
    return path


@pytest.mark.parametrize(
    "url",
    [
        "https://github.com/Ada/Engine.git",
        "https://user:token@github.com/Ada/Engine",
        "git@github.com:Ada/Engine.git",
        "ssh://git@github.com/Ada/Engine.git",
        "github.com:Ada/Engine/",
    ],
)
def test_one_repository_has_one_identity_however_its_address_is_written(url: str) -> None:
    remote = parse_remote(url)
    assert remote is not None
    assert remote.key == "github.com/ada/engine"
    assert remote.owner_and_name == ("Ada", "Engine")


@pytest.mark.parametrize("url", ["", "/srv/git/engine.git", "../engine", "file:///srv/git/engine"])
def test_a_local_path_is_no_remote(url: str) -> None:
    assert parse_remote(url) is None


def test_a_checkout_that_moves_keeps_its_documents(tmp_path: Path) -> None:
    before = current_checkout(checkout(tmp_path / "a", "git@github.com:ada/engine.git"))
    after = current_checkout(checkout(tmp_path / "b", "https://github.com/ada/engine"))
    assert before == after
    assert (before.repository.owner, before.repository.name, before.default_branch) == ("ada", "engine", "trunk")
    assert before.repository.id.startswith("L_")


def test_without_a_remote_the_path_is_the_identity(tmp_path: Path) -> None:
    one, other = (current_checkout(checkout(tmp_path / name)) for name in ("one", "other"))
    assert one.repository.id != other.repository.id
    assert (one.repository.owner, one.repository.name) == ("local", "one")
    inside = tmp_path / "one" / "deep"
    inside.mkdir()
    assert current_checkout(inside) == one


def test_outside_any_checkout_there_is_a_sandbox(tmp_path: Path) -> None:
    assert current_checkout(tmp_path) == SANDBOX
    with pytest.raises(InvalidField):
        open_checkouts([tmp_path])


def test_secrets_are_made_once_and_for_the_owner_alone(tmp_path: Path) -> None:
    assert read_token(tmp_path) is None
    made = keep_secrets(tmp_path)
    assert keep_secrets(tmp_path) == made
    assert read_token(tmp_path) == made.token
    assert {stat.S_IMODE((tmp_path / name).stat().st_mode) for name in ("token", "cookie-key")} == {0o600}
    assert made.token not in repr(made)


async def test_only_the_token_lets_anybody_in() -> None:
    authority = LocalAuthority(SECRETS, [SANDBOX], OWNER)
    assert authority.sign_in("wrong", "ben") is None
    secret = authority.sign_in(SECRETS.token, "ben")
    assert secret is not None
    assert await authority.session(secret) == local_person("ben")
    assert await authority.session(secret[:-2]) is None
    assert await authority.session("") is None
    assert await authority.bearer(SECRETS.token) == OWNER
    assert await authority.bearer("\ud800") is None


async def test_a_session_outlives_a_restart_but_not_a_new_key() -> None:
    secret = LocalAuthority(SECRETS, [SANDBOX], OWNER).sign_in(SECRETS.token, None)
    assert secret is not None
    assert await LocalAuthority(SECRETS, [SANDBOX], OWNER).session(secret) == OWNER
    other = LocalSecrets(token=SECRETS.token, cookie_key="x" * 43)
    assert await LocalAuthority(other, [SANDBOX], OWNER).session(secret) is None


@pytest.mark.parametrize("name", ["", "-a", "a-", "a b", "a/b", "ä", "a" * 40, "a\n", "../x"])
def test_a_name_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidField):
        local_person(name)


def sign_in_client() -> TestClient:
    routes = LocalSignIn(LocalAuthority(SECRETS, [SANDBOX], OWNER), origin="http://testserver", cookie="c").routes()
    app = Starlette(routes=routes, exception_handlers={ChopinError: domain_error})
    return TestClient(app, follow_redirects=False)


def test_the_link_sets_a_cookie_scripts_cannot_read_and_goes_on() -> None:
    answer = sign_in_client().get(f"/auth/local?token={SECRETS.token}&as=ben&return_to=/documents/a/b")
    assert (answer.status_code, answer.headers["location"]) == (303, "http://testserver/documents/a/b")
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie
    assert "samesite=lax" in cookie
    assert SECRETS.token.lower() not in cookie


def test_a_wrong_link_sets_nothing() -> None:
    for query in ("", "?token=", "?token=wrong", "?as=ben"):
        answer = sign_in_client().get(f"/auth/local{query}")
        assert answer.status_code == 401
        assert "set-cookie" not in answer.headers
    assert sign_in_client().get(f"/auth/local?token={SECRETS.token}&as=no/name").status_code == 400


@pytest.mark.parametrize(
    "wanted",
    ["//evil.example", "/\\evil.example", "https://evil.example", "", "x", "/api/session", "/auth/local", "/ws?x", "/a\nb"],
)
def test_nobody_is_sent_anywhere_but_to_our_pages(wanted: str) -> None:
    assert return_path(wanted) == "/"


def test_signing_out_needs_our_origin_and_takes_the_cookie_away() -> None:
    client = sign_in_client()
    assert client.post("/auth/logout").status_code == 403
    answer = client.post("/auth/logout", headers={"origin": "http://testserver"})
    assert answer.status_code == 204
    assert 'c=""' in answer.headers["set-cookie"]
