// npm run check [-- BASE]: types, lint, format, and the tests beside what changed since BASE (by default since the
// branch left main, or the last commit on main itself), in about a minute. `.ci/run` is everything.
import { spawn, spawnSync } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { basename, dirname, join } from "node:path";

const git = (...args) => spawnSync("git", args, { encoding: "utf8" }).stdout.trim().split("\n").filter(Boolean);
const [base = git("merge-base", "HEAD", "main")[0] ?? "HEAD"] = process.argv.slice(2);
const changed = [
  ...new Set([
    ...git("diff", "--name-only", "--diff-filter=d", base),
    ...git("ls-files", "--others", "--exclude-standard"),
  ]),
];

/** Files that take longer than the whole check may; they run in `.ci/run`. */
const SLOW = /browser|fuzz|cuda-nvcc|splits|conformance|\/axes\/devices/;

/** The tests beside a file: itself, or those in the folder of `test` that is named like its own, or the nearest one. */
function testsBeside(file) {
  if (/^test\/.*\.test\.ts$/.test(file)) return [file];
  const [, inside] = /^(?:src|test)\/(.*)$/.exec(file) ?? [];
  if (inside === undefined) return [];
  const ofItsName = join("test", inside).replace(/\.ts$/, ".test.ts");
  if (existsSync(ofItsName)) return [ofItsName];
  let folder = join("test", dirname(inside));
  while (!existsSync(folder)) folder = dirname(folder);
  if (folder === "test") return [];
  return readdirSync(folder)
    .filter((name) => name.endsWith(".test.ts"))
    .map((name) => join(folder, name));
}

const tests = [...new Set(["test/architecture", ...changed.flatMap(testsBeside)])].filter((test) => !SLOW.test(test));
const steps = [
  ["types", ["npm", "run", "--silent", "typecheck"]],
  ["lint", ["npm", "run", "--silent", "lint"]],
  ["format", ["npm", "run", "--silent", "format:check"]],
  ["tests", ["node", "node_modules/vitest/vitest.mjs", "run", "--reporter=dot", ...tests]],
];

/** Runs one step, and shows what it says when it has ended, since others run beside it. */
const run = ([title, [command, ...args]]) =>
  new Promise((resolve) => {
    const began = performance.now();
    const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"] });
    let said = "";
    for (const stream of [child.stdout, child.stderr]) stream.on("data", (text) => (said += text));
    child.on("close", (code) => {
      const seconds = ((performance.now() - began) / 1e3).toFixed(0);
      console.log(`${code === 0 ? "passed" : "FAILED"}: ${title}, ${seconds} s`);
      if (code !== 0) console.log(said);
      resolve(code === 0);
    });
  });

console.log(`${changed.length} files changed since ${basename(base).slice(0, 10)}; ${tests.length} files of tests`);
const passed = await Promise.all(steps.map(run));
process.exitCode = passed.every(Boolean) ? 0 : 1;
