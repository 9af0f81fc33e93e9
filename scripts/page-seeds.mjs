// Writes the elements of pages into a folder as first inputs for the fuzz target `pages`: the JSON, a zero, and the
// columns without compression. Other files are left out.
//
//   node scripts/page-seeds.mjs FOLDER PAGE...
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

const [folder, ...pages] = process.argv.slice(2);
const element = (page, id) => page.match(new RegExp(`<script type="application/[a-z-]+" id="${id}">([^<]*)<`))?.[1];

mkdirSync(folder, { recursive: true });
pages.forEach((path, number) => {
    const page = readFileSync(path, "utf8");
    const [data, columns] = [element(page, "data"), element(page, "columns")];
    if (!data || !columns) return;
    // A profile alone says as much to the reader as a whole run.
    const { version, profile } = JSON.parse(data);
    const json = JSON.stringify({ version, profile });
    const unpacked = gunzipSync(Buffer.from(columns, "base64"));
    writeFileSync(`${folder}/page-${number}`, Buffer.concat([Buffer.from(json), Buffer.of(0), unpacked]));
});
