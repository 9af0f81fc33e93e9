// Bundles the page, the script of the SVG and the tests. The shipped files are `page.js`, `page.css` and `svg.js`, which
// crates/web embeds.
//
//   node build.mjs DIR           the shipped files
//   node build.mjs --tests NAME  one of the folders of test/, into dist/test/NAME

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";

const [first, second] = process.argv.slice(2);
const target = ["es2022"];

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
  await build({
    entryPoints: { page: "src/main.ts", svg: "src/svg.ts" },
    outdir: first,
    bundle: true,
    minify: true,
    format: "iife",
    charset: "utf8",
    target,
    logLevel: "warning",
  });
}
