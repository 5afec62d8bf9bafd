"""A headless Chromium for tests of pages: opened from a file, with no network, everything that it says and asks noted.

It is driven over the DevTools protocol on a pipe (--remote-debugging-pipe): JSON with a NUL behind it, read from file
descriptor 3 and written to 4.
"""

import base64
import fcntl
import json
import os
import select
import shutil
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from rlcc.doctor import CHROMIUM

FLAGS = (
    "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
    "--disable-background-networking", "--disable-component-update", "--host-resolver-rules=MAP * ~NOTFOUND",
    "--remote-debugging-pipe",
)  # fmt: skip
SECONDS = 60
LOUD = ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Log.entryAdded")
"""Events of a page that is not well."""


class Browser:
    """One page of a Chromium."""

    def __init__(self, read: int, write: int) -> None:
        self._read, self._write, self._rest, self._last = read, write, b"", 0
        self.events: list[dict[str, Any]] = []
        self._session: str | None = None
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log"):
            self.call(f"{domain}.enable")
        self.call(
            "Network.emulateNetworkConditions", offline=True, latency=0, downloadThroughput=-1, uploadThroughput=-1
        )

    def call(self, method: str, **params: Any) -> dict[str, Any]:
        """A command of the protocol; events that come meanwhile are kept."""
        self._last += 1
        asked: dict[str, Any] = {"id": self._last, "method": method, "params": params}
        if self._session is not None:
            asked["sessionId"] = self._session
        os.write(self._write, json.dumps(asked).encode() + b"\0")
        while (answer := self._message()).get("id") != asked["id"]:
            self.events.append(answer)
        assert "error" not in answer, answer
        return dict(answer["result"])

    def open(self, page: Path, *, width: int = 1280, dark: bool = False) -> None:
        self.events.clear()
        scheme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        self.call("Emulation.setEmulatedMedia", features=[scheme])
        self.call(
            "Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=width < 600
        )
        self.call("Page.navigate", url=page.resolve().as_uri())
        while not any(event.get("method") == "Page.loadEventFired" for event in self.events):
            self.events.append(self._message())

    def value(self, script: str) -> Any:
        """What an expression comes to in the page."""
        told = self.call("Runtime.evaluate", expression=script, returnByValue=True)
        assert "exceptionDetails" not in told, told
        return told["result"].get("value")

    def picture(self) -> bytes:
        """PNG of the page from its top to its end."""
        return base64.b64decode(self.call("Page.captureScreenshot", captureBeyondViewport=True)["data"])

    @property
    def said(self) -> list[dict[str, Any]]:
        """What the page threw or wrote to the console."""
        return [event["params"] for event in self.events if event.get("method") in LOUD]

    @property
    def requests(self) -> list[str]:
        """Addresses that the page asked for, but for what stands in it."""
        sent = [event["params"] for event in self.events if event.get("method") == "Network.requestWillBeSent"]
        urls = [params["request"]["url"] for params in sent]
        return [url for url in urls if not url.startswith("data:")]

    def _message(self) -> dict[str, Any]:
        end = time.monotonic() + SECONDS
        while b"\0" not in self._rest:
            ready, _, _ = select.select([self._read], [], [], max(end - time.monotonic(), 0))
            part = os.read(self._read, 1 << 16) if ready else b""
            assert part, "Chromium says nothing more"
            self._rest += part
        message, _, self._rest = self._rest.partition(b"\0")
        return dict(json.loads(message))


@contextmanager
def chromium(profile: Path) -> Iterator[Browser]:
    """A Chromium with this folder for its own files; a test without one is skipped."""
    program = next(filter(None, map(shutil.which, CHROMIUM)), None)
    if program is None:
        pytest.skip("no Chromium")
    theirs, ours = os.pipe(), os.pipe()

    def at_three_and_four() -> None:
        read, write = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (theirs[0], ours[1]))
        os.dup2(read, 3)
        os.dup2(write, 4)

    process = subprocess.Popen(
        [program, *FLAGS, f"--user-data-dir={profile}", "about:blank"],
        preexec_fn=at_three_and_four,
        close_fds=False,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    os.close(theirs[0])
    os.close(ours[1])
    try:
        yield Browser(ours[0], theirs[1])
    finally:
        process.kill()
        process.wait()
        os.close(ours[0])
        os.close(theirs[1])
