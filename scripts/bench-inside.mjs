// Load, probes and samples of bench-inside.sh, and its section of docs/measurements/inside.md.

import { execFileSync, spawn } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { cpus, release, totalmem } from "node:os";
import { setTimeout as sleep } from "node:timers/promises";

const [program, work, document] = process.argv.slice(2);
const MOST_BYTES = Number(process.env.MOST_BYTES ?? 2e9);
const MOST_SECONDS = Number(process.env.MOST_SECONDS ?? 15);
const BEGIN = "<!-- made by make bench-inside: begin -->";
const END = "<!-- made by make bench-inside: end -->";
const MIB = 1024 * 1024;

const broker = JSON.parse(readFileSync(`${work}/broker.json`, "utf8"));
const registered = JSON.parse(readFileSync(`${broker.directory}/node.json`, "utf8"));

const LOAD = `
name = "bench-inside"
[run]
duration = "10m"
self-check = false
[[queues]]
name = "bench-inside"
durable = true
# Consumers may be slowed more than publishers; the backlog is not the probe's memory.
arguments = { x-max-length = 5000 }
[[publishers]]
queue = "bench-inside"
count = 2
size = "12B"
confirm-window = 1000
[[consumers]]
queue = "bench-inside"
count = 2
prefetch = 500
multi-ack-every = 100
`;

/** Returns the node's answer to an expression with a text as its value. */
function ask(expression) {
    const environment = { HOME: `${broker.directory}/home`, ERL_EPMD_PORT: String(registered.ports.epmd) };
    const words = ["-timeout", "60", "-sname", broker["node-name"], "-e"];
    const options = { input: `${expression}.\n`, env: { ...process.env, ...environment }, encoding: "utf8", maxBuffer: 64e6 };
    const answer = execFileSync("erl_call", words, options);
    return /^\{ok, "?(.*?)"?\}\s*$/s.exec(answer)?.[1] ?? answer;
}

/** Samples the node ten times a second: time in ms, bytes of memory, messages confirmed so far. */
const SAMPLER = `register(bench_sampler, spawn_opt(fun() ->
    Confirmed = fun() -> lists:sum([maps:get(messages_confirmed_total, C, 0) || C <- maps:values(rabbit_global_counters:overview())]) end,
    (fun Loop(Rows) ->
        receive {all, To} -> To ! {rows, lists:reverse(Rows)}, Loop([])
        after 100 -> Loop([[erlang:system_time(millisecond), erlang:memory(total), Confirmed()] | Rows])
        end
    end)([])
end, [{priority, max}])), "on"`;

function samples() {
    const rows = ask(`bench_sampler ! {all, self()}, receive {rows, Rows} -> lists:flatten(io_lib:format("~w", [Rows])) end`);
    return JSON.parse(rows).map(([at, memory, confirmed]) => ({ at, memory, confirmed }));
}

/** Highest resident size of the node's process, sampled until it is stopped. */
function watchResident() {
    const pages = () => Number(readFileSync(`/proc/${broker.pid}/statm`, "utf8").split(" ")[1]) * 4096;
    const before = pages();
    let most = before;
    const timer = setInterval(() => (most = Math.max(most, pages())), 100);
    return () => (clearInterval(timer), most - before);
}

/** Returns messages a second between two times, by the nearest samples. */
function rate(rows, from, to) {
    const within = rows.filter((row) => row.at >= from && row.at <= to);
    if (within.length < 2) return NaN;
    const [first, last] = [within[0], within.at(-1)];
    return ((last.confirmed - first.confirmed) * 1000) / (last.at - first.at);
}

/** Measures the broker during `work`. */
async function measured(what, work) {
    await sleep(6000);
    samples();
    await sleep(4000);
    const resident = watchResident();
    const from = Date.now();
    const said = await work();
    const to = Date.now();
    await sleep(3000);
    const [grownResident, rows] = [resident(), samples()];
    const idle = rows.filter((row) => row.at < from);
    const base = Math.max(...idle.map((row) => row.memory));
    const during = rows.filter((row) => row.at >= from && row.at <= to + 500);
    const result = {
        what, said, seconds: (to - from) / 1000,
        before: rate(rows, from - 3500, from), during: rate(rows, from, to), after: rate(rows, to + 1000, to + 3000),
        grown: Math.max(...during.map((row) => row.memory)) - base, grownResident,
    };
    console.log(`${what}\n  ${text(result).join("\n  ")}`);
    return result;
}

function text({ seconds, before, during, after, grown, grownResident, said }) {
    const percent = (rate) => `${Math.round((100 * rate) / before)} %`;
    return [
        `${seconds.toFixed(1)} s; ${Math.round(before)} messages a second before, ${percent(during)} of it during, ${percent(after)} from 1 s after on`,
        `memory ${(grown / MIB).toFixed(1)} MiB more at most, resident ${(grownResident / MIB).toFixed(1)} MiB`,
        ...said,
    ];
}

function command(words) {
    return new Promise((resolve, reject) => {
        const child = spawn(program, [...words, "--node", broker["node-name"], "--json"]);
        let [out, err] = ["", ""];
        child.stdout.on("data", (chunk) => (out += chunk));
        child.stderr.on("data", (chunk) => (err += chunk));
        child.on("exit", (code) => (code === 0 ? resolve(out) : reject(new Error(`${words.join(" ")}: ${err}`))));
    });
}

