"""How the service decodes each language: the constants that go into a model's manifest."""

# What the shipped files of a language are called in models/weights. The English network gives the words of another
# model, speech-en, their times.
SHIPPED = {"pa": "speech-pa", "en": "aligner-en"}

TUNED = {"pa": (0.9, 1.2), "en": (0.5, 0.8)}  # weight of the language model and bonus for each unit; chosen on `dev`
WIDTH = 24  # prefixes that the beam search keeps
MIN_CONFIDENCE = {"pa": 0.3, "en": 0.31}  # noise lies below; measured by `speech.confidence`
