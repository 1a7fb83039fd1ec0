// What a script has that runs beside a page and processes sound. TypeScript's own libraries do not have it.
declare class AudioWorkletProcessor {
  readonly port: MessagePort;
}
declare function registerProcessor(name: string, processor: new () => AudioWorkletProcessor): void;
