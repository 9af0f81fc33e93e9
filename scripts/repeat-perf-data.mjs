// Repeats the samples of a perf.data up to a number, with increasing times. Everything else occurs once, before them.
// For make bench-profile.
//
//   node scripts/repeat-perf-data.mjs IN OUT SAMPLES
import { closeSync, openSync, readFileSync, writeSync } from "node:fs";

const [, , input, output, wanted] = process.argv;
const file = readFileSync(input);
if (file.toString("latin1", 0, 8) !== "PERFILE2") throw new Error(`${input} is no perf.data`);
const number = (at) => Number(file.readBigUInt64LE(at));

const attributesAt = number(24);
const [recordsAt, recordsSize] = [number(40), number(48)];
const recordsEnd = recordsAt + recordsSize;

// perf_event_attr: the bits of sample_type that come before the time.
const sampleType = file.readBigUInt64LE(attributesAt + 24);
const before = [1n << 16n, 1n, 2n].filter((bit) => sampleType & bit).length;
if (!(sampleType & 4n)) throw new Error("samples without a time");
const timeAt = 8 + 8 * before;

const [SAMPLE, FINISHED_ROUND] = [9, 68];
const once = [];
const samples = [];
for (let at = recordsAt; at < recordsEnd; ) {
    const [type, size] = [file.readUInt32LE(at), file.readUInt16LE(at + 6)];
    if (type === SAMPLE) samples.push([at, size]);
    else if (type !== FINISHED_ROUND) once.push(file.subarray(at, at + size));
    at += size;
}
const time = (at) => file.readBigUInt64LE(at + timeAt);
samples.sort(([a], [b]) => (time(a) < time(b) ? -1 : 1));
const first = time(samples[0][0]);
const length = time(samples.at(-1)[0]) - first + 1n;

const round = Buffer.alloc(8);
round.writeUInt32LE(FINISHED_ROUND, 0);
round.writeUInt16LE(8, 6);

const out = openSync(output, "w");
const header = Buffer.from(file.subarray(0, recordsAt));
writeSync(out, header);
let written = 0;
const write = (bytes) => {
    for (let done = 0; done < bytes.length; ) done += writeSync(out, bytes, done);
    written += bytes.length;
};
// Records of processes and mappings must precede the first sample.
write(Buffer.concat([...once, round]));
const whole = Buffer.concat(samples.map(([at, size]) => file.subarray(at, at + size)));
let count = 0;
for (let turn = 0n; count < Number(wanted); turn += 1n) {
    let at = 0;
    let taken = 0;
    for (const [, size] of samples) {
        if (count + taken >= Number(wanted)) break;
        whole.writeBigUInt64LE(time(samples[taken][0]) + turn * length, at + timeAt);
        at += size;
        taken += 1;
    }
    write(Buffer.concat([whole.subarray(0, at), round]));
    count += taken;
}

// The sections behind the records move.
const tail = Buffer.from(file.subarray(recordsEnd));
const moved = BigInt(written - recordsSize);
const features = [72, 80, 88, 96].flatMap((at) => [...file.readBigUInt64LE(at).toString(2)]);
const sections = features.filter((bit) => bit === "1").length;
for (let section = 0; section < sections; section++) {
    tail.writeBigUInt64LE(tail.readBigUInt64LE(section * 16) + moved, section * 16);
}
write(tail);
const size = Buffer.alloc(8);
size.writeBigUInt64LE(BigInt(written - tail.length));
writeSync(out, size, 0, 8, 48);
closeSync(out);
console.log(`${count} samples, ${recordsAt + written} bytes`);
