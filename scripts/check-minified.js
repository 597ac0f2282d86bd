// Bundles and minifies a program that uses everything of the installed package, as production builds do, and runs it:
// kernels are read from the text of their functions, so minified ones must give the same numbers, to the bit.
import { spawnSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "vite";
import { minifiers } from "../test/support/minifiers.ts";

/**
 * `folder` is where the package is installed and `cover-main.js` stands. Throws when a minified program prints anything
 * else.
 */
export async function checkMinified(folder) {
  const expected = run(folder, "cover-main.js");
  const compare = (name, file) => {
    const differing = differences(expected, run(folder, file));
    if (differing.length > 0) throw new Error(`minified by ${name}, the package differs in:\n${differing.join("\n")}`);
    console.log(`${name}: the same ${Object.keys(expected).length} results`);
  };
  const bundled = readFileSync(join(folder, await bundle(folder, "plain", false)), "utf8");
  compare("Vite's production build", await bundle(folder, "vite", true));
  for (const { name, minify } of minifiers) {
    writeFileSync(join(folder, "minified.js"), await minify(bundled));
    compare(name, "minified.js");
  }
}

/** The program and what it imports as one file for Node, by Vite; where it lies. */
async function bundle(folder, outDir, minify) {
  await build({
    root: folder,
    configFile: false,
    logLevel: "error",
    ssr: { noExternal: true, external: ["koffi", "webgpu"] },
    build: {
      ssr: "cover-main.js",
      outDir,
      minify,
      target: "node20.19",
      rolldownOptions: { output: { codeSplitting: false } },
    },
  });
  return `${outDir}/cover-main.js`;
}

/** What the program prints: results by name. */
function run(folder, file) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [file], {
    cwd: folder,
    encoding: "utf8",
    maxBuffer: 2 ** 28,
  });
  if (status !== 0) throw new Error(`${file}: exit ${status}\n${stderr}`);
  const results = JSON.parse(stdout);
  const failed = Object.entries(results).filter(([, value]) => `${value}`.startsWith("failed: "));
  if (failed.length > 0) throw new Error(failed.map((entry) => entry.join(": ")).join("\n"));
  return results;
}

function differences(expected, got) {
  const names = Object.keys({ ...expected, ...got });
  const shown = (value) => (JSON.stringify(value) ?? "nothing").slice(0, 500);
  return names
    .filter((name) => JSON.stringify(expected[name]) !== JSON.stringify(got[name]))
    .map((name) => `  ${name}: got ${shown(got[name])}, expected ${shown(expected[name])}`);
}
