"""The handwriting generator: training, export and measurement of `models/weights/handwriting-pa.onnx`."""
