"""The labelling service as a FastAPI application, and what it says when it refuses."""

from collections.abc import Awaitable, Callable, Iterable, Mapping
from pathlib import Path
from urllib.parse import urlsplit

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException

from selectron.labelling.desk import Refused
from selectron.labelling.server import models
from selectron.labelling.server.accounts import Accounts, Person, Sessions, Tokens
from selectron.labelling.server.calls import ANSWERS, Calls
from selectron.labelling.server.doors import Doors, PageFiles
from selectron.labelling.server.guard import App, Gate, Guard, Limits, Receive, Scope, Send, Turned
from selectron.labelling.server.label_studio import LabelStudio
from selectron.labelling.service import Full, Service, Stopped

Answering = Callable[[Request], Awaitable[JSONResponse]]
IDLE_SECONDS = 12 * 3600.0
PROBLEMS: dict[int | str, models.Schema] = {
    status: {"model": models.Problem, "description": why}
    for status, why in {
        400: "The body is not JSON.",
        401: "Nobody is signed in.",
        403: "The caller may not do this, or the call comes from another page.",
        404: "There is no such thing.",
        409: "The call contradicts what is in the log.",
        413: "The body is too long.",
        415: "The body is not declared as JSON.",
        421: "The Host is not served here.",
        422: "A value is not what the call takes.",
        503: "The service is full or has stopped; Retry-After says when to try again.",
    }.items()
}


def create_app(  # noqa: PLR0913 - every option by its own name
    service: Service,
    *,
    token: str,
    origin: str | Iterable[str],
    link: str | None = None,
    tokens: Mapping[str, str] | None = None,
    annotator: str = "you",
    accounts: Accounts | None = None,
    images: Path | None = None,
    limits: Limits | None = None,
    proxy: str | None = None,
) -> FastAPI:
    """Return the application that answers for a service.

    Parameters
    ----------
    token : what a program sends as ``Authorization: Bearer TOKEN``; it speaks as an owner
    origin : the address of the page, such as ``http://127.0.0.1:8000``, or several of them
    link : the single-use token of the printed address; without one nobody comes in by address
    tokens : more tokens, each with the name of the annotator that its program speaks for
    annotator : the name of who comes in by the address
    accounts : names and passwords; with them the page asks people to sign in
    images : the folder in which the pictures of items lie
    proxy : the address of a proxy whose ``X-Forwarded-For`` is believed
    """
    origins = frozenset([origin] if isinstance(origin, str) else origin)
    people = {token: Person("program", "owner")}
    people |= {secret: Person(name, "annotator") for secret, name in (tokens or {}).items()}
    gate = Gate(
        origins=origins,
        tokens=Tokens(people, link),
        sessions=Sessions(IDLE_SECONDS),
        cookie=_cookie_name(origins),
        limits=limits or Limits(),
        proxy=proxy,
    )
    calls = Calls(service, gate, images)
    calls.team = accounts is not None
    doors = Doors(gate, accounts, annotator)
    app = FastAPI(
        title="selectron",
        version="1",
        docs_url=None,
        redoc_url=None,
        responses=PROBLEMS,
        lifespan=calls.lifespan,
    )
    app.state.stream = calls.stream
    app.state.gate = gate
    calls.add_to(app)
    doors.add_to(app)
    LabelStudio(calls.decide).add_to(app)
    PageFiles().add_to(app)
    for kind, handler in REFUSALS.items():
        app.add_exception_handler(kind, handler)
    app.add_middleware(Direct, route=_route(app, ANSWERS), call=calls.answer)
    app.add_middleware(Guard, gate=gate)
    _name_the_token(app)
    return app


class Direct:
    """Hands answers straight to their call: the way through FastAPI takes as long as all the rest.

    The route is what the schema and the metrics know of the call.
    """

    def __init__(self, app: App, route: APIRoute, call: Answering) -> None:
        self.app, self.route, self.call = app, route, call

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer, or pass on what is no answer."""
        place = scope.get("method"), scope.get("path")
        if scope["type"] != "http" or place != ("POST", self.route.path):
            return await self.app(scope, receive, send)
        scope["route"], request = self.route, Request(scope, receive)
        try:
            reply = await self.call(request)
        except tuple(REFUSALS) as error:
            handle = next(REFUSALS[kind] for kind in type(error).__mro__ if kind in REFUSALS)
            reply = await handle(request, error)
        return await reply(scope, receive, send)


def _route(app: FastAPI, path: str) -> APIRoute:
    return next(r for r in app.routes if isinstance(r, APIRoute) and r.path == path)


def _name_the_token(app: FastAPI) -> None:
    """Say in the schema that calls take a token; it is the gate that asks for it.

    The schema is made when somebody asks for it: that takes longer than the rest of the start.
    """
    without = app.openapi

    def named() -> models.Schema:
        schema = without()
        schema["components"]["securitySchemes"] = {"token": {"type": "http", "scheme": "bearer"}}
        schema["security"] = [{"token": []}]
        return schema

    app.openapi = named  # type: ignore[method-assign]


def _cookie_name(origins: Iterable[str]) -> str:
    """Return a name for the cookie: browsers keep one jar for all ports of a host."""
    ports = sorted(str(urlsplit(origin).port or "") for origin in origins)
    return f"selectron_{ports[0]}" if ports[0] else "selectron"


def _problem(status: int, error: str, remedy: str, retry_after: int | None = None) -> JSONResponse:
    headers = None if retry_after is None else {"Retry-After": str(retry_after)}
    return JSONResponse({"error": error, "remedy": remedy}, status, headers)


async def _refused(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Refused)
    return _problem(error.status, error.error, error.remedy)


async def _turned(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Turned)
    return _problem(error.status, error.error, error.remedy, error.retry_after)


async def _full(request: Request, error: Exception) -> JSONResponse:
    return _problem(503, "The service is full.", "Try again in a second.", 1)


async def _stopped(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, Stopped)
    why, remedy = "The service has stopped", "Its keeper starts it again."
    if error.full:
        why += ": the disk of its store is full"
        remedy = "Its keeper makes room there and starts it again; what is kept can be read."
    return _problem(503, f"{why}.", remedy, 5)


async def _invalid(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, RequestValidationError)
    first = error.errors()[0]
    place = ".".join(str(part) for part in first["loc"]) or "body"
    return _problem(422, f"{place}: {first['msg']}.", "See /openapi.json for what the call takes.")


async def _http(request: Request, error: Exception) -> JSONResponse:
    assert isinstance(error, HTTPException)
    reply = _problem(error.status_code, f"{error.detail}.", "See /openapi.json for the calls.")
    reply.headers.update(error.headers or {})
    return reply


REFUSALS: dict[type[Exception], Callable[[Request, Exception], Awaitable[JSONResponse]]] = {
    Refused: _refused,
    Turned: _turned,
    Full: _full,
    Stopped: _stopped,
    RequestValidationError: _invalid,
    HTTPException: _http,
}
