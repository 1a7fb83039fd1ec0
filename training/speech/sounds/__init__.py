"""Sound: recording conditions, log-mel features and their augmentation."""
