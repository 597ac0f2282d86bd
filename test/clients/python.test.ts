import { spawn, spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { bundled, programFolder } from "../support/program.ts";

const root = join(import.meta.dirname, "../..");
const client = join(root, "clients/python");
/** Debian's own, which has neither pandas nor pyarrow, before another one. */
const python = existsSync("/usr/bin/python3") ? "/usr/bin/python3" : "python3";
const isMissing = spawnSync(python, ["-c", "import sys; sys.exit(sys.version_info < (3, 9))"]).status !== 0;
const why = isMissing ? " (skipped: python3 of version 3.9 or later is not here)" : "";

let folder: string;
let program: string;
beforeAll(() => {
  folder = programFolder();
  program = bundled('import "./test/cli/real-shell.ts";', folder);
});
afterAll(() => rmSync(folder, { recursive: true }));

const environment = {
  ...process.env,
  PYTHONPATH: join(client, "src"),
  PYTHONDONTWRITEBYTECODE: "1",
  PYTHONIOENCODING: "utf-8",
};

function run(args: readonly string[]): Promise<{ status: number | null; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const command = [process.execPath, program].map((part) => `'${part}'`).join(" ");
    const child = spawn(python, args, { cwd: root, env: { ...environment, FEYNKAC_COMMAND: command } });
    const [stdout, stderr]: [string[], string[]] = [[], []];
    child.stdout.setEncoding("utf8").on("data", (text: string) => stdout.push(text));
    child.stderr.setEncoding("utf8").on("data", (text: string) => stderr.push(text));
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, stdout: stdout.join(""), stderr: stderr.join("") }));
  });
}

test.skipIf(isMissing)(`the tests of the Python client pass${why}`, { timeout: 240_000 }, async () => {
  const found = await run(["-W", "error::ResourceWarning", "-m", "unittest", "discover", "-s", join(client, "tests")]);
  expect(found.stderr).toMatch(/^Ran \d\d tests in .*\n\nOK/m);
  expect(found.status).toBe(0);
});

test.skipIf(isMissing)(`the example in Python${why}`, { timeout: 60_000 }, async () => {
  const { status, stdout, stderr } = await run([join(root, "examples/python/price.py")]);
  expect([status, stderr]).toEqual([0, ""]);
  expect(stdout).toMatch(/^3 of 3$/m);
  expect(stdout).toMatch(/^Paris 2\.\d{4}$/m);
  expect(stdout).toMatch(/^K100 -0\.\d{4} of which delta -0\.\d{4}$/m);
  expect(stdout).toContain("trades[0].strike is wrong: trades[0].strike: expected a positive number, got -90");
});

test.skipIf(isMissing)(`the cells of the notebook run in order${why}`, { timeout: 60_000 }, async () => {
  const runner = join(import.meta.dirname, "notebook.py");
  const { status, stdout, stderr } = await run([runner, join(root, "examples/python/desk.ipynb")]);
  expect([status, stderr]).toEqual([0, ""]);
  // A frame of results, totals by desk, a frame of scenarios, an explanation, and an error.
  for (const id of ["ACME 90", "BETA 55"])
    expect(stdout.match(new RegExp(`\\b${id}\\b`, "g"))?.length).toBeGreaterThan(3);
  const desks = /^\{'Paris': (\d+\.\d+), 'London': (\d+\.\d+)\}$/m.exec(stdout)!;
  expect(Number(desks[1])).toBeGreaterThan(0);
  const [, change, delta] = /^\[\('EUR', (-\d+\.\d+), (-\d+\.\d+)\)\]$/m.exec(stdout)!;
  // The spot rises by 2, and puts lose.
  expect(Number(change)).toBeLessThan(0.8 * Number(delta));
  expect(stdout).toContain("trades[0].strike is wrong: trades[0].strike: expected a positive number, got -90");
});
