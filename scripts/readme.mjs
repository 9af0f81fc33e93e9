// Writes the main lines of a run's output into a document, between two marks: node readme.mjs OUTPUT DOCUMENT
import { readFileSync, writeFileSync } from "node:fs";

const [, , output, document] = process.argv;
const begin = "<!-- made by make readme: begin -->";
const end = "<!-- made by make readme: end -->";
/** Number of functions to show. */
const FUNCTIONS = 3;

const lines = readFileSync(output, "utf8").trimEnd().split("\n");

/** Returns the paragraph with a line that begins with this text. */
function paragraph(start) {
    const first = lines.findIndex((line) => line.startsWith(start));
    if (first < 0) throw new Error(`${output} has no line that begins with ${start}`);
    const length = lines.slice(first).findIndex((line) => line === "");
    return lines.slice(first, length < 0 ? undefined : first + length);
}

const rates = paragraph("published").filter((line) => /^(published|confirmed|broker) /.test(line));
const functions = paragraph("Hottest Erlang functions").slice(0, 1 + FUNCTIONS);
const shown = [...rates, "", ...paragraph("latency"), "", ...functions, "   …"];
const block = shown.map((line) => (line === "" ? "" : `    ${line}`)).join("\n");

const text = readFileSync(document, "utf8");
const [before, rest] = text.split(begin);
const [, after] = rest.split(end);
writeFileSync(document, `${before}${begin}\n\n${block}\n\n${end}${after}`);
console.log(block);
