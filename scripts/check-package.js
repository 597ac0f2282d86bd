// Packs the package as it would be published, unless a tarball is given, and looks at the tarball the way its users
// meet it: publint and are-the-types-wrong, then an install into an empty folder, a script that prices with it, a
// strict type check, README.md as a newcomer follows it, the links of its documents, and a program that uses all of it,
// minified by each of today's minifiers.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { layOutExamples } from "./check-examples.js";
import { brokenLinks } from "./check-links.ts";
import { checkMinified } from "./check-minified.js";
import { extraModules } from "./extra/index.js";

const root = fileURLToPath(new URL("..", import.meta.url));
const bin = (name) => join(root, "node_modules", ".bin", name);
const extraBin = (name) => join(extraModules(), ".bin", name);
const temporary = mkdtempSync(join(tmpdir(), "feynkac-package-"));

/** Runs a command with its output shown; throws when it fails. */
function run(title, command, args, cwd = root) {
  console.log(`\n— ${title}`);
  // npm hands its own settings down in the environment; the consumer's npm must not see this project's.
  const environment = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith("npm_package_")),
  );
  const { status, error } = spawnSync(command, args, { cwd, stdio: "inherit", env: environment });
  if (error !== undefined || status !== 0) throw new Error(`${title}: exit ${status}`, { cause: error });
}

/** Every file is a cost to each install. */
const MAX_FILES = 900;

/** What no user has a use for must not be installed: scripts of the checkout, maps of sources that are not there. */
function checkContents(installed) {
  const files = readdirSync(installed, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  const maps = files.filter(({ name }) => name.endsWith(".map")).map(({ name }) => name);
  const { scripts, devDependencies } = JSON.parse(readFileSync(join(installed, "package.json"), "utf8"));
  console.log(`\n— what is in it: ${files.length} files`);
  if (files.length > MAX_FILES) throw new Error(`${files.length} files, more than ${MAX_FILES}`);
  if (maps.length > 0) throw new Error(`maps of sources that are not shipped: ${maps.join(", ")}`);
  if (scripts !== undefined || devDependencies !== undefined)
    throw new Error("package.json has the scripts or the tools of a checkout");
}

/** Where the tarball lies. */
function pack() {
  run("npm pack", "npm", ["pack", "--silent", "--pack-destination", temporary]);
  return join(temporary, readdirSync(temporary).find((name) => name.endsWith(".tgz")) ?? "");
}

/**
 * Follows README.md in an empty folder: its `npm init`, its snippet by the settings that `tsc --init` writes, then the
 * program. The value is the American put of every textbook.
 */
function tryReadme(tarball) {
  const readme = readFileSync(join(root, "README.md"), "utf8");
  const [, init] = /`(npm init -y && npm pkg set type=\w+)`/.exec(readme);
  const [, snippet] = /^```ts\n(.*?)^```$/ms.exec(readme);
  const newcomer = join(temporary, "newcomer");
  mkdirSync(newcomer);
  run(`README: ${init}`, "sh", ["-c", `${init} --silent`], newcomer);
  run("README: npm install", "npm", ["install", "--no-audit", "--no-fund", "--silent", tarball], newcomer);
  writeFileSync(join(newcomer, "price.ts"), snippet);
  run("README: tsc --init", bin("tsc"), ["--init"], newcomer);
  run("README: compile its snippet", bin("tsc"), ["-p", "tsconfig.json"], newcomer);
  const { stdout, stderr } = spawnSync(process.execPath, ["price.js"], { cwd: newcomer, encoding: "utf8" });
  console.log(stdout, stderr);
  const value = Number.parseFloat(stdout);
  if (!(Math.abs(value - 6.090371) < 1e-3)) throw new Error(`README: its snippet printed ${stdout}, expected 6.0904`);
}

try {
  const tarball = process.argv[2] ?? pack();
  run("publint", extraBin("publint"), ["run", tarball, "--strict"]);
  run("are the types wrong", extraBin("attw"), [tarball, "--profile", "esm-only", "--no-emoji", "--format", "ascii"]);

  const consumer = join(temporary, "consumer");
  mkdirSync(consumer);
  writeFileSync(join(consumer, "package.json"), JSON.stringify({ name: "consumer", private: true, type: "module" }));
  for (const name of readdirSync(join(root, ".ci/consumer"))) {
    copyFileSync(join(root, ".ci/consumer", name), join(consumer, name));
  }
  run("npm install the tarball", "npm", ["install", "--no-audit", "--no-fund", "--silent", tarball], consumer);
  checkContents(join(consumer, "node_modules/feynkac"));
  run("use it from a script", process.execPath, ["smoke.mjs"], consumer);
  run("use its command", join(consumer, "node_modules/.bin/feynkac"), ["--version"], consumer);
  run("use its types", bin("tsc"), ["-p", "tsconfig.json"], consumer);
  const types = join(root, "node_modules/@types");
  run("compile its examples", bin("tsc"), ["-p", layOutExamples(consumer), "--typeRoots", types], consumer);
  tryReadme(tarball);
  console.log("\n— follow its links");
  const broken = brokenLinks(join(consumer, "node_modules/feynkac"));
  if (broken.length > 0) throw new Error(`links to what is not in the package:\n${broken.join("\n")}`);
  console.log("\n— use it minified");
  await checkMinified(consumer);
  console.log("\npackage: ok");
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
