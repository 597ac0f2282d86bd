// Makes the JavaScript of dist/ from the sources (design/start-up.md).
import { build } from "esbuild";
import { spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

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
  const define = { FEYNKAC_BUILD: JSON.stringify(BUILD) };
  const names = { outdir: "dist", chunkNames: "chunks/[name]-[hash]", entryPoints: entries() };
  return build({ ...common, ...names, define, splitting: true, format: "esm" });
}

/**
 * A program of the command line in one file. src/cli/start.ts keeps the compiled code of main.cjs as a whole, and gives
 * it `imported` in place of `import`, which a script does not have.
 */
function bundleProgram(name) {
  const define = {
    FEYNKAC_BUILD: JSON.stringify(BUILD),
    // Where the package's modules would lie: their worker and the data are there.
    "import.meta.url": "FILE_URL",
    "import.meta.resolve": "require.resolve",
  };
  const address = 'var FILE_URL=require("node:url").pathToFileURL(__dirname+"/../chunks/main.js").href;';
  const [before, after] = name === "main" ? WRAPPER : ["", ""];
  const file = { outfile: `dist/cli/${name}.cjs`, entryPoints: [`src/cli/${name}.ts`] };
  const around = { banner: { js: before + address }, footer: { js: after } };
  return build({ ...common, ...file, define, ...around, format: "cjs", plugins: [dataApart] });
}

/** Put around a program here, not where it is loaded, which would copy all of its text. */
const WRAPPER = ["(function(exports,require,module,__filename,__dirname,imported){", "})"];

const dataApart = {
  name: "data apart",
  setup({ onResolve }) {
    const paths = new Map(DATA.map(([name, source]) => [source.replace(/^.*\//, "./"), `../${name}.js`]));
    onResolve({ filter: /\/(joe-kuo|plane-data)\.ts$/ }, ({ path }) => ({ path: paths.get(path), external: true }));
  },
};

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

const built = await Promise.all([bundlePackage(), ...["main", "start", "pipeline-worker"].map(bundleProgram)]);
const files = built.flatMap(({ outputFiles }) => outputFiles);
const hash = hashOf(files);
rmSync(join(root, "dist/chunks"), { recursive: true, force: true }); // those of an earlier build
for (const { path, text } of files) {
  mkdirSync(dirname(path), { recursive: true });
  const named = text.replaceAll(BUILD, hash);
  writeFileSync(path, path.endsWith("main.cjs") ? named.replaceAll(/\bimport\((?!\))/g, "imported(") : named);
}
const inputs = Object.assign({}, ...built.map(({ metafile }) => metafile.inputs));
writeFileSync(join(root, "dist/licences.txt"), licencesOf(inputs));
const head = commit();
if (head) writeFileSync(join(root, "dist/commit.json"), `${JSON.stringify({ commit: head })}\n`);
