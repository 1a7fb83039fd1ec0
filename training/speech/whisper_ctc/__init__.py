"""Panjabi speech recognition that starts from Whisper base's encoder: CTC over Gurmukhi letters at 20 ms."""
