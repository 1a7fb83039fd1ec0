"""The shipped files in other programs: what onnx-asr and sherpa-onnx make of a folder of wav clips, and how fast.

    python -m speech.peer --language pa --weights ../models/weights --clips DIR

Prints one JSON line a clip: `peer`, `threads`, `file`, `text`, `seconds` (features, network and greedy decoding, from
samples in memory; the best of `--runs`) and `audio_seconds`. `reference` is this package's own reading of the file.
`--summary` prints instead, for each, the real-time factor and on how many clips its text is the reference's.
Needs requirements-peers.txt.
"""

import argparse
import json
import shutil
import tempfile
import time
from pathlib import Path

import onnxruntime
from scipy.io import wavfile

from .evaluate import Recogniser
from .features import RATE, log_mel
from .world import resampled

PEERS = ("reference", "onnx-asr", "sherpa-onnx")


def laid_out(weights, language, folder):
    """The shipped files under the names that the layout gives them."""
    for name, ending in {"model.onnx": "onnx", "vocab.txt": "vocab.txt", "config.json": "config.json"}.items():
        shutil.copy(Path(weights) / f"speech-{language}.{ending}", Path(folder) / name)
    return Path(folder)


def reference(folder, threads, language):
    recogniser = Recogniser(folder, language, threads=threads)
    return lambda samples: recogniser.greedy(recogniser.log_probs(log_mel(samples)))


def onnx_asr_peer(folder, threads, _language):
    import onnx_asr

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    recogniser = onnx_asr.load_model("nemo-conformer-ctc", folder, sess_options=options)
    return lambda samples: recogniser.recognize(samples, sample_rate=RATE)


def sherpa_peer(folder, threads, _language):
    import sherpa_onnx

    recogniser = sherpa_onnx.OfflineRecognizer.from_nemo_ctc(
        model=str(folder / "model.onnx"), tokens=str(folder / "vocab.txt"), num_threads=threads
    )

    def recognise(samples):
        stream = recogniser.create_stream()
        stream.accept_waveform(RATE, samples)
        recogniser.decode_stream(stream)
        return stream.result.text

    return recognise


def clips(folder):
    """(name, mono samples at 16 kHz) of the wav files."""
    for path in sorted(Path(folder).glob("*.wav")):
        rate, samples = wavfile.read(path)
        samples = samples.astype("float32") / (32768 if samples.dtype.kind == "i" else 1)
        yield path.name, resampled(samples if samples.ndim == 1 else samples.mean(1), rate)


def timed(recognise, sounds, runs):
    """(name, text, seconds spent, seconds of sound) of each clip."""
    recognise(sounds[0][1])  # the first run allocates
    for name, samples in sounds:
        spent = []
        for _ in range(runs):
            start = time.perf_counter()
            text = recognise(samples)
            spent.append(time.perf_counter() - start)
        yield name, " ".join(text.split()), min(spent), len(samples) / RATE


def summary(rows, ours):
    """One line: how fast, and how often the text is the same as `ours`, {file: text}."""
    same = sum(row["text"] == ours[row["file"]] for row in rows)
    seconds, spent = sum(row["audio_seconds"] for row in rows), sum(row["seconds"] for row in rows)
    return (
        f"{rows[0]['peer']}, {rows[0]['threads']} threads: real-time factor {spent / seconds:.5f}, "
        f"the reference's text for {same} of {len(rows)} clips"
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--weights", required=True, help="the folder of the shipped files")
    parser.add_argument("--clips", required=True)
    parser.add_argument("--peers", nargs="+", choices=PEERS, default=PEERS)
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--summary", action="store_true")
    arguments = parser.parse_args()
    sounds, makers = list(clips(arguments.clips)), dict(zip(PEERS, (reference, onnx_asr_peer, sherpa_peer)))
    with tempfile.TemporaryDirectory() as folder:
        folder, ours = laid_out(arguments.weights, arguments.language, folder), {}
        for peer in arguments.peers:
            for threads in arguments.threads:
                recognise = makers[peer](folder, threads, arguments.language)
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
