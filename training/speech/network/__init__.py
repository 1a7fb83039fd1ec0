"""The CTC network of aligner-en: model, training, export."""
