"""Sends recordings to a running service and takes its answers."""

import http.client
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from running_service import Service

from ..arrays import AnyFloats
from ..data.clips import wav

DOUBT = "low confidence: the transcription"  # how the warning begins (inference/src/speech/words/warning.rs)


@dataclass
class Answer:
    """A transcription: its text, its segments (`start`, `end`, `transcription`) and the seconds the worker spent.

    `language`: what was detected, if that was asked for.
    """

    text: str
    segments: list[dict[str, Any]]
    work_s: float
    language: str = ""


def work_s(timing: str) -> float:
    """Return the worker's seconds of a `Server-Timing` header: decoding and inference."""
    parts = dict(part.strip().split(";dur=") for part in timing.split(",") if ";dur=" in part)
    return sum(float(parts.get(name, 0)) for name in ("decode", "infer")) / 1000


class Client(Service):
    """A running service that transcribes."""

    def _sent(
        self, samples: AnyFloats, language: str, terms: Sequence[str] = (), **headers: str
    ) -> http.client.HTTPResponse:
        """Send a recording."""
        fields = {"lang": language, "with-timestamps": "true", "keyterms": terms}
        return self.uploaded("speech-recognition", ("clip.wav", wav(samples)), fields, **headers)

    def written(self, samples: AnyFloats, language: str) -> str:
        """Return the text of one recording with its numbers in figures. Raises HTTPError where it is refused."""
        fields = {"lang": language, "format": "written"}
        with self.uploaded("speech-recognition", ("clip.wav", wav(samples)), fields) as response:
            text: str = json.load(response)["transcription"]
        return text

    def transcribe(self, samples: AnyFloats, language: str, terms: Sequence[str] = ()) -> Answer:
        """Return the answer to one recording with key terms. Raises HTTPError where the service refuses it."""
        with self._sent(samples, language, terms) as response:
            document = json.load(response)
            timing = response.headers.get("Server-Timing", "")
        return Answer(document["transcription"], document["timestamps"], work_s(timing), document.get("language", ""))

    def doubts(self, samples: AnyFloats, language: str) -> bool:
        """Return whether the service warns that the text is probably wrong; only the document of a job says it."""
        with self._sent(samples, language, Prefer="respond-async") as response:
            document, path = json.load(response), response.headers["Location"]
        while document["state"] in ("queued", "running"):
            with self.opened(f"{path}?wait=60") as response:
                document = json.load(response)
        return any(warning.startswith(DOUBT) for warning in document.get("warnings", []))
