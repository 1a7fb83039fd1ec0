"""Sends recordings to a running service and takes its answers."""

import io
import json
import urllib.request
import uuid
import wave
from dataclasses import dataclass
from typing import Any

import numpy as np

from .arrays import AnyFloats
from .features import RATE

TIMEOUT_S = 310


@dataclass
class Answer:
    """A transcription: its text, its segments (`start`, `end`, `transcription`) and the seconds the worker spent."""

    text: str
    segments: list[dict[str, Any]]
    work_s: float


def wav(samples: AnyFloats) -> bytes:
    """Return a wav file of samples in [-1, 1] at 16 kHz, (n,), with 16 bits each."""
    content = io.BytesIO()
    with wave.open(content, "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes((np.clip(samples, -1, 1) * 32767).astype("<i2").tobytes())
    return content.getvalue()


def work_s(timing: str) -> float:
    """Return the worker's seconds of a `Server-Timing` header: decoding and inference."""
    parts = dict(part.strip().split(";dur=") for part in timing.split(",") if ";dur=" in part)
    return sum(float(parts.get(name, 0)) for name in ("decode", "infer")) / 1000


class Client:
    """A running service: `url` such as http://127.0.0.1:8080, `key` an API key."""

    def __init__(self, url: str, key: str) -> None:
        self.url, self.key = f"{url.rstrip('/')}/v1/models/speech-recognition", key

    def transcribe(self, samples: AnyFloats, language: str) -> Answer:
        """Return the answer to one recording. Raises HTTPError where the service refuses it."""
        boundary = uuid.uuid4().hex
        body = b""
        for name, value in (("lang", language), ("with-timestamps", "true")):
            body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="clip.wav"\r\n\r\n'
        body += head.encode() + wav(samples) + f"\r\n--{boundary}--\r\n".encode()
        request = urllib.request.Request(self.url, data=body, method="POST")
        request.add_header("Authorization", f"Bearer {self.key}")
        request.add_header("Content-Type", f"multipart/form-data; boundary={boundary}")
        with urllib.request.urlopen(request, timeout=TIMEOUT_S) as response:
            document = json.load(response)
            timing = response.headers.get("Server-Timing", "")
        return Answer(document["transcription"], document["timestamps"], work_s(timing))
