"""Golden tokens of the shipped files, for the service's tests.

    python -m translation.golden --models-dir ../models --out ../tests/fixtures/seq2seq/bundled.json

The greedy and the beam search of transformers translate each text alone, with the weights of the files in single
precision. onnxruntime on the files must find the same greedy tokens; otherwise this ends with an error. Ids begin with
`</s>` and the language token and end with `</s>`; where the last `</s>` is missing, the limit was reached.
"""

import argparse
import json
from pathlib import Path

import transformers
from manifests import replace

from . import manifest
from .placeholders import restore
from .reference import Copies, Reference
from .runtime import Runtime

LIMIT = 40
TEXTS = {
    "en": """Hello!
How are you?
What is your name?
My name is Gurpreet.
Where is the railway station?
I want water.
Thank you very much.
Today is Monday.
It is 10:30 now.
I have two brothers and one sister.
The train leaves at 7:45 on 12 March 2025.
how much does this cost
my mother is cooking food in the kitchen
i am going to the market tomorrow
Settings
Turn on Bluetooth
Couldn't connect to Wi‑Fi. Try again.
%1$s of %2$s used
Download Firefox 128.0.3 for Linux
Send an email to info@example.org.
The children ran to their grandmother and told her everything.
Once upon a time, there was a king who had a big dog.
It is raining.
Zürich, Ōsaka and 東京
😀
A
What?! "Really?" (No...)
The weather is very cold today, and the wind is strong.
Please speak slowly; I do not understand Panjabi.
2 + 2 = 4""",
    "pa": """ਸਤਿ ਸ੍ਰੀ ਅਕਾਲ!
ਤੁਸੀਂ ਕਿਵੇਂ ਹੋ?
ਤੁਹਾਡਾ ਨਾਮ ਕੀ ਹੈ?
ਮੇਰਾ ਨਾਮ ਗੁਰਪ੍ਰੀਤ ਹੈ।
ਰੇਲਵੇ ਸਟੇਸ਼ਨ ਕਿੱਥੇ ਹੈ?
ਮੈਨੂੰ ਪਾਣੀ ਚਾਹੀਦਾ ਹੈ।
ਤੁਹਾਡਾ ਬਹੁਤ ਧੰਨਵਾਦ।
ਅੱਜ ਸੋਮਵਾਰ ਹੈ।
ਹੁਣ 10:30 ਵੱਜੇ ਹਨ।
ਮੇਰੇ ਦੋ ਭਰਾ ਅਤੇ ਇੱਕ ਭੈਣ ਹੈ।
ਰੇਲਗੱਡੀ 12 ਮਾਰਚ 2025 ਨੂੰ 7:45 ਵਜੇ ਜਾਂਦੀ ਹੈ।
ਇਸ ਦਾ ਮੁੱਲ ਕਿੰਨਾ ਹੈ
ਮੇਰੀ ਮਾਂ ਰਸੋਈ ਵਿੱਚ ਖਾਣਾ ਬਣਾ ਰਹੀ ਹੈ
ਮੈਂ ਕੱਲ੍ਹ ਬਾਜ਼ਾਰ ਜਾਵਾਂਗਾ
ਸੈਟਿੰਗਾਂ
ਬਲੂਟੁੱਥ ਚਾਲੂ ਕਰੋ
ਵਾਈ-ਫਾਈ ਨਾਲ ਕਨੈਕਟ ਨਹੀਂ ਹੋ ਸਕਿਆ। ਦੁਬਾਰਾ ਕੋਸ਼ਿਸ਼ ਕਰੋ।
%2$s ਵਿੱਚੋਂ %1$s ਵਰਤਿਆ ਗਿਆ
Linux ਲਈ Firefox 128.0.3 ਡਾਊਨਲੋਡ ਕਰੋ
info@example.org ਉੱਤੇ ਈਮੇਲ ਭੇਜੋ।
ਬੱਚੇ ਆਪਣੀ ਦਾਦੀ ਕੋਲ ਗਏ ਅਤੇ ਸਾਰਾ ਕੁਝ ਦੱਸ ਦਿੱਤਾ।
ਇੱਕ ਰਾਜਾ ਸੀ ਜਿਸ ਕੋਲ ਇੱਕ ਵੱਡਾ ਕੁੱਤਾ ਸੀ।
ਮੀਂਹ ਪੈ ਰਿਹਾ ਹੈ।
੧੨ ਕਿਤਾਬਾਂ
ੴ
ਕੀ?! "ਸੱਚਮੁੱਚ?" (ਨਹੀਂ...)
ਅੱਜ ਮੌਸਮ ਬਹੁਤ ਠੰਢਾ ਹੈ ਅਤੇ ਹਵਾ ਤੇਜ਼ ਹੈ।
ਕਿਰਪਾ ਕਰਕੇ ਹੌਲੀ ਬੋਲੋ, ਮੈਨੂੰ ਅੰਗਰੇਜ਼ੀ ਨਹੀਂ ਆਉਂਦੀ।
ਉਹ ਸਕੂਲ ਜਾਂਦੀ ਹੈ
ਦੋ ਅਤੇ ਦੋ ਚਾਰ ਹੁੰਦੇ ਹਨ।""",
}


def case(reference: Reference, runtime: Runtime, text: str, source: str, target: str) -> dict[str, str | list[int]]:
    """The golden of one text. Raises SystemExit where onnxruntime and transformers differ."""
    masked, values = reference.masked(text, source)
    ids, required = reference.source(masked, source), [list(values)]
    greedy = reference.tokens([ids], target, beam=1, limit=LIMIT, required=required)[0]
    beam = reference.tokens([ids], target, limit=LIMIT, required=required)[0]
    rules = Copies(reference.rules, required, target, 1) if reference.rules.active else None
    run = runtime.greedy([ids], [reference.languages[target]], LIMIT, rules)[0]
    if run != greedy:
        raise SystemExit(f"onnxruntime differs on {text!r}: {run} is not {greedy}")
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


def main() -> None:
    """Writes the golden file, one case a line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--models-dir", required=True)
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    folder = Path(arguments.models_dir) / "weights"
    reference, runtime = Reference(folder), Runtime(folder)
    cases = [
        case(reference, runtime, text, source, target)
        for source, target in (("en", "pa"), ("pa", "en"))
        for text in TEXTS[source].splitlines()
    ]
    golden = {
        "model": manifest.MODEL,
        "reference": f"transformers {transformers.__version__}, M2M100ForConditionalGeneration.generate, float32, "
        "weights read from the shipped ONNX files; greedy checked against onnxruntime on the files",
        "generation": {
            "beam": manifest.BEAM,
            "length_penalty": manifest.LENGTH_PENALTY,
            "reverse_weight": manifest.REVERSE_WEIGHT,
            "early_stopping": False,
            "no_repeat_ngram": manifest.NO_REPEAT,
            "max_new_tokens": LIMIT,
            "note": "greedy keeps no_repeat_ngram too; max_new_tokens counts the language token",
        },
    }
    rows = ",\n  ".join(json.dumps(row, ensure_ascii=False, separators=(",", ":")) for row in cases)
    text = f'{json.dumps(golden, ensure_ascii=False, indent=1)[:-2]},\n "cases": [\n  {rows}\n ]\n}}\n'
    json.loads(text)
    replace(Path(arguments.out), text.encode())
    print(arguments.out, len(cases), "texts,", len(text.encode()), "bytes")


if __name__ == "__main__":
    main()
