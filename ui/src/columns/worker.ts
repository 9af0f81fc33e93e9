// The script of the worker: reads what it is sent, and answers with the columns or with a sentence.

import { type Answer, buffersOf, type Question, read } from "./unpack.ts";

const worker = self as unknown as {
  onmessage: (event: MessageEvent<Question>) => void;
  postMessage(answer: Answer, transfer: ArrayBuffer[]): void;
};

worker.onmessage = ({ data }) => {
  read(data).then(
    (unpacked) => worker.postMessage(unpacked, buffersOf(unpacked.columns)),
    (error: unknown) => worker.postMessage({ problem: error instanceof Error ? error.message : String(error) }, []),
  );
};
