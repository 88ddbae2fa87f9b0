"""The server keeps what /openapi.json says, whatever is sent."""

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis.specs.openapi.checks import (
    negative_data_rejection,
    positive_data_acceptance,
)

from selectron.labelling.server import create_app
from tests.labelling import office

HEADERS = {"Authorization": "Bearer schema-token"}
# Which labels are valid is a matter of the desk's classes, which no schema knows: such an answer
# is refused with 422. That valid calls are accepted is what `test_http` tests.
EXCLUDED = [positive_data_acceptance]
# An address cannot carry every wrong value: nothing is left of an empty list, and such a call is
# valid. `test_http` tests what is refused.
EXCLUDED_OF_GET = [*EXCLUDED, negative_data_rejection]
RULES = {
    "phases": [Phase.explicit, Phase.generate],  # shrinking is for a person who looks
    "suppress_health_check": list(HealthCheck),
    "deadline": None,
    "derandomize": True,
    "database": None,
}


def make_app(service):
    return create_app(service, token="schema-token", origin="http://testserver")


CALLS = [
    (method.upper(), path)
    for path, methods in make_app(None).openapi()["paths"].items()
    for method in methods
]


@pytest.fixture(scope="module")
def api(tmp_path_factory):
    items, _ = office.tickets(30)
    with office.service(tmp_path_factory.mktemp("schema"), items) as service:
        yield schemathesis.openapi.from_asgi("/openapi.json", make_app(service))


def try_out(api, method, path, examples):
    excluded = EXCLUDED_OF_GET if method == "GET" else EXCLUDED
    for mode in schemathesis.GenerationMode:

        @settings(max_examples=examples, **RULES)
        @given(case=api[path][method].as_strategy(generation_mode=mode))
        def check(case):
            case.call_and_validate(headers=HEADERS, excluded_checks=excluded)

        check()


@pytest.mark.parametrize(("method", "path"), CALLS)
def test_two_hundred_calls(api, method, path):
    try_out(api, method, path, 200)
