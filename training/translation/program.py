"""Translation by the program `akhar`, as a user has it."""

import subprocess
from collections.abc import Sequence


def translated(akhar: str, texts: Sequence[str], source: str, target: str) -> list[tuple[float | None, str]]:
    """The probability that a translation is about right, and the translation, of each text; languages "pa" and "en".

    The probability is None of a text that has nothing to translate. `akhar` is the program; texts are single lines.
    """
    command = [akhar, "translate", "--confidence", "--from", source, "--to", target]
    given = "".join(f"{text}\n" for text in texts)
    lines = subprocess.run(command, input=given, capture_output=True, text=True, check=True).stdout.splitlines()
    if len(lines) != len(texts):
        raise ValueError(f"{akhar} gave {len(lines)} lines for {len(texts)}")
    rows = [line.partition("\t") for line in lines]
    return [(float(probability) if probability else None, text) for probability, _, text in rows]
