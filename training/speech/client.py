"""Sends recordings to a running service and takes its answers."""

import http.client
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
PATH = "/v1/models/speech-recognition"
DOUBT = "low confidence: the transcription"  # how the warning begins (inference/src/speech/warning.rs)


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
        self.host, self.key = url.rstrip("/"), key

    def _opened(self, path: str, body: bytes | None = None, **headers: str) -> http.client.HTTPResponse:
        """Send a request with the key; `headers`: the rest, with underscores for hyphens."""
        request = urllib.request.Request(self.host + path, data=body, method="POST" if body else "GET")
        request.add_header("Authorization", f"Bearer {self.key}")
        for name, value in headers.items():
            request.add_header(name.replace("_", "-"), value)
        return urllib.request.urlopen(request, timeout=TIMEOUT_S)

    def _sent(self, samples: AnyFloats, language: str, **headers: str) -> http.client.HTTPResponse:
        """Send a recording."""
        boundary = uuid.uuid4().hex
        body = b""
        for name, value in (("lang", language), ("with-timestamps", "true")):
            body += f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="file"; filename="clip.wav"\r\n\r\n'
        body += head.encode() + wav(samples) + f"\r\n--{boundary}--\r\n".encode()
        return self._opened(PATH, body, Content_Type=f"multipart/form-data; boundary={boundary}", **headers)

    def transcribe(self, samples: AnyFloats, language: str) -> Answer:
        """Return the answer to one recording. Raises HTTPError where the service refuses it."""
        with self._sent(samples, language) as response:
            document = json.load(response)
            timing = response.headers.get("Server-Timing", "")
        return Answer(document["transcription"], document["timestamps"], work_s(timing))

    def doubts(self, samples: AnyFloats, language: str) -> bool:
        """Return whether the service warns that the text is probably wrong; only the document of a job says it."""
        with self._sent(samples, language, Prefer="respond-async") as response:
            document, path = json.load(response), response.headers["Location"]
        while document["state"] in ("queued", "running"):
            with self._opened(f"{path}?wait=60") as response:
                document = json.load(response)
        return any(warning.startswith(DOUBT) for warning in document.get("warnings", []))
