// Reads the columns of the page in a worker, so that the page answers meanwhile. Without workers it reads them itself.

import type { Columns } from "./decode.ts";
import { unpack } from "./unpack.ts";

/** Script of the worker, which build.mjs puts here. */
declare const WORKER_SCRIPT: string;

/** The answer of the worker. */
export type Answer = { columns: Columns } | { problem: string };

/** Returns the columns of this page. Fails with a sentence. */
export async function readColumns(): Promise<Columns> {
  const text = document.getElementById("columns")?.textContent ?? "";
  const worker = startWorker();
  if (!worker) return unpack(text);
  try {
    const answer = await ask(worker, text);
    if (!answer) return await unpack(text);
    if ("problem" in answer) throw new Error(answer.problem);
    return answer.columns;
  } finally {
    worker.terminate();
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
function ask(worker: Worker, text: string): Promise<Answer | null> {
  return new Promise((resolve) => {
    worker.onmessage = ({ data }: MessageEvent<Answer>) => resolve(data);
    worker.onerror = (event) => {
      event.preventDefault();
      resolve(null);
    };
    worker.postMessage(text);
  });
}
