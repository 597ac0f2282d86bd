// Makes the JavaScript of dist/ from the sources (design/start-up.md).
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { lazyProgram } from "./lazy-program.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const { exports, peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

/** Stands in the code for the hash of the code, by which compiled kernels are kept on disk. */
const BUILD = "@build@";

const common = {
  absWorkingDir: root,
  bundle: true,
  platform: "node",
  target: "node20.19",
  minifySyntax: true,
  minifyWhitespace: true,
  legalComments: "none",
  // Optional packages, and those for Parquet, are loaded when asked for.
  external: ["hyparquet*", ...Object.keys(peerDependencies)],
  metafile: true,
  write: false,
};

/** The sources of the files that are entered from outside, by the names of those files in dist/. */
function entries() {
  const targets = Object.values(exports).map((target) => target.default);
  const names = targets.filter(Boolean).map((file) => file.replace(/^\.\/dist\/(.*)\.js$/, "$1"));
  const own = names.map((name) => [name, `src/${name}.ts`]);
  return Object.fromEntries([...own, ...WORKERS, ...DATA]);
}

/** Pools look for their threads' files beside their own, which is a file of chunks/ because it is an entry, too. */
const WORKERS = [
  ["chunks/worker", "src/pricing/workers/worker.ts"],
  ["chunks/pricing-pool", "src/pricing/workers/pricing-pool.ts"],
];

/** Modules of nothing but data, which few commands need: large, and files of their own. */
const DATA = [
  ["chunks/joe-kuo", "src/numerics/random/sobol/joe-kuo.ts"],
  ["chunks/plane-data", "src/quadrature/quantization/normal/plane-data.ts"],
];

/**
 * The package's entries, and the thread of a worker pool, which the pool looks for beside itself. What several of them
 * need stands once, in dist/chunks, and what is imported on demand is a file of its own.
 */
function bundlePackage() {
  const names = { outdir: "dist", chunkNames: "chunks/[name]-[hash]", entryPoints: entries() };
  const own = { FEYNKAC_BUILD: define.FEYNKAC_BUILD };
  return build({ ...common, ...names, define: own, splitting: true, format: "esm" });
}

const define = {
  FEYNKAC_BUILD: JSON.stringify(BUILD),
  // src/cli/start.ts says where the package's modules would lie: their worker and the data are there.
  "import.meta.url": "FILE_URL",
  "import.meta.resolve": "require.resolve",
};

/** What starts the command line, in one file: src/cli/start.ts, or the thread that loads it. */
function bundleStart(name) {
  const address = 'var FILE_URL=require("node:url").pathToFileURL(__dirname+"/../chunks/main.js").href;';
  const file = { outfile: `dist/cli/${name}.cjs`, entryPoints: [`src/cli/${name}.ts`], banner: { js: address } };
  return build({ ...common, ...file, define, format: "cjs" });
}

/** The command line in parts, of which src/cli/start.ts loads those that are used. */
async function linkProgram() {
  const apart = Object.fromEntries(DATA.map(([name, source]) => [source, `../${name}.js`]));
  const packages = ["acorn", "commander", "zod"];
  const { parts, inputs } = await lazyProgram("src/cli/main.ts", { root, define, packages, apart });
  const outputFiles = Array.from(parts, ([name, text]) => {
    const path = join(root, `dist/cli/${name}.cjs`);
    return { path, text, contents: Buffer.from(text) };
  });
  return { outputFiles, metafile: { inputs } };
}

function hashOf(files) {
  const hash = createHash("sha256");
  for (const { contents } of files.toSorted((a, b) => (a.path < b.path ? -1 : 1))) hash.update(contents);
  return hash.digest("hex").slice(0, 32);
}

/** Of the packages inside: their authors ask that a copy carries it. */
function licencesOf(inputs) {
  const packages = Object.keys(inputs).map((path) => path.match(/(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1]);
  return [...new Set(packages)]
    .filter((name) => name !== undefined)
    .map((name) => `${name}\n\n${readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8")}`)
    .join("\n");
}

/** Manifests of runs say which commit priced them. A checkout that differs from its commit says so. */
function commit() {
  const git = (...args) => spawnSync("git", args, { cwd: root, encoding: "utf8" }).stdout?.trim();
  const head = git("rev-parse", "HEAD");
  return head && `${head}${git("status", "--porcelain", "--untracked-files=no") ? "-changed" : ""}`;
}

const built = await Promise.all([bundlePackage(), linkProgram(), ...["start", "pipeline-worker"].map(bundleStart)]);
const files = built.flatMap(({ outputFiles }) => outputFiles);
const hash = hashOf(files);
rmSync(join(root, "dist/chunks"), { recursive: true, force: true }); // those of an earlier build
for (const { path, text } of files) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text.replaceAll(BUILD, hash));
}
const inputs = Object.assign({}, ...built.map(({ metafile }) => metafile.inputs));
writeFileSync(join(root, "dist/licences.txt"), licencesOf(inputs));
const head = commit();
if (head) writeFileSync(join(root, "dist/commit.json"), `${JSON.stringify({ commit: head })}\n`);
