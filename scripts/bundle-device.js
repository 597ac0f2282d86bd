// Bundles the programs that are run on GPU machines into one folder, which needs Node and `webgpu` and `koffi` and
// nothing else: the device suite, suite.mjs, and the device benchmarks, bench.mjs, with the fixtures they read.
import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const folder = join(root, "build/device");
const entries = {
  suite: "tools/device-report/main.ts",
  bench: "bench/device/main.ts",
  "one-factor/alone": "bench/one-factor/alone.ts",
};
const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" }).trim();

/** What `commitName` of bench/harness.ts says, with changes in all that is bundled. */
function commitName() {
  if (process.env.FEYNKAC_COMMIT) return process.env.FEYNKAC_COMMIT;
  try {
    const changed =
      git("status", "--porcelain", "--untracked-files=no", "--", "src", "bench", "test", "tools", ":!bench/results") !==
      "";
    return `${git("rev-parse", "--short=10", "HEAD")}${changed ? "+changes" : ""}`;
  } catch {
    return "unknown";
  }
}

rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });

await build({
  absWorkingDir: root,
  entryPoints: Object.fromEntries(Object.entries(entries).filter(([, file]) => existsSync(join(root, file)))),
  outdir: folder,
  outExtension: { ".js": ".mjs" },
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  // The emulator is compiled from its sources: it works in a checkout only.
  external: [...Object.keys(peerDependencies), "./tools/cuda-emulator/index.ts"],
  banner: { js: `process.env.FEYNKAC_COMMIT ??= ${JSON.stringify(commitName())};` },
});

for (const fixtures of ["math", "reference", "sparse"]) {
  const from = join(root, "test/fixtures", fixtures);
  for (const file of readdirSync(from).filter((file) => file.endsWith(".json")))
    cpSync(join(from, file), join(folder, "fixtures", fixtures, file));
}
const files = readdirSync(folder, { recursive: true }).map((file) => statSync(join(folder, file)));
const bytes = files.reduce((sum, file) => sum + (file.isFile() ? file.size : 0), 0);
console.log(`${folder}: ${(bytes / 1e6).toFixed(1)} MB, of ${commitName()}`);
