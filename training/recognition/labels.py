"""The label sets of both recognisers, in the order of the models' outputs.

Every label is in NFC. A pair-bindi letter is its base letter followed by the nukta U+0A3C, because NFC never composes
the two (Unicode lists the precomposed letters as composition exclusions).
"""

DIGITS: list[str] = [chr(0x0A66 + k) for k in range(10)]
LETTERS: list[str] = list("ੳਅੲਸਹਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜ")
NUKTA = "\u0a3c"
PAIRS: list[str] = [base + NUKTA for base in "ਸਖਗਜਫਲ"]
ALPHABET: list[str] = LETTERS + PAIRS

# By model id.
SETS: dict[str, list[str]] = {"digits-pa": DIGITS, "letters-pa": ALPHABET}
OPERATIONS: dict[str, str] = {"digits-pa": "digit-recognition", "letters-pa": "alphabet-recognition"}
NOTHING = -1  # in place of a label's index: none of the labels
# Characters that may be sent to a model although they are none of its labels. Look-alikes of labels are left out: ੦ is
# ਠ without its headline.
OTHERS = {"letters-pa": "੧੨੩੪੬੭੯ਇਈਉਊਏਐਔ", "digits-pa": "ਅਸਕਗਘਙਚਛਜਝਞਣਥਫਬਮਯਰਲ"}
