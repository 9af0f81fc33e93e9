// Requests the list of queues in several ways in turn, or reports the measurements. For bench-queues.sh.
import { spawn } from "node:child_process";
import { appendFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import http from "node:http";
import { cpus, release, totalmem } from "node:os";

const BEGIN = "<!-- made by make bench-queues: begin -->";
const END = "<!-- made by make bench-queues: end -->";
const ONE_SHOT_ROUNDS = 10;
const NAMES = {
  management: "management plugin, `/api/queues`",
  "management-totals": "the same, `?disable_stats=true&enable_queue_totals=true`",
  service: "`rabbitscope queues --listen`",
  plugin: "plugin `rabbitmq_queue_info`",
  "one-shot": "`rabbitscope queues --json`, start and connection included",
};

const agent = new http.Agent({ keepAlive: true, maxSockets: 1 });
// The broker's own login, as bench.sh leaves it.
const { username, password } = new URL(process.env.RABBITSCOPE_URI ?? "amqp://");
const authorization = "Basic " + Buffer.from(`${username}:${decodeURIComponent(password)}`).toString("base64");

/** Measures from the request to the last byte of the answer, without parsing it. */
function ask(url) {
  return new Promise((resolve, reject) => {
    const start = process.hrtime.bigint();
    const sent = http.request(url, { agent, headers: { authorization } }, (answer) => {
      const chunks = [];
      answer.on("data", (chunk) => chunks.push(chunk));
      answer.on("end", () => {
        const ms = Number(process.hrtime.bigint() - start) / 1e6;
        const body = Buffer.concat(chunks);
        if (answer.statusCode === 200) resolve({ ms, body });
        else reject(new Error(`${url}: ${answer.statusCode} ${body}`));
      });
    });
    // The management listener cuts off requests after a minute; that is a result, too.
    sent.on("error", (error) => resolve({ ms: Number(process.hrtime.bigint() - start) / 1e6, failed: error.code ?? String(error) }));
    sent.end();
  });
}

function run(command) {
  return new Promise((resolve) => {
    const start = process.hrtime.bigint();
    const child = spawn(command[0], command.slice(1), { stdio: ["ignore", "pipe", "inherit"] });
    const chunks = [];
    child.stdout.on("data", (chunk) => chunks.push(chunk));
    child.on("close", (code) => {
      const ms = Number(process.hrtime.bigint() - start) / 1e6;
      if (code === 0) resolve({ ms, body: Buffer.concat(chunks) });
      else resolve({ ms, failed: `exit code ${code}` });
    });
  });
}

/** Refuses an answer that lacks queues. */
function checked(name, { ms, body, failed }, queues) {
  if (failed) return { name, ms, failed };
  const answer = JSON.parse(body);
  const found = Array.isArray(answer) ? answer : answer.queues;
  if (found.length < queues) throw new Error(`${name}: ${found.length} queues instead of ${queues}`);
  return { name, ms, bytes: body.length, "on-node-ms": answer["took-on-node-ms"], "took-ms": answer["took-ms"] };
}

const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

async function measure(file, rounds, queues, ...rest) {
  const split = rest.indexOf("--");
  const urls = rest.slice(0, split).map((pair) => [pair.slice(0, pair.indexOf("=")), pair.slice(pair.indexOf("=") + 1)]);
  rmSync(file, { force: true });
  const keep = (round, measured) => appendFileSync(file, JSON.stringify({ round, ...measured }) + "\n");
  for (const [name, url] of urls) console.error(`first, not counted: ${JSON.stringify(checked(name, await ask(url), queues))}`);
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < urls.length; at++) {
      // The order alternates, and a pause separates each request from the effects of the previous one.
      const [name, url] = urls[(at + round) % urls.length];
      await pause(200);
      keep(round, checked(name, await ask(url), queues));
    }
  }
  for (let round = 0; round < ONE_SHOT_ROUNDS; round++) {
    keep(round, checked("one-shot", await run(rest.slice(split + 1)), queues));
    await pause(200);
  }
  agent.destroy();
}

const lines = (file) => readFileSync(file, "utf8").trim().split("\n").map((line) => JSON.parse(line));

function quantile(values, share) {
  const sorted = [...values].sort((left, right) => left - right);
  return sorted[Math.min(sorted.length - 1, Math.ceil(sorted.length * share) - 1)];
}

function load(series) {
  const rows = lines(series).filter((row) => !row.warming && row["interval-nanos"] > 5e8);
  const median = (of) => quantile(rows.map(of), 0.5);
  const rate = median((row) => (row.published * 1e9) / row["interval-nanos"]);
  return `${Math.round(rate).toLocaleString("en-US")} messages a second published`;
}

function report(file, series, document) {
  const all = lines(file);
  // A request that was cut off waited at least this long.
  const of = (name) => all.filter((row) => row.name === name).map((row) => row.ms);
  const failed = all.filter((row) => row.failed);
  const ms = (value) => (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString("en-US"));
  const base = [0.5, 0.99].map((share) => quantile(of("management"), share));
  const table = Object.entries(NAMES).map(([name, what]) => {
    const times = of(name);
    const [p50, p99] = [0.5, 0.99].map((share) => quantile(times, share));
    const bytes = quantile(all.filter((row) => row.name === name && !row.failed).map((row) => row.bytes), 0.5);
    const ratio = `${(base[0] / p50).toFixed(1)} / ${(base[1] / p99).toFixed(1)}`;
    return `| ${what} | ${ms(p50)} | ${ms(p99)} | ${ms(Math.max(...times))} | ${ratio} | ${Math.round(bytes / 1000)} kB | ${times.length} |`;
  });
  const onNode = quantile(all.filter((row) => row.name === "service" && !row.failed).map((row) => row["on-node-ms"]), 0.5);
  const machine = `${cpus().length} CPUs (${cpus()[0].model.trim()}), ${(totalmem() / 2 ** 30).toFixed(1)} GiB, Linux ${release()}`;
  const section = [
    BEGIN,
    `Measured ${new Date().toISOString().slice(0, 10)} on ${machine}, broker, load and those who ask together; ${load(series)}.`,
    "",
    "| who is asked for all queues | p50, ms | p99, ms | most, ms | p50 / p99 of `/api/queues` to it | answer | requests |",
    "| --- | ---: | ---: | ---: | ---: | ---: | ---: |",
    ...table,
    "",
    `Of a request to the service the node took ${onNode.toFixed(1)} ms (median).` +
      (failed.length ? ` Cut off without an answer: ${failed.map((row) => `${row.name} after ${Math.round(row.ms)} ms`).join(", ")}.` : ""),
    END,
  ].join("\n");
  console.log(section.split("\n").slice(1, -1).join("\n"));
  if (!document) return;
  const text = readFileSync(document, "utf8");
  const [before, after] = [text.indexOf(BEGIN), text.indexOf(END)];
  if (before < 0 || after < before) throw new Error(`${document} has no place for the figures`);
  writeFileSync(document, text.slice(0, before) + section + text.slice(after + END.length));
}

const [command, file, ...rest] = process.argv.slice(2);
if (command === "measure") await measure(file, Number(rest[0]), Number(rest[1]), ...rest.slice(2));
else report(file, ...rest);
