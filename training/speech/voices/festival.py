"""festival as a child process: a list of texts in, samples and word times out."""

import subprocess
import tempfile
import wave
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..arrays import Floats

Spoken = tuple[Floats, int, list[tuple[float, float, str]]]  # samples, rate in Hz, (start, end, word) in seconds
BRITISH = ("rab_diphone", "don_diphone")  # their own lexicon is not free; british.scm replaces it
SCRIPT = """
(voice_{voice})
{setup}
(define (one name text stretch)
  (Parameter.set 'Duration_Stretch stretch)
  (let ((u (utt.synth (eval (list 'Utterance 'Text text)))))
    (utt.save.wave u (string-append name ".wav"))
    (let ((f (fopen (string-append name ".words") "w")))
      (mapcar (lambda (w) (format f "%s %s %s\\n" (item.feat w "word_start") (item.feat w "word_end")
                                  (item.name w)))
              (utt.relation.items u 'Word))
      (fclose f))))
"""


def read(path: Path) -> tuple[Floats, int]:
    """Return the samples in [-1, 1], (n,), and the rate in Hz of a 16-bit wav file."""
    with wave.open(str(path)) as file:
        raw = file.readframes(file.getnframes())
        return np.frombuffer(raw, "<i2").astype(np.float32) / np.float32(32768), file.getframerate()


def say(
    texts: Sequence[str], voice: str, stretches: Sequence[float], setup: str = "", before: Sequence[str] | None = None
) -> list[Spoken | None]:
    """Speak each text; None stands for a text at which festival failed.

    `stretches[k]` scales the duration of text k. `setup` is Scheme that runs once after the voice is chosen;
    `before[k]` is Scheme that runs before text k.
    """
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        out: list[Spoken | None] = []
        first = 0
        while first < len(texts):
            script = f'(load "{Path(__file__).with_name("british.scm")}")' if voice in BRITISH else ""
            script += SCRIPT.format(voice=voice, setup=setup)
            for k in range(first, len(texts)):
                clean = texts[k].replace("\\", " ").replace('"', " ")
                script += before[k] + "\n" if before else ""
                script += f'(one "{folder}/{k}" "{clean}" {stretches[k]:.3f})\n'
            (folder / "script.scm").write_text(script)
            subprocess.run(["festival", "-b", str(folder / "script.scm")], capture_output=True, check=False)
            k = first
            while k < len(texts) and (folder / f"{k}.words").exists():
                rows = [line.split(" ", 2) for line in (folder / f"{k}.words").read_text().splitlines()]
                words = [(float(r[0]), float(r[1]), r[2]) for r in rows if len(r) == 3]
                out.append((*read(folder / f"{k}.wav"), words))
                (folder / f"{k}.wav").unlink()
                k += 1
            if k < len(texts):
                out.append(None)  # festival stopped at this text: start it again with the next
                k += 1
            first = k
        return out
