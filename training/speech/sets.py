"""The titles of the evaluation sets: `speech.evaluate` writes them with its figures."""

CLEAN, WORN = "held-out sentences, clean", "held-out sentences, worn"
FOLDS = "real digits, speakers never heard"  # each read by the fold that was trained without its speaker
ONE_BY_ONE = "single words of real digits, speakers never heard"
READING = "real reading"
