"""Prints what is said while it is said: transcribe_live.py [RECORDING]

Sends a WAV file (one channel, 16 bits, 16 or 24 kHz) at its own pace, or without one the microphone until Ctrl-C, which
needs the package sounddevice. Sound is kept until the service has stored it. When the connection breaks or the service
restarts, the session is taken up again: nothing is lost, and nothing is printed twice. The environment has AKHAR_KEY,
and AKHAR_URL unless the service is on this machine.
"""

import asyncio
import base64
import json
import os
import re
import signal
import sys
import wave
from contextlib import ExitStack, suppress
from typing import Any
from urllib.parse import urlencode

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus

URL = os.environ.get("AKHAR_URL", "http://127.0.0.1:8080").replace("http", "ws", 1) + "/v1/realtime"
HEADERS = {"Authorization": f"Bearer {os.environ['AKHAR_KEY']}"}
TRANSCRIPTION = "conversation.item.input_audio_transcription"
OVER, REFUSED = 1000, (1008, 1009)
PIECE_S, LONGEST_S, PAUSE_S = 0.1, 5, 1


class Sound:
    """The sound that is not stored yet. Positions are bytes from the beginning."""

    def __init__(self, rate: int) -> None:
        self.rate, self.kept, self.begin, self.is_over = rate, bytearray(), 0, False
        self.changed = asyncio.Event()

    def add(self, piece: bytes) -> None:
        """Further sound. Behind the end there is none: a microphone is open until all is stored."""
        if not self.is_over:
            self.kept += piece
            self.changed.set()

    def end(self) -> None:
        """There is no further sound."""
        self.is_over = True
        self.changed.set()

    def stored(self, end: int) -> None:
        """What is before this position is stored."""
        n_stored = max(end - self.begin, 0)
        del self.kept[:n_stored]
        self.begin += n_stored

    @property
    def is_stored(self) -> bool:
        """Whether all is stored, but for less than the millisecond in which the service counts."""
        return self.is_over and len(self.kept) * 1000 < 2 * self.rate

    async def after(self, position: int) -> bytes:
        """What follows a position, some seconds at most, as soon as there is any. Empty at the end."""
        while not (piece := self.kept[position - self.begin :]) and not self.is_over:
            self.changed.clear()
            await self.changed.wait()
        return bytes(piece[: LONGEST_S * 2 * self.rate])


async def read(path: str, sound: Sound) -> None:
    """Reads a recording at its own pace."""
    clock = asyncio.get_running_loop().time
    with wave.open(path) as recording:
        due = clock()
        while not sound.is_over and (piece := recording.readframes(int(PIECE_S * sound.rate))):
            sound.add(piece)
            due += PIECE_S
            await asyncio.sleep(due - clock())
    sound.end()


async def send(socket: ClientConnection, sound: Sound) -> None:
    """Sends what is not stored, and what comes, to the end."""
    audio = {"format": {"type": "audio/pcm", "rate": sound.rate}, "transcription": {"language": "pa"}}
    session = {"audio": {"input": audio}, "include": ["akhar.stored"]}
    await socket.send(json.dumps({"type": "session.update", "session": session}))
    position = sound.begin
    while piece := await sound.after(position):
        event = {"type": "input_audio_buffer.append", "audio": base64.b64encode(piece).decode()}
        await socket.send(json.dumps(event))
        position += len(piece)
    await socket.send(json.dumps({"type": "input_audio_buffer.commit", "final": True}))


class Session:
    """A session, over as many connections as it needs."""

    def __init__(self, sound: Sound) -> None:
        self.sound, self.first = sound, sound.begin
        self.query = {"intent": "transcription"}

    async def run(self) -> None:
        """Prints the text until the session is over."""
        while True:
            try:
                async with connect(f"{URL}?{urlencode(self.query)}", additional_headers=HEADERS) as socket:
                    await self.follow(socket)
            except ConnectionClosed as closed:
                code = closed.rcvd.code if closed.rcvd else None
                if code == OVER:
                    return
                if code in REFUSED:
                    raise
            except InvalidStatus as refused:
                if "session" in self.query and refused.response.status_code in (404, 410):
                    return  # its time is over
                if refused.response.status_code not in (429, 502, 503, 504):
                    raise
            except (OSError, TimeoutError, InvalidHandshake):
                pass
            print("(connecting again)", file=sys.stderr)
            await asyncio.sleep(PAUSE_S)

    async def follow(self, socket: ClientConnection) -> None:
        """Sends and prints until the connection ends, which raises ConnectionClosed."""
        is_new = "session" not in self.query
        sending: asyncio.Task[None] | None = None
        try:
            while True:
                event = json.loads(await socket.recv())
                if event["type"] == "akhar.stored":
                    self.sound.stored(self.first + event["audio_end_ms"] * 2 * self.sound.rate // 1000)
                if sending is None and event["type"] == ("session.created" if is_new else "akhar.stored"):
                    sending = asyncio.create_task(send(socket, self.sound))
                self.take(event)
        finally:
            if sending is not None:
                sending.cancel()
                with suppress(asyncio.CancelledError, ConnectionClosed):
                    await sending

    def take(self, event: dict[str, Any]) -> None:
        """Prints what an event says, and notes how to take up the session behind it."""
        match event["type"]:
            case "session.created":
                self.query["session"] = event["session"]["id"]
            case "error":
                print(event["error"]["message"], file=sys.stderr)
            case kind if kind == f"{TRANSCRIPTION}.delta":
                print(event["delta"], end="", flush=True)
            case kind if kind == f"{TRANSCRIPTION}.completed":
                print()
        if re.match(r"event_\d", event["event_id"]):
            self.query["starting_after"] = event["event_id"]


async def main(path: str | None) -> None:
    """Transcribes a recording or the microphone."""
    loop = asyncio.get_running_loop()
    with ExitStack() as stack:
        if path is None:
            import sounddevice

            sound = Sound(16_000)
            microphone = sounddevice.RawInputStream(
                samplerate=sound.rate,
                channels=1,
                dtype="int16",
                callback=lambda piece, *_: loop.call_soon_threadsafe(sound.add, bytes(piece)),
            )
            stack.enter_context(microphone)
        else:
            with wave.open(path) as recording:
                sound = Sound(recording.getframerate())
            reading = asyncio.create_task(read(path, sound))
            stack.callback(reading.cancel)

        def interrupt() -> None:
            sound.end()
            loop.remove_signal_handler(signal.SIGINT)  # another one stops the program

        loop.add_signal_handler(signal.SIGINT, interrupt)
        # A session that was away too long has ended with what is stored. The next one begins behind that.
        while not sound.is_stored:
            await Session(sound).run()


asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else None))
