"""From log-probabilities to texts: CTC decoding and the language model."""
