// Declares queues, or asks both interfaces in turn and prints quantiles. For bench-queues.sh.
import http from "node:http";

const agent = new http.Agent({ keepAlive: true, maxSockets: 8 });
const authorization = "Basic " + Buffer.from("guest:guest").toString("base64");

function request(method, url, body) {
    return new Promise((resolve, reject) => {
        const headers = { authorization, "content-type": "application/json" };
        if (body) headers["content-length"] = Buffer.byteLength(body);
        const sent = http.request(url, { method, agent, headers }, (answer) => {
            let bytes = 0;
            answer.on("data", (chunk) => (bytes += chunk.length));
            answer.on("end", () =>
                answer.statusCode < 300 ? resolve(bytes) : reject(new Error(`${url}: ${answer.statusCode}`)));
        });
        sent.on("error", reject);
        sent.end(body);
    });
}

async function declare(management, count) {
    const names = Array.from({ length: count }, (_, number) => `bench-${number}`);
    const one = async () => {
        for (let name; (name = names.pop()); )
            await request("PUT", `${management}api/queues/%2f/${name}`, '{"durable":true}');
    };
    await Promise.all(Array.from({ length: 8 }, one));
}

async function ask(management, service, count) {
    const urls = { service: `${service}/queues`, management: `${management}api/queues` };
    const times = { service: [], management: [] };
    const sizes = {};
    for (let round = 0; round < count; round++) {
        for (const [name, url] of Object.entries(urls)) {
            if (name === "management" && round % 10 > 0) continue;
            const start = process.hrtime.bigint();
            sizes[name] = await request("GET", url);
            times[name].push(Number(process.hrtime.bigint() - start) / 1e6);
        }
    }
    for (const [name, values] of Object.entries(times)) {
        values.sort((left, right) => left - right);
        const at = (share) => values[Math.min(values.length - 1, Math.floor(values.length * share))].toFixed(1);
        console.log(`${name}: p50 ${at(0.5)} ms  p99 ${at(0.99)} ms  ${values.length} requests of ${sizes[name]} bytes`);
    }
}

const [command, management, ...rest] = process.argv.slice(2);
if (command === "declare") await declare(management, Number(rest[0]));
else await ask(management, rest[0], Number(rest[1]));
agent.destroy();
