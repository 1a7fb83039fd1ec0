"""Golden tokens of the shipped files, for the service's tests.

    python -m translation.golden --models-dir ../models --out ../tests/fixtures/seq2seq/bundled.json

The greedy and the beam search of transformers translate each text alone with the shipped files, on ONNX Runtime
(`requirements-fixtures.txt`). Ids begin with `</s>` and the language token and end with `</s>`; without a last `</s>`
the limit was reached.
"""

import json
from pathlib import Path

import transformers
import tyro
from fixtures.golden import write

from . import manifest
from .placeholders import restore
from .reference import Reference

LIMIT = 40
TEXTS: dict[str, list[str]] = json.loads(Path(__file__).with_suffix(".json").read_text("utf-8"))  # by language


def case(reference: Reference, text: str, source: str, target: str) -> dict[str, str | list[int]]:
    """The golden of one text."""
    masked, values = reference.masked(text, source)
    ids, rules = reference.source(masked, source), [(masked, values)]
    greedy = reference.tokens([ids], target, beam=1, limit=LIMIT, masked=rules)[0]
    beam = reference.tokens([ids], target, limit=LIMIT, masked=rules)[0]
    return {
        "source": source,
        "target": target,
        "text": text,
        "encoder_ids": ids,
        "greedy_ids": greedy,
        "greedy_text": restore(reference.text(greedy), values),
        "beam_ids": beam,
        "beam_text": restore(reference.text(beam), values),
    }


def main(models_dir: Path, out: Path) -> None:
    """Writes the golden file, one case a line."""
    folder = models_dir / "weights"
    translator = Reference(folder)
    cases = [
        case(translator, text, source, target)
        for source, target in (("en", "pa"), ("pa", "en"))
        for text in TEXTS[source]
    ]
    reference = f"transformers {transformers.__version__}, ORTModelForSeq2SeqLM.generate on the shipped files"
    write(out, {"model": manifest.MODEL, "reference": reference, "cases": cases})


if __name__ == "__main__":
    tyro.cli(main, description=__doc__)
