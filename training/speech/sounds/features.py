"""Log-mel features by the program: mono samples at 16 kHz in, (frames, 80) out, 10 ms a frame.

A network takes them as NeMo or as Whisper computes them, its front end.
"""

import json
from functools import cache
from pathlib import Path
from typing import Any

import program

from ..arrays import AnyFloats, Floats

RATE = 16000  # Hz
MELS = 80
NEMO, WHISPER = "nemo", "whisper"


@cache
def global_cmvn() -> dict[str, Any]:
    """Return mean (80) and deviation (80) of average speech, measured once, as a model's config.json has them.

    A recording with fewer than `frames` frames is normalised as if average speech filled it up to so many.
    """
    found: dict[str, Any] = json.loads((Path(__file__).parent / "cmvn.json").read_text())
    return found


@cache
def _stream() -> program.Stream:
    stream = program.Stream("sound")
    stream.ask({"step": "global-cmvn", **global_cmvn()})
    return stream


def log_mel(samples: AnyFloats, front_end: str = NEMO) -> Floats:
    """Return the natural logarithm of the mel power, (n // 160, 80), not yet normalised; `samples`: (n,) in [-1, 1]."""
    return _stream().ask({"step": "log-mel", "front_end": front_end}, samples)[1].reshape(-1, MELS)


def normalised(mel: AnyFloats, front_end: str = NEMO) -> Floats:
    """Return the network's input, (frames, 80), of what `log_mel` gave, which may have been changed since."""
    return _stream().ask({"step": "normalise", "front_end": front_end}, mel)[1].reshape(-1, MELS)
