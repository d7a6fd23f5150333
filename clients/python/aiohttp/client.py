"""Calls the contract's service as JSON with aiohttp."""

import asyncio
import itertools

import aiohttp

from driver import aio, requests
from driver.library import STATUS, TIMEOUT, TRANSPORT, WRONG_ANSWER, Connections, Library, Outcome, Target

CLOSE = {"Connection": "close"}
# The default closes idle connections after 15 s.
IDLE_SECONDS = 3600


class StatusError(Exception):
    def __init__(self, status: int) -> None:
        self.status = status


class Session:
    """The library's defaults, except that the pool has the load's size and keeps idle connections open."""

    def __init__(self, target: Target) -> None:
        connector = aiohttp.TCPConnector(limit=target.connections, keepalive_timeout=IDLE_SECONDS)
        timeout = aiohttp.ClientTimeout(total=target.timeout_seconds)
        self.session = aiohttp.ClientSession(connector=connector, timeout=timeout)
        self.url = f"http://{target.address}/rpcbench.v1.Echo/{target.method}"
        self.limit = target.calls_per_connection
        self.calls = itertools.count(1)

    async def wait_until_open(self) -> None:
        """The first calls open the connections."""

    async def call(self, request):
        headers = CLOSE if self.limit and next(self.calls) % self.limit == 0 else None
        async with self.session.post(self.url, json=request, headers=headers) as response:
            if response.status != 200:
                raise StatusError(response.status)
            return await response.json()

    async def close(self) -> None:
        await self.session.close()


def outcome(error: Exception) -> Outcome:
    if isinstance(error, StatusError):
        return STATUS, error.status
    if isinstance(error, asyncio.TimeoutError):
        return TIMEOUT, 0
    if isinstance(error, aiohttp.ContentTypeError):
        return WRONG_ANSWER, 0
    return (TRANSPORT if isinstance(error, aiohttp.ClientError | OSError) else WRONG_ANSWER), 0


if __name__ == "__main__":
    aio.run(Library("aiohttp", "aiohttp", Connections.POOLED, requests.decode_json, Session, outcome))
