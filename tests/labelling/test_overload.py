"""More callers than the server takes: each is told to come again, and the slow ones are cut off."""

import asyncio
import json
import resource
from collections import Counter
from contextlib import contextmanager
from time import monotonic

import pytest

from selectron.labelling.server import Limits
from tests.labelling import office

SLOW, QUICK = 200, 512
FILES = 4096  # both ends of every connection are in this process


@contextmanager
def many_files():
    """Let this process open as many connections as the test needs."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < FILES:
        pytest.skip(f"a process may open {hard} files here, and the test needs {FILES}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, FILES), hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def call(house, body=b""):
    """Send a call, or the first half of one with a body; return status, headers and the wait."""
    began = monotonic()
    reader, writer = await asyncio.open_connection("127.0.0.1", house.port)
    length = (
        f"Content-Type: application/json\r\nContent-Length: {2 * len(body)}\r\n" if body else ""
    )
    writer.write(
        f"{'PUT /api/v1/settings' if body else 'GET /api/v1/status'} HTTP/1.1\r\n"
        f"Host: 127.0.0.1:{house.port}\r\nAuthorization: Bearer {house.token}\r\n"
        f"Connection: close\r\n{length}\r\n".encode()
        + body
    )
    head, _, said = (await reader.read()).partition(b"\r\n\r\n")  # until the server closes
    writer.close()
    json.loads(said)
    return int(head.split()[1]), head.lower(), monotonic() - began


async def crowd(house, n, body=b""):
    async with asyncio.timeout(60):
        return await asyncio.gather(*(call(house, body) for _ in range(n)))


async def overload(house):
    slow = asyncio.create_task(crowd(house, SLOW, b'{"question": '))
    while (await call(house))[0] == 200:  # not all of the slow ones are in
        await asyncio.sleep(0.01)
    return await crowd(house, QUICK), await slow, await crowd(house, QUICK)


@pytest.mark.parametrize("seconds", [3.0, pytest.param(10.0, marks=pytest.mark.slow)])
def test_too_many_callers_come_again_and_slow_ones_are_cut_off(tmp_path, seconds):
    limits = Limits(calls=SLOW, body_seconds=seconds)
    with (
        many_files(),
        office.service(tmp_path, office.tickets(20)[0]) as service,
        office.server(service, limits=limits) as house,
    ):
        beside, slow, after = asyncio.run(overload(house))
    assert {status for status, *_ in beside} == {503}
    assert all(b"retry-after: 1" in head for _, head, _ in beside)
    assert {status for status, *_ in slow} == {408}
    assert max(wait for *_, wait in slow) < seconds + 5.0
    counts = Counter(status for status, *_ in after)
    assert counts.keys() <= {200, 503}
    assert counts[200] >= SLOW
    assert all(b"retry-after: 1" in head for status, head, _ in after if status == 503)
