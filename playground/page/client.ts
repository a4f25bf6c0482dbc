// Asks the engine in its worker, and starts it anew where it has stopped or does not answer.
import type { About, Answers, Asked } from './answers';

/** Milliseconds that an answer may take. Usual ones take a few. */
const PATIENCE = 20_000;

interface Waiting { done: (answer: string) => void; failed: (error: Error) => void; timer: number }

export class Client {
  private worker: Worker;
  private waiting = new Map<number, Waiting>();
  private next = 0;

  /** `script`: the source of the worker, `module`: what it runs. */
  constructor(private script: string, private module: WebAssembly.Module) {
    this.worker = this.start();
  }

  private start(): Worker {
    const url = URL.createObjectURL(new Blob([this.script], { type: 'text/javascript' }));
    const worker = new Worker(url, { name: 'llsd' });
    worker.postMessage(this.module);
    worker.onmessage = ({ data }: MessageEvent<{ id: number; answer?: string; stopped?: string }>) => {
      URL.revokeObjectURL(url);
      if (data.answer === undefined) {
        this.restart(`llsd stopped at this text (${data.stopped ?? 'no answer'})`);
        return;
      }
      const waiting = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      clearTimeout(waiting?.timer);
      waiting?.done(data.answer);
    };
    worker.onerror = (event) => this.restart(`llsd cannot be started: ${event.message}`);
    return worker;
  }

  /** Gives up what was asked; the next question goes to a new engine. */
  private restart(reason: string): void {
    this.worker.terminate();
    const given = [...this.waiting.values()];
    this.waiting.clear();
    this.worker = this.start();
    for (const { failed, timer } of given) {
      clearTimeout(timer);
      failed(new Error(reason));
    }
  }

  /** Asks; an error says what the user may do about it. */
  async ask<Kind extends keyof Answers>(ask: Kind, about?: About, more?: Asked): Promise<Answers[Kind]> {
    const id = this.next++;
    const answer = await new Promise<string>((done, failed) => {
      const late = () => this.restart(`llsd has not answered within ${PATIENCE / 1000} seconds, and was stopped`);
      this.waiting.set(id, { done, failed, timer: window.setTimeout(late, PATIENCE) });
      this.worker.postMessage({ id, question: JSON.stringify({ ask, ...about, ...more }) });
    });
    const { ok, error } = JSON.parse(answer) as { ok: Answers[Kind]; error?: string };
    if (error !== undefined) throw new Error(error);
    return ok;
  }
}
