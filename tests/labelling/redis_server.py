"""A real Redis server on a socket in a folder of its own."""

import shutil
import subprocess
import tempfile
from time import sleep

import pytest


class RedisServer:
    """A server that can be killed and started again; what it keeps, it keeps in its folder."""

    def __init__(self, *options):
        self.folder = tempfile.mkdtemp(prefix="redis-")
        self.url = f"unix://{self.folder}/socket"
        self._options = options
        self.start()

    def start(self):
        where = ("--port", "0", "--unixsocket", "socket", "--dir", self.folder)
        self.process = subprocess.Popen(
            ["redis-server", *where, "--save", "", *self._options],
            cwd=self.folder,
            stdout=subprocess.DEVNULL,
        )
        client = self.client()
        for _ in range(500):
            try:
                client.ping()
            except client_errors():
                sleep(0.01)
            else:
                break
        client.close()

    def kill(self):
        self.process.kill()
        self.process.wait()

    def close(self):
        self.kill()
        shutil.rmtree(self.folder)

    def client(self):
        import redis  # noqa: PLC0415 - an extra

        return redis.Redis.from_url(self.url, protocol=2, decode_responses=True)


def client_errors():
    import redis  # noqa: PLC0415 - an extra

    return redis.RedisError, OSError


def new_server(*options):
    """Start a server, or skip the test with the reason why there is none."""
    pytest.importorskip("redis", reason="redis is not installed")
    if not shutil.which("redis-server"):
        pytest.skip("no Redis: redis-server is not installed")
    return RedisServer(*options)
