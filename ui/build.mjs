// Bundles the pages with the script of their worker, the script of the SVG, and the tests. The shipped files are `page.js`,
// `page.css`, `live.js` and `svg.js`, which crates/web embeds.
//
//   node build.mjs DIR           the shipped files
//   node build.mjs --tests NAME  one of the folders of test/, into dist/test/NAME

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [first, second] = process.argv.slice(2);
const shipped = {
  bundle: true,
  minify: true,
  format: "iife",
  charset: "utf8",
  target: ["es2022"],
  logLevel: "warning",
};

if (first === "--tests") {
  const folder = join("test", second);
  const files = readdirSync(folder).filter((name) => name.endsWith(".test.ts"));
  await build({
    entryPoints: files.map((name) => join(folder, name)),
    outdir: join("dist", folder),
    outExtension: { ".js": ".mjs" },
    bundle: true,
    platform: "node",
    format: "esm",
    target: ["node18"],
    packages: "external",
    logLevel: "warning",
  });
} else {
  const [worker] = (await build({ ...shipped, entryPoints: ["src/columns/worker.ts"], write: false })).outputFiles;
  await build({
    ...shipped,
    define: { WORKER_SCRIPT: JSON.stringify(worker.text) },
    entryPoints: { page: "src/main.ts", live: "src/live.ts", svg: "src/svg.ts" },
    outdir: first,
  });
}
