"""HTTP: calls, who may make them, and what each is answered."""

from selectron.labelling.server.accounts import Accounts, Person
from selectron.labelling.server.app import create_app
from selectron.labelling.server.guard import Limits
from selectron.labelling.server.run import Server, serve

__all__ = ["Accounts", "Limits", "Person", "Server", "create_app", "serve"]
