import { type ChildProcessWithoutNullStreams, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync, closeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { asOf, book, market, trade } from "../book/books.ts";

const root = fileURLToPath(new URL("../../", import.meta.url));
const command = ["--import", "tsx", join(root, "test/cli/shell.ts")];

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "feynkac-process-"));
});
afterAll(() => rmSync(folder, { recursive: true }));

function start(args: readonly string[], nodeOptions: readonly string[] = []): ChildProcessWithoutNullStreams {
  return spawn(process.execPath, [...nodeOptions, ...command, ...args], { cwd: root });
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
    expect((await end(child)).stdout).toMatch(/^id,.*\nT1,ok,0,/);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("%s while it waits for input: status %i", async (signal, expected) => {
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

  test("150,000 trades in a heap of 48 MiB", async () => {
    // As text they are 15 MB, as results 30 MB, as trades and results in memory several times that.
    const args = [
      "price",
      largeFile("large.ndjson", 150_000),
      "--format",
      "ndjson",
      "--output",
      join(folder, "out.ndjson"),
    ];
    const { status, stderr } = await end(start(args, ["--max-old-space-size=48"]));
    expect(stderr).toMatch(/^150,000 trades priced/);
    expect(status).toBe(0);
  });
});

// What `npm ci` installs; a checkout that is not built has nothing to test here.
const built = existsSync(join(root, "dist/cli/main.js"));

test.skipIf(!built)("bin/feynkac.js runs what is built", () => {
  const { status, stdout } = spawnSync(process.execPath, [join(root, "bin/feynkac.js"), "--version"], {
    encoding: "utf8",
  });
  expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
  expect(status).toBe(0);
});
