"""Transcribes over sockets behind HAProxy and nginx, with the files of deploy/, while two apis are restarted in turns.

Needs about a minute. Exits with 1 and one line for each problem.
"""

import asyncio
import base64
import json
import re
import ssl
import sys
import tempfile
import time
import urllib.request
import wave
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from urllib.parse import quote

from problems import DEPLOY, Problems
from proxies import LIMIT_S, NOTICED_S, PROXIES, Proxy, running, until
from running_service import program
from service import FIXTURES, Service, free_port, serve
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

COMPLETED = "conversation.item.input_audio_transcription.completed"
ENDED, LOST, RESTARTED = 1000, 1006, 1012
# The id of an event about the sound.
SAID = re.compile(r"event_\d")
# A socket that is not closed so long after an api has ended is with the other api.
CLOSED_S = 2
PCM = {"audio": {"input": {"format": {"type": "audio/pcm", "rate": 16_000}}}}


class Socket:
    """A socket behind a proxy."""

    def __init__(self, proxy: Proxy, key: str) -> None:
        self.proxy, self.key = proxy, key
        self.events: list[dict[str, Any]] = []

    async def open(self) -> None:
        """Opens it. A session that was begun before is taken up again."""
        query = "intent=transcription"
        if self.events:
            query += f"&session={self.events[0]['session']['id']}"
            (*_, seen) = (event["event_id"] for event in self.events if SAID.match(event["event_id"]))
            query += f"&starting_after={seen}"
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        url = f"wss://127.0.0.1:{self.proxy.port}/v1/realtime?{query}"
        headers = {"Authorization": f"Bearer {self.key}"}
        self.socket = await connect(url, ssl=context, additional_headers=headers, proxy=None)
        await self.until("session.created")

    async def send(self, kind: str, **members: object) -> None:
        """Sends an event."""
        await self.socket.send(json.dumps({"type": kind, **members}))

    async def until(self, kind: str) -> dict[str, Any]:
        """The next event of this type."""
        while True:
            event = await self.next(LIMIT_S)
            if event["type"] == kind:
                return event

    async def next(self, limit_s: float) -> dict[str, Any]:
        """The next event."""
        async with asyncio.timeout(limit_s):
            event: dict[str, Any] = json.loads(await self.socket.recv())
        self.events.append(event)
        return event

    async def transcript(self, sound: bytes) -> str:
        """The text of an utterance that ends with a pause."""
        await self.send("session.update", session=PCM)
        await self.send("input_audio_buffer.append", audio=base64.b64encode(sound).decode())
        text: str = (await self.until(COMPLETED))["transcript"]
        return text

    async def code(self, limit_s: float) -> int:
        """The code with which it is closed. 0: it is open, and nothing comes for so long."""
        try:
            while True:
                await self.next(limit_s)
        except TimeoutError:
            return 0
        except ConnectionClosed as closed:
            return closed.rcvd.code if closed.rcvd else LOST


class Api:
    """An api on a port of its own, with the database of a service."""

    def __init__(self, service: Service, database: str) -> None:
        self.port = free_port()
        listen = f"127.0.0.1:{self.port}"
        self.environment = service.environment | {"AKHAR_DATABASE_URL": database, "AKHAR_LISTEN": listen}
        self.stack = ExitStack()

    def start(self) -> None:
        """Starts it, and waits until it can take requests."""
        self.stack.enter_context(running([program(), "api"], self.environment))
        until("an api listens", self.is_ready)

    def is_ready(self) -> bool:
        """Whether it can take requests."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/health/ready"):
                return True
        except OSError:
            return False


def main() -> None:
    """Runs the check."""
    began = time.monotonic()
    problems = Problems()
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        folder.chmod(0o755)
        settings = dict(re.findall(r"^(AKHAR_\w+)=(.*)$", (DEPLOY / "compose/akhar.env").read_text(), re.MULTILINE))
        service = stack.enter_context(serve({**settings, "AKHAR_DATA_DIR": str(folder / "data")}))
        database = f"postgres://akhar@{quote(str(folder / 'data/postgres/socket'), safe='')}/postgres"
        apis = (Api(service, database), Api(service, database))
        for api in apis:
            stack.enter_context(api.stack)
            api.start()
        proxies = [Proxy(stack, name, (apis[0].port, apis[1].port), {}) for name in PROXIES]
        asyncio.run(check(problems, [Socket(proxy, service.key) for proxy in proxies for _ in apis], apis))
    for line in problems.lines:
        print(f"sockets: {line}", file=sys.stderr)
    print(f"sockets: HAProxy and nginx, {time.monotonic() - began:.0f} s", file=sys.stderr)
    sys.exit(1 if problems.lines else 0)


async def check(problems: Problems, sockets: list[Socket], apis: tuple[Api, ...]) -> None:
    """Each session gives its texts, while the apis are restarted one after the other."""
    with wave.open(str(FIXTURES / "audio/pa-school.wav")) as recording:
        sound = recording.readframes(recording.getnframes()) + bytes(2 * recording.getframerate())
    n_closed = 0

    async def speak(socket: Socket) -> None:
        await socket.open()
        text = await socket.transcript(sound)
        problems.expect(text.startswith("ਮੇਰਾ ਭਰਾ"), f"{socket.proxy.name}: {text!r}")

    for socket in sockets:
        await speak(socket)
    for api in apis:
        await asyncio.to_thread(api.stack.close)
        for socket in sockets:
            if not (code := await socket.code(CLOSED_S)):
                continue
            n_closed += 1
            problems.expect(code == RESTARTED, f"{socket.proxy.name}: closed with {code}, expected {RESTARTED}")
            await speak(socket)
        await asyncio.to_thread(api.start)
        await asyncio.sleep(NOTICED_S)
    problems.expect(n_closed >= len(sockets), f"restarts closed {n_closed} of {len(sockets)} sockets")
    for socket in sockets:
        await socket.send("input_audio_buffer.commit", final=True)
        code = await socket.code(LIMIT_S)
        problems.expect(code == ENDED, f"{socket.proxy.name}: closed with {code}, expected {ENDED}")


if __name__ == "__main__":
    main()
