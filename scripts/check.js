// npm run check [-- BASE]: types, lint, format, and the tests beside what changed since BASE (by default since the
// branch left main, or the last commit on main itself), in about a minute. `.ci/run` is everything.
import { spawn, spawnSync } from "node:child_process";
import { testsBeside } from "./tests-beside.ts";

function git(...args) {
  const { status, stdout, stderr } = spawnSync("git", args, { encoding: "utf8" });
  if (status !== 0) {
    console.error(`check: git ${args.join(" ")}: ${stderr.trim()}; name a commit: npm run check -- BASE`);
    process.exit(2);
  }
  return stdout.split(/[\0\n]/).filter(Boolean);
}
const [base = git("merge-base", "HEAD", "main")[0]] = process.argv.slice(2);
const changed = [
  ...new Set([
    ...git("diff", "--name-only", "--no-renames", "-z", base, "--"),
    ...git("ls-files", "--others", "--exclude-standard", "-z"),
  ]),
];

/** Files that take longer than the whole check may; they run in `.ci/run`. */
const SLOW = /browser|fuzz|cuda-nvcc|splits|conformance|\/axes\/devices/;

const beside = [...new Set(changed.flatMap(testsBeside))];
const tests = ["test/architecture", ...beside.filter((test) => !SLOW.test(test))];
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

console.log(`${changed.length} files changed since ${base.slice(0, 10)}; ${tests.length} files of tests`);
for (const test of beside.filter((one) => SLOW.test(one))) console.log(`left out, as it takes long: ${test}`);
const passed = await Promise.all(steps.map(run));
process.exitCode = passed.every(Boolean) ? 0 : 1;
