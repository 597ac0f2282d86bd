import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  closeSync,
  existsSync,
  lstatSync,
  mkdtempSync,
  openSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asOf, book, market, trade } from "../book/books.ts";
import { dealt, everything } from "../support/extent.ts";
import { bundled, programFolder } from "../support/program.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const SHELLS = ["shell", "stuck-shell", "real-shell"] as const;

let folder: string;
let programs: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "feynkac-process-"));
  programs = programFolder();
  for (const shell of SHELLS) bundled(`import "./test/cli/${shell}.ts";`, programs, shell);
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(programs, { recursive: true });
});

const program = (shell: (typeof SHELLS)[number]): string => join(programs, `${shell}.mjs`);

function start(
  args: readonly string[],
  nodeOptions: readonly string[] = [],
  shell: (typeof SHELLS)[number] = "shell",
): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...nodeOptions, program(shell), ...args], { cwd: root });
}

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

async function end(child: ChildProcessWithoutNullStreams): Promise<Ended> {
  let stdout = "";
  let stderr = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => (stdout += text));
  child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
  const [status] = (await once(child, "close")) as [number | null];
  return { status, stdout, stderr };
}

function file(name: string, content: unknown): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === "string" ? content : JSON.stringify(content));
  return path;
}

/** An NDJSON book of this many trades. */
function largeFile(name: string, trades: number): string {
  const path = join(folder, name);
  const handle = openSync(path, "w");
  writeSync(handle, `${JSON.stringify({ asOf, market: market() })}\n`);
  for (let i = 0; i < trades; i += 1000) {
    writeSync(
      handle,
      Array.from({ length: 1000 }, (_, j) => `${JSON.stringify(trade({ id: `T${i + j}` }))}\n`).join(""),
    );
  }
  closeSync(handle);
  return path;
}

