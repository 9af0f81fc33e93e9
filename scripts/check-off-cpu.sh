#!/bin/sh
# Time blocked in fsync as `profile --event off-cpu` tells it, against bpftrace, of a throwaway broker with a
# quorum queue under load. As root, with bpftrace and a mounted tracefs; results go to the terminal and into
# docs/profiling.md.
set -eu
cd "$(dirname "$0")/.."
program=${PROGRAM:-target/release/rabbitscope}
seconds=${SECONDS_RECORDED:-12}
work=$(mktemp -d)
name=
finish() {
    [ -z "$name" ] || "$program" broker stop "$name" >/dev/null
    rm -rf "$work"
}
trap finish EXIT
trap 'exit 130' INT TERM

field() { node -p "JSON.parse(require('fs').readFileSync('$work/broker.json'))['$1']"; }
"$program" broker start --json >"$work/broker.json"
name=$(field name)
pid=$(field pid)
RABBITSCOPE_URI=$(field uri)
export RABBITSCOPE_URI

cat >"$work/load.toml" <<END
name = "quorum"
[run]
duration = "$((seconds + 14))s"
[[queues]]
name = "q"
type = "quorum"
[[publishers]]
queue = "q"
rate = 500
confirm-window = 20
[[consumers]]
queue = "q"
prefetch = 100
END

# What a thread slept in, by the kernel's stack, from leaving the CPU until somebody woke it.
cat >"$work/blocked.bt" <<'END'
tracepoint:sched:sched_switch /pid == $1 && (args->prev_state & 255) != 0/ {
  @left[tid] = nsecs;
  @where[tid] = kstack(24);
}
tracepoint:sched:sched_wakeup /@left[args->pid]/ {
  @blocked[@where[args->pid]] = sum((nsecs - @left[args->pid]) / 1000);
  delete(@left[args->pid]);
  delete(@where[args->pid]);
}
END { clear(@left); clear(@where); }
END

"$program" run "$work/load.toml" --out "$work/out" >/dev/null 2>&1 &
load=$!
sleep 6
bpftrace "$work/blocked.bt" "$pid" >"$work/bpftrace.txt" 2>"$work/bpftrace.err" &
tracer=$!
sleep 3
kill -0 "$tracer" || { cat "$work/bpftrace.err" >&2; exit 1; }
"$program" profile --pid "$pid" --no-names --event off-cpu --duration "${seconds}s" \
    --json -o "$work/off.folded" >"$work/profile.json"
kill -INT "$tracer"
wait "$tracer" || true
wait "$load" || true

node - "$work" <<'END'
const { readFileSync } = require("node:fs");
const read = (name) => readFileSync(`${process.argv[2]}/${name}`, "utf8");
// Sleeps of threads that wait for work or for a lock, and all others.
const kind = (stack) => /do_fsync/.test(stack) ? "fsync" : /futex|poll/.test(stack) ? "waits for work, locks" : "other";
const sums = (pairs) => pairs.reduce((all, [key, value]) => ({ ...all, [key]: (all[key] ?? 0) + value }), {});
const traced = [...read("bpftrace.txt").matchAll(/@blocked\[([^\]]*)\]: (\d+)/g)];
const theirs = sums(traced.map(([, stack, micros]) => [kind(stack), Number(micros) / 1e6]));
const lines = read("off.folded").trim().split("\n").map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ")))]);
const blocked = lines.filter(([stack]) => stack.split(";")[1] === "[blocked]");
const ours = sums(blocked.map(([stack, nanos]) => [kind(stack), nanos / 1e9]));
const share = (of, rest) => (100 * of.fsync / (of.fsync + (of.other ?? 0) + rest)).toFixed(1);
console.log("bpftrace, s:", theirs, "fsync", share(theirs, 0), "% without waits for work and locks");
console.log("rabbitscope, s blocked:", ours, "fsync", share(ours, ours["waits for work, locks"] ?? 0), "%, without locks", share(ours, 0), "%");
const [{ waits, hottest }] = JSON.parse(read("profile.json"));
console.log("rabbitscope:", waits, hottest.slice(0, 3));
END
