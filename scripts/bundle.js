// Puts the command line into one file, over the one that the compiler made for it: Node 20 takes 0.2 s to load the 270
// modules (94 of them zod's) one by one. After the compiler alone the command line works too, from its modules. The
// thread of a worker pool, which the program looks for beside itself, becomes a file of its own.
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** The program in `entry`, whole, in one file. */
async function bundle(entry, file) {
  const { metafile, outputFiles } = await build({
    absWorkingDir: root,
    entryPoints: [join(root, entry)],
    outfile: join(root, file),
    allowOverwrite: true,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20.19",
    // Optional packages, and those for Parquet, are loaded when asked for; commander is CommonJS, and small.
    external: ["commander", "hyparquet*", ...Object.keys(peerDependencies)],
    metafile: true,
    write: false,
  });
  writeFileSync(join(root, file), [outputFiles[0].text, ...licencesOf(metafile)].join("\n"));
  rmSync(join(root, `${file}.map`), { force: true }); // the compiler's, for the file that was
}

/** Of the packages inside: their authors ask that a copy carries it. */
function licencesOf({ inputs }) {
  const packages = Object.keys(inputs).map((path) => path.match(/(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  return [...new Set(packages)]
    .filter((name) => name !== undefined)
    .map((name) => `/*! ${name}\n\n${readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8")}*/\n`);
}

/** Manifests of runs say which commit priced them. A checkout that differs from its commit says so. */
function commit() {
  const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout?.trim();
  const head = git("rev-parse", "HEAD");
  return head && `${head}${git("status", "--porcelain", "--untracked-files=no") ? "-changed" : ""}`;
}

const head = commit();
if (head) writeFileSync(join(root, "dist/commit.json"), `${JSON.stringify({ commit: head })}\n`);
await bundle("dist/pricing/workers/worker.js", "dist/cli/worker.js");
await bundle("dist/pipeline/pipeline-worker.js", "dist/cli/pipeline-worker.js");
await bundle("dist/cli/main.js", "dist/cli/main.js");
