// Results of tshark for a capture beside those of crates/wire: frames by kind, packets of confirms and publishes.
//
//   node scripts/compare-wire.mjs DIRECTORY CLIENT amqp|mqtt|none
import { readFileSync, writeFileSync } from "node:fs";

const [directory, client, dissector] = process.argv.slice(2);
const read = (suffix) => readFileSync(`${directory}/${client}.${suffix}`, "utf8");
const lines = (text) => text.split("\n").filter((line) => line !== "");

const methods = {
    10: ["connection", { 10: "start", 11: "start-ok", 20: "secure", 21: "secure-ok", 30: "tune", 31: "tune-ok", 40: "open",
        41: "open-ok", 50: "close", 51: "close-ok", 60: "blocked", 61: "unblocked", 70: "update-secret", 71: "update-secret-ok" }],
    20: ["channel", { 10: "open", 11: "open-ok", 20: "flow", 21: "flow-ok", 40: "close", 41: "close-ok" }],
    40: ["exchange", { 10: "declare", 11: "declare-ok", 20: "delete", 21: "delete-ok", 30: "bind", 31: "bind-ok", 40: "unbind",
        51: "unbind-ok" }],
    50: ["queue", { 10: "declare", 11: "declare-ok", 20: "bind", 21: "bind-ok", 30: "purge", 31: "purge-ok", 40: "delete",
        41: "delete-ok", 50: "unbind", 51: "unbind-ok" }],
    60: ["basic", { 10: "qos", 11: "qos-ok", 20: "consume", 21: "consume-ok", 30: "cancel", 31: "cancel-ok", 40: "publish",
        50: "return", 60: "deliver", 70: "get", 71: "get-ok", 72: "get-empty", 80: "ack", 90: "reject", 100: "recover-async",
        110: "recover", 111: "recover-ok", 120: "nack" }],
    85: ["confirm", { 10: "select", 11: "select-ok" }],
    90: ["tx", { 10: "select", 11: "select-ok", 20: "commit", 21: "commit-ok", 30: "rollback", 31: "rollback-ok" }],
};
const performatives = ["open", "begin", "attach", "flow", "transfer", "disposition", "detach", "end", "close"];
const sasl = ["sasl-mechanisms", "sasl-init", "sasl-challenge", "sasl-response", "sasl-outcome"];
const packets = ["", "CONNECT", "CONNACK", "PUBLISH", "PUBACK", "PUBREC", "PUBREL", "PUBCOMP", "SUBSCRIBE", "SUBACK",
    "UNSUBSCRIBE", "UNSUBACK", "PINGREQ", "PINGRESP", "DISCONNECT", "AUTH"];

const values = (field) => (field ? field.split(",").map(Number) : []);

// One row of tshark: a packet with all frames that end in it, each field a list.
function* kindsOfPacket([, types, classes, numbers, performed, negotiated, mqtt]) {
    const [classList, numberList] = [values(classes), values(numbers)];
    const [performedList, negotiatedList] = [values(performed), values(negotiated)];
    const is10 = performed !== "" || negotiated !== "";
    for (const type of values(types)) {
        if (type === 1 && classList.length > 0) {
            const [name, of] = methods[classList.shift()];
            yield `${name}.${of[numberList.shift()]}`;
        } else if (type === 1) yield sasl[negotiatedList.shift() - 0x40];
        else if (type === 0) yield performedList.length > 0 && is10 ? performatives[performedList.shift() - 0x10] : "empty";
        else yield { 2: "header", 3: "body", 8: "heartbeat" }[type];
    }
    for (const type of values(mqtt)) yield packets[type];
}

function count(kinds) {
    const counts = new Map();
    for (const kind of kinds) counts.set(kind, (counts.get(kind) ?? 0) + 1);
    return counts;
}

const ours = new Map(lines(read("ours")).map((line) => {
    const [, number, kind] = line.match(/^(\d+) (.*)$/);
    return [kind, Number(number)];
}));
console.log(`${client}:`);
if (dissector === "none") {
    for (const [kind, number] of ours) console.log(`  ${kind}: ${number}`);
    console.log(read("latencies").replace(/^/gm, "  ").trimEnd());
    process.exit(0);
}

const rows = lines(read("tshark")).map((line) => line.split("\t"));
const theirs = count(rows.flatMap((row) => [...kindsOfPacket(row)]));
const sorted = [...theirs].sort(([one], [other]) => (one < other ? -1 : 1));
writeFileSync(`${directory}/${client}.kinds`, sorted.map(([kind, number]) => `${number} ${kind}\n`).join(""));
// tshark has no type for it.
const headers = ours.get("protocol-header") ?? 0;
ours.delete("protocol-header");
let differences = 0;
for (const kind of new Set([...ours.keys(), ...theirs.keys()])) {
    const [one, other] = [ours.get(kind) ?? 0, theirs.get(kind) ?? 0];
    if (one !== other) {
        differences += 1;
        console.log(`  ${kind}: ${one}, tshark ${other}  DIFFERENT`);
    }
}
const frames = [...theirs.values()].reduce((sum, number) => sum + number, 0);
console.log(`  ${frames} frames of ${theirs.size} kinds and ${headers} protocol headers, ${differences} kinds differ`);

// For a confirm or an acknowledgement tshark names the packets with the methods of its messages. Ours are the packets of
// their last frames, so both are searched for a message.
if (rows.some((row) => row[7])) {
    const links = count(rows.flatMap((row) => (row[7] ?? "").split(",").filter(Boolean).map((method) => `${row[0]} ${method}`)));
    const methodsByLast = new Map();
    for (const [method, last] of lines(read("messages")).map((line) => line.split(" "))) {
        methodsByLast.set(last, [...(methodsByLast.get(last) ?? []), method]);
    }
    let [same, onlyOurs] = [0, 0];
    for (const [settled, last] of lines(read("settled")).map((line) => line.split(" "))) {
        const link = (methodsByLast.get(last) ?? []).map((method) => `${settled} ${method}`).find((it) => links.get(it) > 0);
        if (link === undefined) onlyOurs += 1;
        else {
            same += 1;
            links.set(link, links.get(link) - 1);
        }
    }
    const onlyTheirs = [...links.values()].reduce((sum, number) => sum + number, 0);
    for (const [link, number] of links) if (number > 0) console.log(`  only tshark's: packet ${link.replace(" ", " for the method in packet ")}`);
    console.log(`  confirms and acknowledgements of messages: ${same} as tshark links them, ${onlyOurs} only ours, ${onlyTheirs} only tshark's`);
}
console.log(read("latencies").replace(/^/gm, "  ").trimEnd());
process.exit(differences === 0 ? 0 : 1);
