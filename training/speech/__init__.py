"""Speech recognition: corpora spoken by synthesisers, an acoustic model with CTC, a small language model."""
