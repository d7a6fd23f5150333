"""Calls the contract's service as JSON with httpx and asyncio."""

import itertools

import httpx

from driver import aio, requests
from driver.library import STATUS, TIMEOUT, TRANSPORT, WRONG_ANSWER, Connections, Library, Outcome, Target

CLOSE = {"Connection": "close"}


class Pool:
    """The library's defaults, except that the pool has the load's size and keeps idle connections open."""

    def __init__(self, target: Target) -> None:
        size = target.connections
        limits = httpx.Limits(max_connections=size, max_keepalive_connections=size, keepalive_expiry=None)
        self.client = httpx.AsyncClient(limits=limits, timeout=target.timeout_seconds, trust_env=False)
        self.url = f"http://{target.address}/rpcbench.v1.Echo/{target.method}"
        self.limit = target.calls_per_connection
        self.calls = itertools.count(1)

    async def wait_until_open(self) -> None:
        """The first calls open the connections."""

    async def call(self, request):
        headers = CLOSE if self.limit and next(self.calls) % self.limit == 0 else None
        response = await self.client.post(self.url, json=request, headers=headers)
        if response.status_code != 200:
            raise httpx.HTTPStatusError("", request=response.request, response=response)
        return response.json()

    async def close(self) -> None:
        await self.client.aclose()


def outcome(error: Exception) -> Outcome:
    if isinstance(error, httpx.HTTPStatusError):
        return STATUS, error.response.status_code
    if isinstance(error, httpx.TimeoutException):
        return TIMEOUT, 0
    return (TRANSPORT if isinstance(error, httpx.RequestError) else WRONG_ANSWER), 0


if __name__ == "__main__":
    aio.run(Library("httpx", "httpx", Connections.POOLED, requests.decode_json, Pool, outcome))