describe("the command as a process", () => {
  test.each([
    [0, book(trade())],
    [1, book(trade(), trade({ id: "X", strike: -5 }))],
    [2, { asOf }],
  ])("exits with %i; results on standard output, the rest on standard error", async (status, content) => {
    const ended = await end(start(["price", file("book.json", content), "--format", "ndjson"]));
    expect(ended.status).toBe(status);
    for (const line of ended.stdout.split("\n").filter(Boolean))
      expect(() => JSON.parse(line) as unknown).not.toThrow();
    expect(ended.stdout === "").toBe(status === 2);
    expect(ended.stderr).toMatch(status === 2 ? /^feynkac: market: / : /trades? priced in/);
  });

  test("reads standard input", async () => {
    const child = start(["price", "-", "--format", "csv"]);
    child.stdin.end(JSON.stringify(book(trade())));
    expect((await end(child)).stdout).toMatch(/^id,.*\nT1,ACME,EUR,1,ok,0,/);
  });

  const signals = [
    ["SIGINT", 130],
    ["SIGTERM", 143],
    ["SIGHUP", 129],
  ] as const;

  test.each(dealt(signals, 0, 2))("%s while it waits for input: status %i", async (signal, expected) => {
    const child = start(["price", "-", "--input-format", "ndjson", "--format", "ndjson"]);
    const ending = end(child);
    child.stdin.write(`${JSON.stringify({ asOf, market: market() })}\n`);
    for (let i = 0; i < 100; i++) child.stdin.write(`${JSON.stringify(trade({ id: `T${i}` }))}\n`);
    // A hundred trades are the stand-in's batch: the first results say that it is running.
    await once(child.stdout, "data");
    child.kill(signal);
    const { status, stderr } = await ending;
    expect(stderr).toBe("feynkac: interrupted\n");
    expect(status).toBe(expected);
  });

  const leftovers = (): string[] => readdirSync(folder).filter((name) => name.endsWith(".tmp"));

  test.each(dealt(signals, 1, 2))(
    "%s while the pricer does not listen: status %i, and no temporary file",
    async (signal, expected) => {
      const target = join(folder, "never.csv");
      const child = start(["price", file("book.json", book(trade())), "--output", target], [], "stuck-shell");
      const ending = end(child);
      await once(child.stderr, "data");
      expect(leftovers()).toHaveLength(1);
      child.kill(signal);
      const { status, stderr } = await ending;
      expect(stderr).toBe("stuck\nfeynkac: interrupted\n");
      expect(status).toBe(expected);
      expect(leftovers()).toEqual([]);
      expect(existsSync(target)).toBe(false);
    },
  );

  // On one thread each of these trades takes seconds at this accuracy, and all of them more than this test may.
  test.concurrent("a signal ends kernels that have long to go", async () => {
    const target = join(folder, "never.ndjson");
    const args = ["--accuracy", "1e-8", "--threads", "1", "--output", target];
    const hard = { exercise: "american", barriers: [{ type: "up-and-out", level: 150 }] };
    const trades = Array.from({ length: 200 }, (_, i) => trade({ id: `T${i}`, expiry: 3 + i / 1000, ...hard }));
    const child = start(["price", file("hard.json", book(...trades)), ...args], [], "real-shell");
    const ending = end(child);
    while (leftovers().length === 0) await setTimeout(50);
    await setTimeout(2000); // in which the first kernels have begun
    child.kill("SIGTERM");
    expect(await ending).toEqual({ status: 143, stdout: "", stderr: "feynkac: interrupted\n" });
    expect(leftovers()).toEqual([]);
  });

  // A hundred fits of Heston's model to 2,400 quotes each take longer than this test may.
  const interrupted = { status: 130, stdout: "", stderr: "feynkac: interrupted\n" };
  const killed = { status: null, stdout: "", stderr: "" };
  const fits = [
    ["calibrate", "SIGINT", interrupted],
    ["price", "SIGINT", interrupted],
    ["price", "SIGTERM", killed],
    ["calibrate", "SIGTERM", killed],
  ] as const;
  /** Starts a command with quotes that take long to fit, and returns when it has read them. */
  const startFits = async (command: string): Promise<ReturnType<typeof start>> => {
    const expiries = Array.from({ length: 40 }, (_, i) => 0.1 * (i + 1));
    const strikes = Array.from({ length: 60 }, (_, i) => 70 + i);
    const implied = expiries.map((_, i) => strikes.map((_, j) => 0.2 + 0.05 * Math.sin(i) * Math.cos(j)));
    const volatility = { quotes: { expiries, strikes, implied }, fit: "heston" };
    const underlyings = Object.fromEntries(
      Array.from({ length: 100 }, (_, i) => [`U${i}`, { spot: 100 + i / 100, currency: "EUR", volatility }]),
    );
    const given = JSON.stringify({ asOf, market: { rates: { EUR: 0.02 }, underlyings }, trades: [] });
    const child = start([command, "-"]);
    // More than a pipe holds: when it is written, the command reads.
    await new Promise((resolve) => child.stdin.write(given + " ".repeat(1 << 20), resolve));
    child.stdin.end();
    return child;
  };

  test.concurrent.each(dealt(fits, 0, 2))("%s ends by %s while it fits", async (command, signal, expected) => {
    const child = await startFits(command);
    const ending = end(child);
    await setTimeout(2000); // in which the fit has begun
    child.kill(signal);
    expect(await ending).toEqual(expected);
    expect(child.signalCode).toBe(expected.status === null ? signal : null);
  });

  // While it reads, and while it fits. Between them lies a millisecond in which a signal is lost (LIMITATIONS.md).
  const moments = [0, 20, 150].flatMap((delay) =>
    (["SIGINT", "SIGTERM"] as const).map((signal) => ({ delay, signal })),
  );
  test.concurrent.each(dealt(moments, 0, 5))(
    "$signal $delay ms after the last byte of a book is not lost",
    async ({ delay, signal }) => {
      const child = await startFits("price");
      const ending = end(child);
      await setTimeout(delay);
      child.kill(signal);
      const { status, stdout } = await ending;
      expect([130, 143, null]).toContain(status);
      expect(stdout).toBe("");
    },
  );

  test("what nobody has caught is one message, and leaves no temporary file", async () => {
    const code = `import { openOutput } from "./src/cli/output.ts"; import { runFromShell } from "./src/cli/main.ts";
      await openOutput(${JSON.stringify(join(folder, "lost.csv"))}, process.stdout);
      process.argv.splice(1, 1); process.argv = [process.argv[0], "feynkac", "--version"];
      await runFromShell(); setTimeout(() => { throw new Error("unforeseen"); });`;
    const child = spawn(process.execPath, [bundled(code, programs, "lost")], { cwd: root });
    const { status, stderr } = await end(child);
    expect(stderr).toMatch(/^feynkac: this is a mistake of the program, please report it: Error: unforeseen\n/);
    expect(status).toBe(70);
    expect(leftovers()).toEqual([]);
  });

  const full = existsSync("/dev/full") ? openSync("/dev/full", "w") : undefined;
  afterAll(() => full !== undefined && closeSync(full));

  const writing = [["price", "--format", "json"], ["price", "--format", "table"], ["--help"]];
  test.skipIf(full === undefined).each(dealt(writing, 0, 2))(
    "standard output on a full disk is one message and status 2: %s %s %s",
    async (...args) => {
      const path = args[0] === "price" ? [file("full.json", book(trade()))] : [];
      const all = [program("shell"), ...args, ...path];
      const child = spawn(process.execPath, all, { cwd: root, stdio: ["ignore", full, "pipe"] });
      let stderr = "";
      child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr += text));
      expect(await once(child, "close")).toEqual([2, null]);
      expect(stderr.replace(/^.* priced in .*\n/, "")).toBe(
        "feynkac: cannot write to standard output: no space left on device\n",
      );
    },
  );

  test.skipIf(full === undefined)("a file on a full disk too", async () => {
    const { status, stderr } = await end(
      start(["price", largeFile("f.ndjson", 2000), "-o", "/dev/full", "--format", "csv"]),
    );
    expect(stderr).toBe("feynkac: cannot write /dev/full: no space left on device\n");
    expect(status).toBe(2);
  });

  // What /dev/stdout is: a link to a pipe, which has no name that could be replaced.
  test.skipIf(!existsSync("/proc/self/fd"))("--output to a link to a pipe is written to, and stays", () => {
    const link = join(folder, "standard-output");
    symlinkSync("/proc/self/fd/1", link);
    const args = [program("shell"), "price", file("o.json", book(trade())), "-o", link];
    const line = `${[process.execPath, ...args].map((word) => `'${word}'`).join(" ")} | cat`;
    const { stdout, stderr } = spawnSync("sh", ["-c", line], { cwd: root, encoding: "utf8" });
    expect(stderr).toMatch(/^1 trade priced/);
    expect(stdout).toMatch(/^trade /);
    expect(lstatSync(link).isSymbolicLink()).toBe(true);
  });

  test("standard input that is a directory is one message and status 2", async () => {
    const handle = openSync(folder, "r");
    const all = [program("shell"), "price", "-"];
    const child = spawn(process.execPath, all, { cwd: root, stdio: [handle, "ignore", "pipe"] });
    closeSync(handle);
    let stderr = "";
    child.stderr!.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    expect(await once(child, "close")).toEqual([2, null]);
    expect(stderr).toBe("feynkac: cannot read standard input: it is a directory\n");
  });

  test.skipIf(!existsSync("/proc/self/mem"))("a file that cannot be read is one message and status 2", async () => {
    const { status, stderr } = await end(start(["price", "/proc/self/mem"]));
    expect(stderr).toBe("feynkac: cannot read /proc/self/mem: i/o error\n");
    expect(status).toBe(2);
  });

  test("a pipe that is closed early is no failure and no trace", async () => {
    const child = start(["price", largeFile("pipe.ndjson", 20_000), "--format", "ndjson"]);
    const closed = once(child, "close");
    let stderr = "";
    child.stderr.setEncoding("utf8").on("data", (text: string) => (stderr += text));
    await once(child.stdout, "data");
    child.stdout.destroy();
    expect(await closed).toEqual([0, null]);
    expect(stderr).toBe("");
  });

  test.skipIf(!everything)("200,000 trades in a heap of 64 MiB", async () => {
    // The program takes 20 MB. As text they are 20 MB, as results 40 MB, in memory several times that.
    const args = [
      "price",
      largeFile("large.ndjson", 200_000),
      "--format",
      "ndjson",
      "--output",
      join(folder, "out.ndjson"),
    ];
    const { status, stderr } = await end(start(args, ["--max-old-space-size=64"]));
    expect(stderr).toMatch(/^200,000 trades priced/);
    expect(status).toBe(0);
  });
});

// What `npm ci` installs; a checkout that is not built has nothing to test here.
const built = existsSync(join(root, "dist/cli/main.cjs"));

test.skipIf(!built)("bin/feynkac.js runs what is built", () => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, "bin/feynkac.js"), "--version"], {
    encoding: "utf8",
  });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(status).toBe(0);
});
