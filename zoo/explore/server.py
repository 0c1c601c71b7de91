"""Serve the explorer's page on this machine."""

from __future__ import annotations

import errno
import os
import socket
import sys
import webbrowser
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from zoo.errors import ConfigError

HOST, PORT = "127.0.0.1", 7860
POLICY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; font-src 'self' data:; connect-src 'self' data: blob:; worker-src 'self' blob:"
)
"""The browser refuses all requests to other machines, whatever gradio or a text asks for."""


class OwnMachineOnly:
    """An ASGI application that adds the policy to the answers of another one."""

    def __init__(self, app: Any) -> None:
        self.app = app

    async def __call__(self, scope: Any, receive: Any, send: Callable[[Any], Awaitable[None]]) -> None:
        async def with_policy(message: Any) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], (b"content-security-policy", POLICY.encode())]
            await send(message)

        await self.app(scope, receive, with_policy if scope["type"] == "http" else send)


def serve(names: Sequence[str], host: str = HOST, port: int = PORT, *, browser: bool = False) -> None:
    """Serve some networks until the program is interrupted.

    Args:
        names: as `zoo.load` takes them.
        browser: whether to open the page in the browser of this machine.

    Raises:
        CheckpointError: a network that cannot be loaded.
        ConfigError: the port is in use.
    """
    import uvicorn
    from fastapi import FastAPI

    from zoo.explore.app import build, gr, look
    from zoo.explore.network import Network

    with bound(host, port) as door:
        page = build([Network(name) for name in dict.fromkeys(names)])
        app = gr.mount_gradio_app(FastAPI(openapi_url=None), page, path="", ssr_mode=False, **look())
        address = f"http://{'localhost' if host in (HOST, '0.0.0.0') else host}:{door.getsockname()[1]}"
        print(f"{address} shows {', '.join(dict.fromkeys(names))}; press Ctrl-C to stop", flush=True)
        if browser:
            webbrowser.open(address)
        uvicorn.Server(uvicorn.Config(OwnMachineOnly(app), log_level="warning")).run(sockets=[door])


def bound(host: str, port: int) -> socket.socket:
    """Return a socket that is bound to an address. Raises ConfigError where that is not possible."""
    if not 0 <= port < 2**16:
        raise ConfigError(f"--port {port}: expected a number from 0 to {2**16 - 1}")
    door = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
    door.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        door.bind((host, port))
    except OSError as error:
        door.close()
        if error.errno == errno.EADDRINUSE:
            raise ConfigError(f"--port {port}: in use; choose another, e.g. --port {port + 1}") from error
        raise ConfigError(f"--host {host} --port {port}: {error.strerror or error}") from error
    return door


def has_browser() -> bool:
    """Whether this terminal can open a graphical browser."""
    display = sys.platform != "linux" or "DISPLAY" in os.environ or "WAYLAND_DISPLAY" in os.environ
    return sys.stdout.isatty() and display
