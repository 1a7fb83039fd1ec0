"""The label sets, in the order of the models' outputs. NFC: a pair-bindi letter is base + nukta."""

DIGITS = [chr(0x0A66 + k) for k in range(10)]
LETTERS = list("ੳਅੲਸਹਕਖਗਘਙਚਛਜਝਞਟਠਡਢਣਤਥਦਧਨਪਫਬਭਮਯਰਲਵੜ")
NUKTA = "\u0a3c"
PAIRS = [base + NUKTA for base in "ਸਖਗਜਫਲ"]
ALPHABET = LETTERS + PAIRS

SETS = {"digits-pa": DIGITS, "letters-pa": ALPHABET}
OPERATIONS = {"digits-pa": "digit-recognition", "letters-pa": "alphabet-recognition"}

assert len(LETTERS) == 35 and len(ALPHABET) == 41
