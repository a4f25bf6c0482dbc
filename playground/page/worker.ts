// The engine in a thread of its own: whatever a text costs, the page goes on.
import { load, type Engine } from './engine.mjs';

let engine: Promise<Engine> | undefined;

self.onmessage = async ({ data }: MessageEvent<WebAssembly.Module | { id: number; question: string }>) => {
  if (data instanceof WebAssembly.Module) {
    engine = load(data);
    return;
  }
  try {
    self.postMessage({ id: data.id, answer: (await engine)?.(data.question) });
  } catch (error) {
    self.postMessage({ id: data.id, stopped: String(error) });
  }
};
