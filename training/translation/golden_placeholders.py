"""Cases of what is copied, for the service's tests, made by `placeholders`.

python -m translation.golden_placeholders --out ../tests/fixtures/seq2seq/placeholders.json
"""

import argparse
import json
import random
from pathlib import Path

from manifests import replace

from . import placeholders

NAMES = [
    ("Moga", "ਮੋਗਾ", "both"),
    ("Moga", "ਮੋਗੇ", "pa"),
    ("New Delhi", "ਨਵੀਂ ਦਿੱਲੀ", "both"),
    ("Delhi", "ਦਿੱਲੀ", "both"),
    ("delhi", "ਦਿੱਲੀ", "en"),
    ("Karan", "ਕਰਨ", "en"),
    ("Firefox", "Firefox", "en"),
    ("Fatehgarh Sahib", "ਫ਼ਤਹਿਗੜ੍ਹ ਸਾਹਿਬ", "both"),
]
ENGLISH = """It is 6:15 on 14/05/2025, 14-5-2025 or 2025-05-14.
Pay ₹1,500.50, $20, €5 or £7.25; 50% off, 12.5 %.
Call +91 98765 43210, 98765-43210 or 1800 123 4567.
in 2020 500 people, 2 3 and 20 14th
-5°C, +3, −4, 7-9, 2019–20, 1/2, 10x20
the 14th, 5kg, 10am, 10AM, 4G, 64GB, 3D, 5GHz, 2FA
IPv4, COVID-19, mp3, H.264, B2B, A4-size
See https://a.org/x?y=1. Mail me@b.co.in, pay 73@axis! www.x.org/a(b)
firefox.com and mozilla.org/en/ are not example.community
%1$s of %2$d, %s, %d, %@, %%, {{x}} {y} %{z} <TAG> </b> <br/> < 3
%1$s_%2$s, %s_x, %d2, %lu_
%discount, a%s, 100%s, 5%d
Zürich, naïve, 東京 and 😀! Привет мир.
Take \ue000 \ue010 \uf8ff x\ue001y
From New Delhi to delhi's Moga, moga, Fatehgarh Sahib.
Karan uses Firefox's New  Delhi Express_Delhi
१२ ੧੨੩ ٣
no numbers at all, or 0"""
PANJABI = """ਕੀਮਤ ੪੫੦ ਰੁਪਏ, ₹1,500 ਜਾਂ ੧,੫੦੦.੫੦ ਹੈ।
ਕੋਵਿਡ-19, 14ਵੀਂ, 5ਵਾਂ, 10 ਵਜੇ, ੬:੧੫ ਵਜੇ।
Mozilla VPN ਨੂੰ Wi-Fi ਤੋਂ, AT&T ਅਤੇ IPv6।
ਕਰਨ ਮੋਗੇ ਵਿੱਚ, ਮੋਗਾ, ਮੋਗੇਂ, ਨਵੀਂ ਦਿੱਲੀ ਤੇ ਦਿੱਲੀ।
ਫ਼ਤਹਿਗੜ੍ਹ ਸਾਹਿਬ ਤੋਂ firefox.comਤੇ me@b.in।
ੴ ☬ ॐ हिन्दी
ਫ਼ੋਨ +91 98765 43210। %1$s ਵਿੱਚੋਂ {{x}}।
This is English text."""
SIGNS = "012੩੪9 .,:-–+₹$%@/a7ZgbਕਂਾI੍{}<>_😀é東\ue003()'’।"


def case(text: str, language: str, lexicon: placeholders.Lexicon) -> dict[str, object]:
    """A text with its placeholders and what they stand for."""
    masked, values = placeholders.mask(text, language, lexicon)
    return {"language": language, "text": text, "masked": masked, "values": list(values.items())}


def main() -> None:
    """Writes the cases: the lines above, and drawn signs."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", required=True)
    arguments = parser.parse_args()
    lexicon, rng = placeholders.Lexicon(NAMES), random.Random(23)
    cases = [case(text, "en", lexicon) for text in ENGLISH.splitlines()]
    cases += [case(text, "pa", lexicon) for text in PANJABI.splitlines()]
    for k in range(300):
        text = "".join(rng.choices(SIGNS, k=rng.randrange(1, 30)))
        cases.append(case(text, ("en", "pa")[k % 2], lexicon))
    lines = ",\n".join(json.dumps(row) for row in cases)
    text = f'{{"names": {json.dumps(NAMES)}, "cases": [\n{lines}\n]}}\n'
    json.loads(text)
    replace(Path(arguments.out), text.encode())
    print(arguments.out, len(cases), "cases")


if __name__ == "__main__":
    main()
