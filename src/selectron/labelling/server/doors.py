"""How people come in: by the printed address, or with a name and a password."""

import asyncio
from importlib.resources import files

from anyio import to_thread
from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import JSONResponse, RedirectResponse

from selectron.labelling.server import models
from selectron.labelling.server.accounts import Accounts, Failures, Person
from selectron.labelling.server.guard import Gate, Turned, owner_of, person_of

KINDS = {
    ".html": "text/html; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".svg": "image/svg+xml",
}


def _load() -> dict[str, tuple[str, bytes]]:
    found = {}
    for file in files("selectron.labelling").joinpath("page").iterdir():
        ending = file.name[file.name.rfind(".") :]
        if ending in KINDS:
            found[file.name] = KINDS[ending], file.read_bytes()
    return found


PAGE = _load()


class PageFiles:
    """Scripts, styles and the icon."""

    def add_to(self, app: FastAPI) -> None:
        """Add the files to an application."""
        app.add_api_route("/page/{name}", self.file, methods=["GET"], include_in_schema=False)
        app.add_api_route("/favicon.ico", self.icon, methods=["GET"], include_in_schema=False)

    async def file(self, request: Request, name: str) -> Response:
        """Return a file of the page. Only names that were read at the start are known."""
        if name not in PAGE or name.endswith(".html"):
            raise Turned(404, "There is no such file.", "Open / instead.")
        return self.page(name)

    async def icon(self) -> Response:
        """Return the icon that browsers ask for unasked."""
        return self.page("favicon.svg")

    @staticmethod
    def page(name: str, status: int = 200) -> Response:
        """Return a file by its name in the package."""
        kind, data = PAGE[name]
        return Response(data, status, {"Content-Type": kind, "Cache-Control": "no-cache"})


class Doors:
    """How people come in: by the printed address, or with a name and a password."""

    def __init__(self, gate: Gate, accounts: Accounts | None, annotator: str) -> None:
        self.gate, self.accounts, self.annotator = gate, accounts, annotator
        self.failures = Failures()
        self._hashing = asyncio.Semaphore(2)  # one Argon2 hash takes 64 MB

    def add_to(self, app: FastAPI) -> None:
        """Add the doors to an application."""
        router = APIRouter(include_in_schema=False)
        add = router.add_api_route
        add("/", self.enter, methods=["GET"])
        add("/login", self.login_page, methods=["GET"])
        add("/api/v1/session", self.sign_in, methods=["POST"])
        add("/api/v1/session", self.sign_out, methods=["DELETE"])
        add("/api/v1/accounts", self.people, methods=["GET"])
        add("/api/v1/accounts", self.add_person, methods=["POST"])
        add("/api/v1/accounts/{name}", self.remove_person, methods=["DELETE"])
        app.include_router(router)

    async def enter(self, request: Request) -> Response:
        """Show the page; exchange the token of the address for a cookie first."""
        token = request.query_params.get("token")
        person = request.state.person
        if token is not None:
            reply = RedirectResponse("/", status_code=303)
            if person is None:
                if not self.gate.tokens.use_link(token):
                    return PageFiles.page("used.html", 401)
                secret = self.gate.sessions.open(Person(self.annotator, "owner"))
                self._give_cookie(reply, secret)
            return reply
        if person is not None:
            return PageFiles.page("index.html")
        if self.accounts is not None:
            return RedirectResponse("/login", status_code=303)
        return PageFiles.page("used.html", 401)

    async def login_page(self) -> Response:
        """Show where people sign in."""
        return PageFiles.page("login.html")

    async def sign_in(self, request: Request, body: models.SignIn) -> Response:
        """Begin a session. Five failures a minute are enough, for a name and for an address."""
        if self.accounts is None:
            raise Turned(404, "This server has no accounts.", "Open the address that was printed.")
        keys = f"name {body.name}", f"address {request.state.address}"
        wait = max(self.failures.wait(key) for key in keys)
        if wait > 0:
            raise Turned(429, "Too many failed attempts.", "Wait a minute.", int(wait) + 1)
        async with self._hashing:
            person = await to_thread.run_sync(self.accounts.check, body.name, body.password)
        for key in keys:
            (self.failures.count if person is None else self.failures.forget)(key)
        if person is None:
            raise Turned(401, "Name or password is wrong.", "Try again, or ask an owner.")
        reply = JSONResponse({"name": person.name, "role": person.role})
        self._give_cookie(reply, self.gate.sessions.open(person))
        return reply

    async def sign_out(self, request: Request) -> Response:
        """End the session."""
        if request.state.cookie is not None:
            self.gate.sessions.close(request.state.cookie)
        reply = JSONResponse({"name": None})
        reply.delete_cookie(self.gate.cookie)
        return reply

    async def people(self, request: Request) -> JSONResponse:
        """Return who has an account."""
        return JSONResponse({"people": [row._asdict() for row in self._book(request).people()]})

    async def add_person(self, request: Request, body: models.NewAccount) -> JSONResponse:
        """Add an account, or change its password and role; its sessions end."""
        book = self._book(request)
        async with self._hashing:
            row = await to_thread.run_sync(book.add, body.name, body.password, body.role)
        self.gate.sessions.revoke(body.name)
        return JSONResponse(row._asdict())

    async def remove_person(self, request: Request, name: models.AccountName) -> JSONResponse:
        """Remove an account and end its sessions."""
        book = self._book(request)
        if name == person_of(request).name:
            raise Turned(409, "Nobody removes themselves.", "Ask another owner.")
        if not book.remove(name):
            raise Turned(404, "There is no such account.", "See GET /api/v1/accounts.")
        self.gate.sessions.revoke(name)
        return JSONResponse({"name": name})

    def _book(self, request: Request) -> Accounts:
        owner_of(request)
        if self.accounts is None:
            raise Turned(404, "This server has no accounts.", "Start it with --team.")
        return self.accounts

    def _give_cookie(self, reply: Response, secret: str) -> None:
        secure = any(origin.startswith("https:") for origin in self.gate.origins)
        reply.set_cookie(
            self.gate.cookie,
            secret,
            max_age=int(self.gate.sessions.idle),
            httponly=True,
            samesite="strict",
            secure=secure,
        )
