"""The least a product could do: pass the provider's bytes on. What that takes is the floor for ours."""

import os
from collections.abc import AsyncIterator

import httpx
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import StreamingResponse
from starlette.routing import Route

client = httpx.AsyncClient(limits=httpx.Limits(max_connections=None), timeout=120)


async def passed_on(request: Request) -> StreamingResponse:
    body = await request.body()

    async def chunks() -> AsyncIterator[bytes]:
        address = f"{os.environ['PROVIDER']}/chat/completions"
        async with client.stream("POST", address, content=body) as response:
            async for chunk in response.aiter_raw():
                yield chunk

    return StreamingResponse(chunks(), media_type="text/event-stream")


app = Starlette(routes=[Route("/", passed_on, methods=["POST"])])
