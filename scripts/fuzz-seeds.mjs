// Writes small first inputs for the fuzz targets into fuzz/corpus: recordings of the tests, and one well-formed input
// of each format that chance would take long to find.
//
//   node scripts/fuzz-seeds.mjs
import { mkdirSync, readFileSync, readdirSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const recorded = `${root}crates/amqp/tests/it/recorded/`;

function seed(target, name, ...parts) {
    mkdirSync(`${root}fuzz/corpus/${target}`, { recursive: true });
    writeFileSync(`${root}fuzz/corpus/${target}/seed-${name}`, bytes(...parts));
}

const bytes = (...parts) => Buffer.concat(parts.flat(Infinity).map(part));
const part = (it) => (typeof it === "number" ? Buffer.of(it & 255) : Buffer.from(it));
const u16 = (number) => [number, number >> 8];
const u32 = (number) => [u16(number), u16(number >>> 16)];
const u64 = (number) => Buffer.from(new BigUint64Array([BigInt.asUintN(64, BigInt(number))]).buffer);
const big32 = (number) => bytes(u32(number)).reverse();
const counted32 = (...parts) => [big32(bytes(...parts).length), ...parts];

// AMQP: whole connections, and bytes that follow an open channel. The first byte selects between them, the second is
// the size of the pieces.
const channelOpened = Buffer.of(1, 0, 1, 0, 0, 0, 8, 0, 20, 0, 11, 0, 0, 0, 0, 0xce);
for (const name of readdirSync(recorded)) {
    const stream = readFileSync(recorded + name);
    seed("frames", name, 0, 255, stream);
    const opened = stream.indexOf(channelOpened);
    if (opened >= 0) seed("frames", `opened-${name}`, 1, 255, stream.subarray(opened + 16));
}

const short = (text) => [text.length, text];
const scalars = [
    "V", ["t", 1], ["b", 255], ["B", 255], ["s", 255, 254], ["u", 255, 254], ["I", big32(1)],
    ["i", big32(-1)], ["l", u64(1)], ["f", big32(0x3f800000)], ["d", u64(0x3ff0)],
    ["D", 2, big32(314)], ["S", counted32("text")], ["x", counted32(0, 255)], ["T", u64(0)],
];
const values = [...scalars, ["A", counted32(scalars)], ["F", counted32(short("k"), "V")]];
seed("tables", "all", values.map((value, index) => [short(`name${index}`), value]));
let deep = ["V"];
for (let level = 0; level < 16; level += 1) deep = ["F", counted32(short("n"), deep)];
seed("tables", "deep", short("n"), deep);

[
    "amqp://u:p%40%2F@host:1234/%2Fv?heartbeat=10&frame_max=8192&channel_max=7",
    "amqps://[::1]:99/%2F", "host/v?heartbeat=1", "host:5672/a%20b", "u@h", "host?colour=1",
].forEach((uri, index) => seed("uris", `${index}`, uri));

// Erlang: the terms of the tests, and control messages with two processes and a reference.
const tests = readFileSync(`${root}crates/erlang/src/term/tests.rs`, "latin1");
[...tests.matchAll(/"(131[0-9,]*)"/g)].forEach(([, list], index) =>
    seed("erlang_term", `${index}`, list.split(",").map(Number)));
const atom = (name) => [119, short(name)];
const pid = [88, atom("a@b"), big32(7), big32(0), big32(1)];
const reference = [90, 0, 2, atom("a@b"), big32(1), big32(5), big32(6)];
const small = (number) => [97, number];
const control = (...fields) => [131, 104, fields.length, fields];
const frame = (...parts) => counted32(112, ...parts);
const message = [131, 104, 2, atom("ok"), small(1)];
const controls = [
    [control(small(1), pid, pid)],
    [control(small(2), atom(""), pid), message],
    [control(small(22), pid, pid), message],
    [control(small(6), pid, atom(""), atom("rex")), message],
    [control(small(3), pid, pid, atom("normal"))],
    [control(small(13), pid, pid, atom("token"), atom("normal"))],
    [control(small(19), pid, atom("net_kernel"), reference)],
    [control(small(20), pid, pid, reference)],
    [control(small(21), pid, pid, reference, atom("noproc"))],
    [control(small(35), small(9), pid, pid)],
];
seed("erlang_frames", "all", 255, controls.map((parts) => [frame(...parts), big32(0)]));
seed("erlang_frames", "pieces", 2, controls.map((parts) => frame(...parts)));

// Profiles: one stack in each format.
seed("folded", "one", "scheduler;m:f/1;m:f/1;global::gc;a\\x3bb;vfs_read_[k] 12\n# no\n[wait] 1\r\n");
seed("perf_script", "one",
    "x y 1/2 [001] 1.5: 10 cycles:u: \n\tffffffff813a4413 f+0x2 ([kernel.kallsyms])\n",
    "\t7f $m:f/1+0x2 (/tmp/perf-1.map)\n\t7f [unknown] (/bin/x)\n\n",
    "x 1 1.6: 10 cycles:u: 7f f+0x1 (/bin/x)\n\n");
seed("perf_script", "mapped",
    "x 1 1.5: syscalls:sys_enter_mmap: addr: 0x00000000, len: 0x00800000\n\t7f f (/bin/x)\n\n");

const record = (kind, misc, ...body) =>
    [u32(kind), u16(misc), u16(bytes(...body).length + 8), ...body];
const records = bytes(
    record(3, 0, u32(7), u32(8), "1_scheduler\0\0\0\0\0"),
    record(10, 2, u32(7), u32(7), [0x1000, 0x1000, 0x500, 0, 0, 0].map(u64), "/bin/x\0\0"),
    record(1, 2, u32(7), u32(7), [0x9000, 0x1000, 0].map(u64), "//anon\0\0"),
    record(7, 0, u32(9), u32(7), u32(9), u32(8), u64(1)),
    record(9, 2, u64(0x1010), u32(7), u32(8), [1000, 3, -512, 0x1010, 0x9001].map(u64)),
    record(9, 1, u64(-9999), u32(9), u32(9), [5000, 4, -128, -9999, -512, 0x1010].map(u64)),
    record(3, 1 << 13, u32(9), u32(9), "y\0\0\0\0\0\0\0"),
    record(2, 0, u64(0), u64(3)),
);
const names = bytes(u32(1), u32(64), Buffer.alloc(64), u32(0), u32(8), "cycles\0\0");
const event = [u32(1), u32(64), [0, 1_000_000, 0x27, 0, 0, 0, 0].map(u64)];
const [attributesAt, recordsAt] = [104, 104 + 80];
const end = recordsAt + records.length;
seed("perf_data", "one", "PERFILE2",
    [104, 80, attributesAt, 80, recordsAt, records.length, 0, 0, 1 << 12, 0, 0, 0].map(u64),
    event, [recordsAt, 0].map(u64), records, [end + 16, names.length].map(u64), names);
seed("perf_data", "pipe", "PERFILE2", u64(16), record(64, 0, event), records);

const varint = (number) => (number < 128 ? [number] : [(number & 127) | 128, varint(number >> 7)]);
const field = (tag, ...parts) => [varint((tag << 3) | 2), varint(bytes(...parts).length), ...parts];
const number = (tag, value) => [varint(tag << 3), varint(value)];
const strings = ["", "samples", "count", "main", "thread", "1_scheduler", "/bin/x"];
seed("pprof", "one",
    field(1, number(1, 1), number(2, 2)),
    field(2, field(1, 2, 1, 1), field(2, 5), field(3, number(1, 4), number(2, 5)), field(1000, 3, 5)),
    field(3, number(1, 1), number(2, 4096), number(5, 6)),
    field(4, number(1, 1), number(2, 1), field(4, number(1, 1)), field(4, number(1, 1))),
    field(4, number(1, 2), number(2, 1), number(3, 5000)),
    field(5, number(1, 1), number(2, 3)),
    strings.map((text) => field(6, text)),
    number(9, 1_000), number(10, 2_000), number(12, 1_000), field(11, number(1, 1), number(2, 2)));

// Tables of the VM: those of the emulator itself, and those of a module with one function and one line.
seed("symbol_blob", "emulator", u32(0), u32(0), u32(1), u32(0), u64(0x7f00));
const text = (it) => [u16(it.length + 1), it, 0];
const line = [u64(0), text("m.erl"), u16(1)];
const range = (name, ...lines) =>
    [u32(0), u32(208), u32(lines.length), text(name), u16(0), lines];
// A VM with two schedulers, unchanged and with one word altered.
seed("memory_image", "whole", 1);
seed("memory_image", "altered", 1, u32(40), u64(0x5500));
seed("symbol_blob", "module", u32(1), u32(0), u64(0x7fc0), u32(2), u32(976), text("m"),
    Buffer.alloc(6), range("m::codeHeader"), range("m:f/0-CodeInfoPrologue", line, line));

// Dissectors: the opening, the size of the pieces, and before each piece its sender.
const sent = (how, stream) => Array.from({ length: Math.ceil(stream.length / 256) }, (_, at) =>
    [how, stream.subarray(at * 256, at * 256 + 256)]);
const dissected = (opening, name, how, ...parts) => seed("dissectors", name, opening, 255, sent(how, bytes(...parts)));
for (const name of readdirSync(recorded)) dissected(1, name, 1, readFileSync(recorded + name));
const method = (...payload) => [1, 0, 1, counted32(payload), 0xce];
const published = [
    method(0, 20, 0, 10, 0), method(0, 85, 0, 10, 0), method(0, 60, 0, 40, 0, 0, short("e"), short("key"), 0),
    [2, 0, 1, counted32(0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0x16, 0, 2, short("id"), short("queue")), 0xce],
    [3, 0, 1, counted32("body"), 0xce], [8, 0, 0, 0, 0, 0, 0, 0xce],
];
dissected(1, "amqp-0-9-1", 0, published);
dissected(0, "amqp-0-9-1-middle", 0, "tail of a body\xce", published);
const performative = (kind, code, ...fields) =>
    [big32(bytes(fields).length + 14), 2, kind, 0, 1, 0, 0x53, code, 0xc0, bytes(fields).length + 1, 6, fields];
dissected(2, "amqp-1-0", 0, performative(0, 0x11, 0x40, 0x43), [big32(8), 2, 0, 0, 0],
    performative(0, 0x14, 0x43, 0x52, 1, 0xa0, 1, 7, 0x43, 0x42, 0x42),
    performative(0, 0x15, 0x41, 0x52, 1, 0x40, 0x41, 0, 0x53, 0x24, 0x45));
const streamed = (key, ...content) => counted32(0, key, 0, 1, content);
dissected(3, "stream", 0, streamed(19, big32(2), 0, 5, "PLAIN", counted32("\0u\0p")),
    streamed(2, 1, big32(2), [1, 2].map((id) => [0, 0, 0, 0, 0, 0, 0, id, counted32("body")])), streamed(23));
dissected(4, "mqtt", 0, [0x32, 10, 0, 3, "a/b", 0, 1, "bod"], [0xc0, 0], [0x40, 2, 0, 1]);
dissected(5, "tls", 0, [23, 3, 3, 0, 4, "xxxx"], [21, 3, 3, 0, 2, 1, 0]);

// AMQP 1.0 from a broker: the first byte says whether login and links are done, the second is the size of the pieces.
// A message with all sections, one in three frames, fates of sent messages, credit, an alarm, and all kinds of ends.
const list = (...fields) => [0xc0, bytes(fields).length + 1, fields.length, fields];
const described = (code, value) => [0, 0x53, code, value];
const sized = (...parts) => [big32(bytes(...parts).length + 4), ...parts];
const framed = (channel, code, fields, ...payload) =>
    sized(2, 0, 0, channel, described(code, list(...fields)), payload);
const symbol = (name) => [0xa3, short(name)];
const word = (name) => [0xa1, short(name)];
const mapped = (...pairs) => [0xc1, bytes(pairs).length + 1, pairs.length, pairs];
const [none, yes, no, zero] = [0x40, 0x41, 0x42, 0x43];
const sections = [
    described(0x70, list(yes, [0x50, 4], none, no, [0x52, 1])),
    described(0x72, mapped(symbol("x-stream-offset"), [0x53, 7])),
    described(0x73, list(word("id"), [0xa0, short("user")])),
    described(0x74, mapped(word("rabbitscope-stamp"), [0xa0, 12, "0123456789ab"], word("n"), [0x82, u64(0)])),
    described(0x75, [0xa0, short("body")]),
];
const transfer = (id, more, ...payload) =>
    framed(1, 0x14, [zero, [0x52, id], [0xa0, 1, id], zero, none, more ? yes : no], ...payload);
const refused = (condition) => described(0x1d, list(symbol(condition), word("text")));
const fates = [
    framed(0, 0x15, [yes, zero, [0x52, 3], yes, described(0x24, 0x45)]),
    framed(0, 0x15, [yes, [0x52, 6], none, yes, described(0x25, list(refused("a:b")))]),
    framed(0, 0x15, [yes, [0x52, 4], [0x52, 5], yes, described(0x26, 0x45)]),
];
const credit = (window) => framed(0, 0x13, [[0x52, 9], [0x52, window], zero, [0x52, 9], zero, [0x52, 9], [0x52, 10]]);
const answers = [
    "AMQP\x03\x01\0\0", sized(2, 1, 0, 0, described(0x40, list(symbol("PLAIN")))),
    sized(2, 1, 0, 0, described(0x44, list([0x50, 0]))), "AMQP\0\x01\0\0",
    framed(0, 0x10, [word("b"), none, [0x70, big32(512)], [0x60, 0, 1], [0x70, big32(30_000)], none, none, none, none,
        mapped(symbol("version"), word("4.0.5"))]),
];
seed("amqp10_frames", "login", 0, 255, answers);
seed("amqp10_frames", "refused", 0, 2, answers.slice(0, 2), sized(2, 1, 0, 0, described(0x44, list([0x50, 1]))));
seed("amqp10_frames", "messages", 1, 255, transfer(0, false, sections), transfer(1, true, sections.slice(0, 3)),
    transfer(1, true, sections[3]), transfer(1, false, sections[4]));
seed("amqp10_frames", "fates", 1, 3, fates, credit(0), credit(100), [big32(8), 2, 0, 0, 0]);
seed("amqp10_frames", "ends", 1, 255, framed(1, 0x16, [zero, yes, refused("amqp:resource-deleted")]),
    framed(0, 0x17, [refused("amqp:session:window-violation")]), framed(0, 0x18, [refused("amqp:connection:forced")]));

// MQTT from a broker: the first byte says whether the login is done (1), and the version (2 for 5).
const packet = (first, ...parts) => [first, varint(bytes(...parts).length), ...parts];
const long = (text) => [0, text.length, text];
const user = (name, value) => [0x26, long(name), long(value)];
// The subscription has the first number.
const acknowledged = [2, 3, 5, 4].map((id) => packet(0x40, 0, id));
seed("mqtt_packets", "old", 1, 255, packet(0x90, 0, 1, 1), packet(0x32, long("a/b"), 0, 9, "body"),
    packet(0x38, long("a/b"), "body"), acknowledged, packet(0xd0));
const properties = [[2, big32(60)], [3, long("t/t")], [8, long("r")], [9, long("c")], user("rabbitscope-stamp", "0f".repeat(12)),
    user("a", "b")];
seed("mqtt_packets", "new", 3, 2, packet(0x90, 0, 1, 0, 1),
    packet(0x32, long("a/b"), 0, 9, varint(bytes(properties).length), properties, "body"),
    packet(0x40, 0, 2, 0x10, 0), packet(0x40, 0, 3, 0x97), packet(0xe0, 0x8e, 4, 0x1f, long("x")));
seed("mqtt_packets", "login", 2, 255, packet(0x20, 0, 0, 14, [0x21, 0, 9], [0x22, 0, 16], [0x27, big32(99)], [0x13, 0, 5]));

// Captures: one packet in both formats, and recordings of the tests.
const big16 = (number) => [number >> 8, number];
const segment = [big16(1000), big16(5672), big32(1), big32(1), 0x80, 0x18, 1, 0, 0, 0, 0, 0,
    1, 1, 8, 10, big32(1), big32(2), "body"];
const internet = [0x45, 0, big16(20 + bytes(segment).length), 0, 0, 0x40, 0, 64, 6, 0, 0, 127, 0, 0, 1, 127, 0, 0, 1, segment];
const ethernet = bytes(Buffer.alloc(12), 0x81, 0, 0, 5, 8, 0, internet);
const size = ethernet.length;
seed("captures", "pcap", u32(0xa1b2c3d4), u16(2), u16(4), u64(0), u32(65535), u32(1),
    u32(1), u32(2), u32(size), u32(size), ethernet);
const block = (kind, ...body) => [u32(kind), u32(bytes(body).length + 12), body, u32(bytes(body).length + 12)];
seed("captures", "pcapng", block(0x0a0d0d0a, u32(0x1a2b3c4d), u16(1), u16(0), u64(-1)),
    block(1, u16(1), u16(0), u32(0), u16(9), u16(1), u32(9), u32(0)),
    block(6, u32(0), u32(1), u32(2), u32(size), u32(size), ethernet, Buffer.alloc((4 - (size % 4)) % 4)),
    block(3, u32(size), ethernet, Buffer.alloc((4 - (size % 4)) % 4)),
    block(5, u32(0), u64(0), u16(7), u16(8), u64(3), u32(0)));
seed("captures", "requests", readFileSync(`${root}crates/wire/tests/it/recorded/requests.pcap`));
for (const name of readdirSync(`${root}crates/wire/tests/it/recorded`).filter((name) => name.endsWith(".pcap"))) {
    const capture = readFileSync(`${root}crates/wire/tests/it/recorded/${name}`);
    // The size limit of inputs.
    seed("analysis", name, capture.subarray(0, 65536));
}

// Ten bytes a segment: SYNs, bytes in the wrong order, their acknowledgement, the end.
seed("reassembly", "one", [
    [0x02, 99, 0, 0, 0, 0, 0, 1, 20, 9], [0x92, 99, 0, 100, 0, 0, 0, 1, 20, 9], [0x10, 110, 0, 100, 0, 10, 10, 1, 20, 9],
    [0x10, 100, 0, 100, 0, 10, 10, 1, 20, 9], [0x90, 100, 0, 140, 0, 0, 0, 1, 20, 0], [0x11, 130, 0, 100, 0, 10, 5, 1, 25, 9],
    [0x94, 100, 0, 141, 0, 0, 0, 1, 20, 9]]);

// Updates of two workers in turn: a second of two load threads and of churn, the broker's activity, and the end.
const histograms = (...bins) => [bins, [], bins, [], [], [], [1000, 3]];
const told = (worker, second, draining) => ({
    worker, second: draining ? 0 : second, start: second * 1e9, end: (second + 1) * 1e9, draining, "is-last": draining,
    measured: {
        counts: { published: 500, confirmed: 480, consumed: 470, "client-cpu-nanos": 2e8, "bytes-read": 70000, reads: 30 },
        outstanding: 20, connections: 3, overdue: [0, 0, 0, 0, 0, 0, 1],
        responsiveness: { unanswered: 1, stalled: 0, away: 1000000, unreached: 0 },
        slots: [histograms(180223, 480, 4096, 20), histograms(), histograms(90111, 7, 1048576, 1)],
        churn: [{ open: [2000895, 1], close: [1000447, 1] }], "churn-refusal": null, unstamped: 1, "before-sent": 0,
    },
    "publisher-counts": { publishers: 3, connections: 1 },
});
const change = (at, change) => ({ at, change });
const connected = ["sending", "receiving", "churning"].map((side) => change(0, { connected: { side, count: 1 } }));
const gone = [
    change(11e8, { lost: { side: "sending", reason: "gone" } }), change(13e8, { back: { side: "sending" } }),
    change(14e8, { blocked: { reason: "low on memory" } }), change(15e8, "unblocked"),
    change(16e8, { waited: { since: 12e8 } }),
    change(17e8, { failed: { kind: "not-reconnected", count: 2, reason: "refused" } }),
];
const done = { publishers: 3, consumers: 0, callers: 0, "churn-slots": 1 };
const state = (ended) => ({ done: ended ? done : {}, confirming: 1 - ended / 2, draining: ended / 2, ended });
const tells = (number, intervals, changes, ended) => JSON.stringify({
    number, intervals, changes, "covered-until": (number + 1) * 1e9, state: state(ended),
    ...(ended ? { "cut-short": ["a worker ended its load before the end"], failed: "gone" } : {}),
});
const updates = [[1, [0], connected, 0], [2, [1], gone, 0], [3, [2, 3], [], 2]].map(([number, of, changes, ended]) =>
    tells(number, of.flatMap((second) => [0, 1].map((worker) => told(worker, second, second === 3))), changes, ended));
seed("worker_updates", "run", updates.flatMap((update) => [update, update]).join("\n"));

// Messages of a fleet, and records of its log.
const clock = { boot: "b", "time-namespace": "n" };
const worker = { id: "1f", host: "h", pid: 7, index: 1, version: "0.1.0", clock, "has-broker": true };
const estimate = { "offset-nanos": -5, "error-nanos": 3, pings: 40 };
[
    { kind: "hello", worker, state: { is: "ready", run: "r", load_threads: 2, churn_groups: 1, connections: 40 } },
    { kind: "hello", worker, state: { is: "finished", run: "r", error: "gone", late_nanos: 9, updates: 4 } },
    { kind: "pong", worker: "1f", number: 3, "sent-nanos": 5, "received-nanos": 7, "answered-nanos": 8 },
    { kind: "assign", run: "r", token: "t", scenario: "name = 1", uris: ["amqp://h"], part: 0, of: 2 },
    { kind: "start", run: "r", origin_nanos: 5, run_tag: 6 },
    { kind: "wish", run: "r", ending: true, abort: false, is_empty: false, others_confirmed: true },
    { kind: "begun", run: "r", name: "n", scenario: "s", declared: {}, unmarked: null, "started-unix-nanos": 9, clock,
        members: [{ worker, "load-threads": 2, "churn-groups": 0, connections: 3, clock: estimate }] },
    { kind: "mark", mark: "7" },
].forEach((message, index) => seed("fleet_messages", `${index}`, JSON.stringify(message)));
seed("fleet_messages", "update", JSON.stringify({ kind: "update", run: "r", worker: "1f", number: 3 }), "\n\0bytes");
const written = { messages: 9, sizes: { 40: 9 }, gaps: { 330: 8 }, counts: Array(3).fill({ windows: 20, sum: 9, squares: 9 }) };
const read = { messages: 9, raw: { 300: 9 }, service: { 300: 9 }, polls: {}, unsettled: { 1: 9 } };
const publishers = { members: 1, messages: 36, rate: 9.5, "is-closed": false, "has-bursts": false, window: 4, sizes: { 100: 36 },
    blocks: Array(4).fill(written) };
const readers = { members: 1, messages: 36, rate: 9.5, prefetch: 9, batch: 1, settled: [1, 0, 0], "is-parallel": false,
    "is-polling": false, blocks: Array(4).fill(read) };
seed("likeness", "0", JSON.stringify({ "format-version": 1, seconds: 4, "block-seconds": 1, messages: 72, packets: 9,
    "cpu-seconds": Array(14).fill(0.5), groups: { "publishers-1": { publishers }, "consumers-1": { readers } } }));
