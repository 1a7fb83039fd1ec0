"""Transcribes live with the frameworks for voice agents LiveKit Agents and Pipecat: agents.py RECORDING.

The environment has AKHAR_URL and AKHAR_KEY. RECORDING has one sentence in Panjabi: one channel, 16 bits, 16 kHz. It is
sent at its own pace. Each framework must get the text of the file.
"""

import asyncio
import json
import os
import sys
import wave
from collections.abc import AsyncIterator
from pathlib import Path

from livekit import rtc
from livekit.agents import stt
from livekit.agents.utils import http_context
from livekit.plugins import openai
from pipecat.frames.frames import EndFrame, Frame, InputAudioRawFrame, TranscriptionFrame
from pipecat.pipeline.pipeline import Pipeline
from pipecat.pipeline.worker import PipelineParams, PipelineWorker
from pipecat.processors.frame_processor import FrameDirection, FrameProcessor
from pipecat.services.openai.stt import OpenAIRealtimeSTTService
from pipecat.transcriptions.language import Language
from pipecat.workers.runner import WorkerRunner
from running_service import Service

URL, KEY = os.environ["AKHAR_URL"], os.environ["AKHAR_KEY"]
RATE, PIECE_S, SILENCE_S, LIMIT_S = 16_000, 0.1, 1.5, 60


async def pieces(path: Path) -> AsyncIterator[bytes]:
    """Yield the recording, with silence behind it, as a microphone does."""
    with wave.open(str(path)) as file:
        assert (file.getnchannels(), file.getsampwidth(), file.getframerate()) == (1, 2, RATE), path
        data = file.readframes(file.getnframes()) + bytes(int(SILENCE_S * RATE) * 2)
    size = int(PIECE_S * RATE) * 2
    for at in range(0, len(data), size):
        yield data[at : at + size]
        await asyncio.sleep(PIECE_S)


async def livekit(path: Path) -> str:
    """Return the final text that an agent of LiveKit gets."""
    service = openai.STT(model="gpt-4o-transcribe", language="pa", use_realtime=True, base_url=f"{URL}/v1", api_key=KEY)

    async def speak(stream: stt.SpeechStream) -> None:
        async for piece in pieces(path):
            stream.push_frame(rtc.AudioFrame(piece, RATE, 1, len(piece) // 2))

    async with http_context.open(), service.stream() as stream:
        speaking = asyncio.create_task(speak(stream))
        async for event in stream:
            if event.type == stt.SpeechEventType.FINAL_TRANSCRIPT:
                await speaking
                return event.alternatives[0].text
    raise EOFError("no final text")


class Heard(FrameProcessor):
    """The end of a pipeline, which keeps its final text."""

    def __init__(self) -> None:
        super().__init__()
        self.text = asyncio.get_running_loop().create_future()

    async def process_frame(self, frame: Frame, direction: FrameDirection) -> None:
        """Keep a text, and pass each frame on."""
        await super().process_frame(frame, direction)
        if isinstance(frame, TranscriptionFrame):
            self.text.set_result(frame.text)
        await self.push_frame(frame, direction)


async def pipecat(path: Path) -> str:
    """Return the final text that a pipeline of Pipecat gets."""
    service = OpenAIRealtimeSTTService(
        base_url=URL.replace("http", "ws", 1) + "/v1/realtime",
        api_key=KEY,
        turn_detection={"type": "server_vad"},
        settings=OpenAIRealtimeSTTService.Settings(model="gpt-transcribe", language=Language.PA),
    )
    heard = Heard()
    worker = PipelineWorker(Pipeline([service, heard]), params=PipelineParams(audio_in_sample_rate=RATE))

    async def speak() -> str:
        async for piece in pieces(path):
            await worker.queue_frame(InputAudioRawFrame(piece, RATE, 1))
        text = await heard.text
        await worker.queue_frame(EndFrame())
        return text

    runner = WorkerRunner()
    await runner.add_workers(worker)
    text, _ = await asyncio.gather(speak(), runner.run())
    return text


async def main() -> None:
    """Compare the texts."""
    path = Path(sys.argv[1])
    with Service(URL, KEY).uploaded("speech-recognition", (path.name, path.read_bytes()), {}) as response:
        expected = json.load(response)["transcription"]
    for framework in livekit, pipecat:
        async with asyncio.timeout(LIMIT_S):
            text = await framework(path)
        assert text == expected, (framework.__name__, text, expected)


asyncio.run(main())
