// CPU time of processes, for the benches.
import { readdirSync, readFileSync } from "node:fs";

/** CPU time of a process with all its threads in nanoseconds, finer than ticks. */
export function cpuNanos(pid) {
  const threads = readdirSync(`/proc/${pid}/task`);
  return threads.reduce((sum, tid) => sum + Number(readFileSync(`/proc/${pid}/task/${tid}/schedstat`, "utf8").split(" ")[0]), 0);
}
