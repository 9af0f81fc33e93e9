// Reads columns in a worker, so that the page answers meanwhile. Without workers it reads them itself.

import type { Columns } from "./decode.ts";
import { type Answer, type Question, read, type Unpacked } from "./unpack.ts";

/** Script of the worker, which build.mjs puts here. */
declare const WORKER_SCRIPT: string;

/** Returns the columns of a page's text. Fails with a sentence. */
export async function readText(text: string): Promise<Columns> {
  const reader = new ColumnsReader();
  try {
    return (await reader.read(text)).columns;
  } finally {
    reader.close();
  }
}

/** A worker that reads one after the other. */
export class ColumnsReader {
  /** Started at the first question; null if the browser has none. */
  private worker: Worker | null | undefined;

  /** Reads one question; the previous one has to be answered. Fails with a sentence. */
  async read(question: Question): Promise<Unpacked> {
    if (this.worker === undefined) this.worker = startWorker();
    const answer = this.worker && (await ask(this.worker, question));
    if (!answer) return read(question);
    if ("problem" in answer) throw new Error(answer.problem);
    return answer;
  }

  close(): void {
    this.worker?.terminate();
  }
}

function startWorker(): Worker | null {
  const address = URL.createObjectURL(new Blob([WORKER_SCRIPT], { type: "text/javascript" }));
  try {
    return new Worker(address);
  } catch {
    return null;
  } finally {
    // The browser fetches the script later than this.
    setTimeout(() => URL.revokeObjectURL(address), 10_000);
  }
}

/** Returns the worker's answer; null if the browser refused to run it. */
function ask(worker: Worker, question: Question): Promise<Answer | null> {
  return new Promise((resolve) => {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(null);
    };
    worker.postMessage(question);
  });
}
