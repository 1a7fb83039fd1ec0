"""Runs the shipped files in other programs, onnx-asr and sherpa-onnx, on a folder of wav clips.

    python -m speech.peer --language pa --weights ../models/weights --clips DIR

It prints one JSON line a clip: `peer`, `threads`, `file`, `text`, `seconds` (features, network and greedy decoding,
from samples in memory; the best of `--runs`) and `audio_seconds`. The peer `reference` is this package's own code.
`--summary` prints instead, for each, the real-time factor and on how many clips its text equals the reference's.
The packages of requirements-peers.txt are needed.
"""

import argparse
import json
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import onnxruntime
from scipy.io import wavfile

from . import decoding
from .arrays import Floats
from .features import RATE, log_mel
from .recogniser import Recogniser
from .world import resampled

Recognise = Callable[[Floats], str]  # samples at 16 kHz to text


def laid_out(weights: str | Path, language: str, folder: str | Path) -> Path:
    """Copy the shipped files to `folder` under the names of NeMo's export; returns the folder."""
    for name, ending in {"model.onnx": "onnx", "vocab.txt": "vocab.txt", "config.json": "config.json"}.items():
        shutil.copy(Path(weights) / f"{decoding.SHIPPED[language]}.{ending}", Path(folder) / name)
    return Path(folder)


def reference(folder: Path, threads: int, language: str) -> Recognise:
    """Return this package's own recogniser, greedy."""
    recogniser = Recogniser(folder, language, threads=threads)
    return lambda samples: recogniser.greedy(recogniser.log_probs(log_mel(samples)))


def onnx_asr_peer(folder: Path, threads: int, _language: str) -> Recognise:
    """Return onnx-asr's recogniser."""
    import onnx_asr  # only this peer needs it

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    recogniser = onnx_asr.load_model("nemo-conformer-ctc", folder, sess_options=options)
    return lambda samples: recogniser.recognize(samples, sample_rate=RATE)


def sherpa_peer(folder: Path, threads: int, _language: str) -> Recognise:
    """Return sherpa-onnx's recogniser."""
    import sherpa_onnx  # only this peer needs it

    recogniser = sherpa_onnx.OfflineRecognizer.from_nemo_ctc(
        model=str(folder / "model.onnx"), tokens=str(folder / "vocab.txt"), num_threads=threads
    )

    def recognise(samples: Floats) -> str:
        stream = recogniser.create_stream()
        stream.accept_waveform(RATE, samples)
        recogniser.decode_stream(stream)
        return stream.result.text

    return recognise


MAKERS = {"reference": reference, "onnx-asr": onnx_asr_peer, "sherpa-onnx": sherpa_peer}


def clips(folder: str | Path) -> Iterator[tuple[str, Floats]]:
    """Yield the name and the samples, (n,) in [-1, 1], mono, at 16 kHz, of each wav file."""
    for path in sorted(Path(folder).glob("*.wav")):
        rate, samples = wavfile.read(path)
        samples = samples.astype("float32") / (32768 if samples.dtype.kind == "i" else 1)
        yield path.name, resampled(samples if samples.ndim == 1 else samples.mean(1), rate)


def timed(
    recognise: Recognise, sounds: Sequence[tuple[str, Floats]], runs: int
) -> Iterator[tuple[str, str, float, float]]:
    """Yield (name, text, seconds spent, seconds of sound) of each clip, the shortest time of `runs`."""
    recognise(sounds[0][1])  # the first run allocates
    for name, samples in sounds:
        spent = []
        for _ in range(runs):
            start = time.perf_counter()
            text = recognise(samples)
            spent.append(time.perf_counter() - start)
        yield name, " ".join(text.split()), min(spent), len(samples) / RATE


def summary(rows: Sequence[dict[str, Any]], ours: dict[str, str]) -> str:
    """Return one line: the real-time factor, and how often the text equals `ours`, the reference's by file."""
    same = sum(row["text"] == ours[row["file"]] for row in rows)
    seconds, spent = sum(row["audio_seconds"] for row in rows), sum(row["seconds"] for row in rows)
    return (
        f"{rows[0]['peer']}, {rows[0]['threads']} threads: real-time factor {spent / seconds:.5f}, "
        f"the reference's text for {same} of {len(rows)} clips"
    )


def main() -> None:
    """Run every peer with every number of threads that the command line names."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--weights", required=True, help="the folder of the shipped files")
    parser.add_argument("--clips", required=True)
    parser.add_argument("--peers", nargs="+", choices=MAKERS, default=list(MAKERS))
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    sounds = list(clips(arguments.clips))
    ours: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as name:
        folder = laid_out(arguments.weights, arguments.language, name)
        for peer in arguments.peers:
            for threads in arguments.threads:
                recognise = MAKERS[peer](folder, threads, arguments.language)
                rows = [
                    {
                        "peer": peer,
                        "threads": threads,
                        "file": name,
                        "text": text,
                        "seconds": round(spent, 5),
                        "audio_seconds": round(seconds, 3),
                    }
                    for name, text, spent, seconds in timed(recognise, sounds, arguments.runs)
                ]
                ours = ours or {row["file"]: row["text"] for row in rows}
                if arguments.summary:
                    print(summary(rows, ours), flush=True)
                else:
                    print("\n".join(json.dumps(row, ensure_ascii=False) for row in rows), flush=True)


if __name__ == "__main__":
    main()
