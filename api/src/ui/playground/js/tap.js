// Runs beside the page and hands it the sound of the microphone, some milliseconds at a time.

class Tap extends AudioWorkletProcessor {
  /** @param {Float32Array[][]} inputs */
  process([input]) {
    const samples = input?.[0];
    if (samples) this.port.postMessage(samples.slice());
    return true;
  }
}

registerProcessor("tap", Tap);
