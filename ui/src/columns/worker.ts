// The script of the worker: unpacks the text that it is sent, and answers with the columns or with a sentence.

import type { Answer } from "./read.ts";
import { buffersOf, unpack } from "./unpack.ts";

const worker = self as unknown as {
  onmessage: (event: MessageEvent<string>) => void;
  postMessage(answer: Answer, transfer: ArrayBuffer[]): void;
};

worker.onmessage = ({ data }) => {
  unpack(data).then(
    (columns) => worker.postMessage({ columns }, buffersOf(columns)),
    (error: unknown) => worker.postMessage({ problem: error instanceof Error ? error.message : String(error) }, []),
  );
};
