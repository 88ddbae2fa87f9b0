"""The files of the page, read once from the package and served by their exact names."""

from importlib.resources import files

from fastapi import FastAPI, Request, Response

from selectron.labelling.server.guard import Turned

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
