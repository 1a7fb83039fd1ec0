"""The same export in another program: onnx-asr's text for the held-out files beside ours.

    python -m speech.foreign --language pa --model DIR --held DIR/clean
"""

import argparse
import time
from pathlib import Path

import onnx_asr
from scipy.io import wavfile

from .evaluate import Recogniser
from .features import RATE, log_mel


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--language", choices=("pa", "en"), required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--held", required=True)
    arguments = parser.parse_args()
    theirs = onnx_asr.load_model("nemo-conformer-ctc", arguments.model)
    ours = Recogniser(arguments.model, arguments.language)
    same = total = 0
    seconds, spent = 0.0, [0.0, 0.0]
    for path in sorted((Path(arguments.held) / "wav").glob("*.wav")):
        rate, whole = wavfile.read(path)
        samples = whole.astype("float32") / 32768
        start = time.perf_counter()
        text = theirs.recognize(samples, sample_rate=RATE)
        middle = time.perf_counter()
        mine = ours.greedy(ours.log_probs(log_mel(samples)))
        spent = [spent[0] + middle - start, spent[1] + time.perf_counter() - middle]
        seconds += len(samples) / rate
        total += 1
        same += " ".join(text.split()) == mine
    print(f"{same} of {total} texts agree; real-time factors: onnx-asr {spent[0] / seconds:.4f}, "
          f"ours {spent[1] / seconds:.4f}")


if __name__ == "__main__":
    main()
