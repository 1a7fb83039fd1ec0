"""The program `akhar`, by which training and evaluation see what the service sees.

`akhar models features --stream KIND` answers requests on its standard input with replies on its standard output. KIND
is `pictures` (see `recognition.pool`), or one of the following, in which a request is a line of JSON, then as many
little-endian f32 as its field `n_values` says. A reply has the same form. The files named here list the requests.

ctc        the text of log-probabilities, and the frames of a text's units (`inference/src/speech/ctc/stream.rs`)
sound      the log-mel features of samples, and their normalisation (`inference/src/speech/features/stream.rs`)
text       what a translation copies of a text, and the scores of what it may continue with
           (`inference/src/seq2seq/stream.rs`)
"""

import json
import subprocess
from collections.abc import Mapping, Sequence
from threading import Lock
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from running_service import program


def features(kind: str) -> list[str]:
    """The command of a stream."""
    return [program(), "models", "features", "--stream", kind]


class Stream:
    """The program as a child process that answers requests one after the other. Threads may share it."""

    def __init__(self, kind: str) -> None:
        process = subprocess.Popen(features(kind), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        if process.stdin is None or process.stdout is None:
            raise RuntimeError("the program has no pipes")
        self.requests, self.replies, self.lock = process.stdin, process.stdout, Lock()

    def ask(self, request: Mapping[str, Any], values: ArrayLike = ()) -> tuple[dict[str, Any], NDArray[np.float32]]:
        """The reply to a request, and its values. Raises RuntimeError where the program refuses the request."""
        given = np.ascontiguousarray(values, "<f4")
        line = json.dumps({**request, "n_values": given.size}) + "\n"
        with self.lock:
            try:
                self.requests.write(line.encode())
                self.requests.write(given.data)
                self.requests.flush()
                reply = json.loads(self.replies.readline())
                raw = self.replies.read(4 * reply["n_values"])
            except (BrokenPipeError, json.JSONDecodeError) as error:
                raise RuntimeError("the program stopped") from error
        return reply, np.frombuffer(raw, "<f4").copy()


def translated(texts: Sequence[str], source: str, target: str) -> list[tuple[float | None, str]]:
    """The probability that a translation is about right, and the translation, of each text; languages "pa" and "en".

    The probability is None of a text that has nothing to translate. Texts are single lines.
    """
    command = [program(), "translate", "--confidence", "--from", source, "--to", target]
    given = "".join(f"{text}\n" for text in texts)
    lines = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout.splitlines()
    if len(lines) != len(texts):
        raise ValueError(f"{command[0]} gave {len(lines)} lines for {len(texts)}")
    rows = [line.partition("\t") for line in lines]
    return [(float(probability) if probability else None, text) for probability, _, text in rows]
