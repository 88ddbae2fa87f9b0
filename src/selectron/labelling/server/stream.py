"""Server-sent events: the status whenever it changes, and a heartbeat while it does not."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable

from selectron.labelling.events import Reply

HEARTBEAT = 15.0
PAUSE = 0.25  # the status is computed at most four times a second, for all listeners together


class Stream:
    """One status for all pages that listen."""

    def __init__(self, status: Callable[[], Awaitable[Reply]]) -> None:
        self._status = status
        self._wakers: set[asyncio.Event] = set()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._text, self._version, self._dirty = "", 0, True
        self._busy = asyncio.Lock()
        self.stopping = False

    def changed(self) -> None:
        """Something was committed; any thread may say so."""
        self._dirty = True
        if self._loop is not None and not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._wake)

    def stop(self) -> None:
        """End every stream, so that the server can stop."""
        self.stopping = True
        self._wake()

    def _wake(self) -> None:
        for waker in self._wakers:
            waker.set()

    async def _refresh(self) -> None:
        async with self._busy:
            if not self._dirty:
                return
            self._dirty = False
            text = json.dumps(await self._status(), separators=(",", ":"))
            if text != self._text:
                self._text, self._version = text, self._version + 1

    async def listen(self) -> AsyncIterator[str]:
        """Yield events until the server stops."""
        self._loop = asyncio.get_running_loop()
        waker, seen = asyncio.Event(), -1
        self._wakers.add(waker)
        try:
            yield "retry: 1000\n\n"
            while not self.stopping:
                waker.clear()
                await self._refresh()
                if seen != self._version:
                    seen = self._version
                    yield f"event: status\ndata: {self._text}\n\n"
                try:
                    async with asyncio.timeout(HEARTBEAT):
                        await waker.wait()
                except TimeoutError:
                    yield ": still here\n\n"
                if not self.stopping:
                    await asyncio.sleep(PAUSE)
            yield "event: stopped\ndata: {}\n\n"
        finally:
            self._wakers.discard(waker)