/** Returns the most called function of the roles that a message passes through. */
async function hottest() {
    const found = [];
    for (const role of ["reader", "channel", "queue", "writer"]) {
        const { functions } = JSON.parse(await command(["functions", "--role", role, "--counters", "--duration", "1s"]));
        found.push(...functions.filter((row) => !row.function.startsWith("erlang:")).map((row) => [row.calls, row.function]));
    }
    return found.sort(([a], [b]) => b - a)[0];
}

/** Traces every process to one collector that keeps all events up to a bound, like eflame and similar tools. */
const COLLECT = `
    Collector = spawn(fun() -> (fun Keep(All) -> receive Event -> Keep([Event | All]) end end)([]) end),
    Before = erlang:memory(total),
    Began = erlang:monotonic_time(millisecond),
    Self = self(),
    spawn_opt(fun() ->
        Flags = [call, return_to, running, monotonic_timestamp, arity, {tracer, Collector}],
        erlang:trace_pattern({'_', '_', '_'}, true, [local]),
        [catch erlang:trace(Pid, true, Flags) || Pid <- processes(), Pid =/= Collector, Pid =/= self(), Pid =/= whereis(bench_sampler)],
        Grown = (fun Watch() ->
            timer:sleep(20),
            Now = erlang:memory(total) - Before,
            Took = erlang:monotonic_time(millisecond) - Began,
            case Now > ${MOST_BYTES} orelse Took > ${MOST_SECONDS * 1000} of true -> {Now, Took}; false -> Watch() end
        end)(),
        exit(Collector, kill),
        erlang:trace_pattern({'_', '_', '_'}, false, [local]),
        [catch erlang:trace(Pid, false, [all]) || Pid <- processes()],
        Self ! {grown, Grown}
    end, [{priority, max}]),
    receive {grown, {Bytes, Ms}} -> lists:flatten(io_lib:format("~w ~w", [Bytes, Ms])) end`;

async function collected() {
    const [bytes, ms] = (await new Promise((resolve) => setImmediate(() => resolve(ask(COLLECT.replaceAll("\n", " ")))))).split(" ").map(Number);
    return [`${Math.round(bytes / MIB)} MiB after ${(ms / 1000).toFixed(1)} s, when it was ended (bounds: ${Math.round(MOST_BYTES / MIB)} MiB, ${MOST_SECONDS} s)`];
}

function section(hot, [calls, name], results) {
    const rows = results.map(({ what, seconds, before, during, after, grown, grownResident }) =>
        `| ${what} | ${seconds.toFixed(1)} s | ${Math.round(before)} | ${Math.round((100 * during) / before)} % | ${Math.round((100 * after) / before)} % | ${(grown / MIB).toFixed(1)} MiB | ${(grownResident / MIB).toFixed(1)} MiB |`);
    const said = results.map(({ what, said }) => `- ${what}: ${said.join(" ")}`);
    return `${new Date().toISOString().slice(0, 10)}, ${cpus().length} CPUs (${cpus()[0].model}), ${Math.round(totalmem() / 2 ** 30)} GiB, Linux ${release()}; ` +
        `${hot}. Broker and load share the CPUs. The function called most is \`${name}\`, ${calls} times a second.\n\n` +
        "| what | took | messages/s before | during | from 1 s after on | node's memory | resident |\n| --- | --- | --- | --- | --- | --- | --- |\n" +
        `${rows.join("\n")}\n\n${said.join("\n")}\n`;
}

const versions = ask(`lists:flatten(io_lib:format("RabbitMQ ~s on OTP ~s", [rabbit_misc:version(), erlang:system_info(otp_release)]))`);
writeFileSync(`${work}/load.toml`, LOAD);
const load = spawn(program, ["run", `${work}/load.toml`, "--out", `${work}/out`], { stdio: "ignore", env: { ...process.env, RABBITSCOPE_URI: broker.uri } });
try {
    await sleep(3000);
    ask(SAMPLER.replaceAll("\n", " "));
    const hot = await hottest();
    console.log(`${versions}; called most: ${hot[1]}, ${hot[0]} times a second`);
    const notes = (out) => JSON.parse(out).notes;
    const results = [
        await measured("`trace`", async () => notes((await command(["trace", hot[1]])).trim().split("\n").at(-1))),
        await measured("`trace --args --return`", async () => notes((await command(["trace", hot[1], "--args", "--return"])).trim().split("\n").at(-1))),
        await measured("`calltree`", async () => notes(await command(["calltree", hot[1], "-o", `${work}/tree.folded`]))),
        await measured("`functions --call`", async () => notes(await command(["functions", "--call", hot[1]]))),
        await measured("`functions --role channel`", async () => notes(await command(["functions", "--role", "channel"]))),
        await measured("every process to one collector", collected),
    ];
    const before = readFileSync(document, "utf8");
    const made = `${BEGIN}\n${section(versions, hot, results)}${END}`;
    writeFileSync(document, before.replace(new RegExp(`${BEGIN}[^]*${END}`), () => made));
} finally {
    load.kill("SIGINT");
    await new Promise((resolve) => load.on("exit", resolve));
    rmSync(`${work}/out`, { recursive: true, force: true });
}
