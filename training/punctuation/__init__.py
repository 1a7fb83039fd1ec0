"""The tagger that puts danda, comma and question mark between the words of a transcript."""
