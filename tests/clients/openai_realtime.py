"""Transcribes and translates live with OpenAI's client for Python: openai_realtime.py [FOLDER].

The environment has AKHAR_URL and AKHAR_KEY. FOLDER has recordings (pa-….wav, en-….wav: one channel, 16 bits, 16 kHz);
without it, those of the tests are taken. Prints how far the live texts are from those of files with the same sound.
"""

import asyncio
import base64
import io
import json
import os
import sys
import wave
from collections.abc import Iterator
from pathlib import Path

import openai
from running_service import Service

URL, KEY = os.environ["AKHAR_URL"], os.environ["AKHAR_KEY"]
PIECE = 9600  # bytes: 0.2 s at 24 kHz
FIXTURES = Path(__file__).parents[1] / "fixtures/audio"


def sound(path: Path) -> bytes:
    """Return the samples of a recording at 24 kHz, between those at 16 kHz, with 1.2 s of silence behind them."""
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, 16_000), path
        samples = memoryview(file.readframes(file.getnframes())).cast("h")
    n = len(samples)
    at = [(2 * k // 3, 2 * k % 3) for k in range(3 * n // 2)]
    between = [(samples[k] * (3 - part) + samples[min(k + 1, n - 1)] * part) // 3 for k, part in at]
    return b"".join(sample.to_bytes(2, "little", signed=True) for sample in between) + bytes(2 * 28_800)


def as_file(data: bytes) -> bytes:
    """Return the same sound as a file."""
    written = io.BytesIO()
    with wave.open(written, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(24_000)
        file.writeframes(data)
    return written.getvalue()


def pieces(data: bytes) -> Iterator[str]:
    """Yield the sound as the client sends it."""
    for at in range(0, len(data), PIECE):
        yield base64.b64encode(data[at : at + PIECE]).decode()


async def transcribed(client: openai.AsyncOpenAI, data: bytes, language: str) -> str:
    """Return the live text of a recording."""
    texts, deltas = [], []
    async with client.realtime.connect(extra_query={"intent": "transcription"}) as connection:
        transcription = {"model": "gpt-live-transcribe", "language": language}
        session = {"type": "transcription", "audio": {"input": {"transcription": transcription}}}
        await connection.session.update(session=session)
        for piece in pieces(data):
            await connection.input_audio_buffer.append(audio=piece)
        await connection.send({"type": "input_audio_buffer.commit", "final": True})
        async for event in connection:
            assert event.type != "error", event
            if event.type == "conversation.item.input_audio_transcription.delta":
                deltas.append(event.delta)
            elif event.type == "conversation.item.input_audio_transcription.completed":
                assert event.transcript == "".join(deltas), (event, deltas)
                deltas.clear()
                texts.append(event.transcript)
    return " ".join(text for text in texts if text)


async def translated(client: openai.AsyncOpenAI, data: bytes, into: str) -> str:
    """Return the live translation of a recording."""
    text = ""
    async with client.realtime.translations.connect(model="gpt-realtime-translate") as connection:
        await connection.session.update(session={"audio": {"output": {"language": into}}})
        for piece in pieces(data):
            await connection.session.input_audio_buffer.append(audio=piece)
        await connection.session.close()
        async for event in connection:
            assert event.type != "error", event
            if event.type == "session.output_transcript.delta":
                text += event.delta
    return text


def distance(one: str, other: str) -> int:
    """Return the letters that have to change."""
    row = list(range(len(other) + 1))
    for nth, letter in enumerate(one, 1):
        before, row[0] = row[0], nth
        for k, expected in enumerate(other, 1):
            before, row[k] = row[k], min(row[k] + 1, row[k - 1] + 1, before + (letter != expected))
    return row[-1]


async def main() -> None:
    """Compare all recordings."""
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else FIXTURES
    client, service = openai.AsyncOpenAI(base_url=f"{URL}/v1", api_key=KEY), Service(URL, KEY)
    for what in "transcriptions", "translations":
        n_equal = n_wrong = n_letters = n_all = 0
        for path in sorted(folder.glob("[ep][an]-*.wav")):
            data = sound(path)
            language, other = ("en", "pa") if path.name.startswith("en-") else ("pa", "en")
            asked = {"lang": language, "with-translation": str(what == "translations").lower()}
            with service.uploaded("speech-recognition", (path.name, as_file(data)), asked) as response:
                file = json.load(response)
            expected = file["transcription" if what == "transcriptions" else "translation"]
            spoken = what == "transcriptions"
            live = await (transcribed(client, data, language) if spoken else translated(client, data, other))
            n_all += 1
            n_equal += live == expected
            n_wrong += distance(live, expected)
            n_letters += len(expected)
            if live != expected:
                print(f"{path.name}: {live!r}, file: {expected!r}")
        print(f"{what}: {n_equal} of {n_all} equal, {100 * n_wrong / n_letters:.2f} % of letters differ")


asyncio.run(main())
