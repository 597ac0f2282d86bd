import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test, vi } from "vitest";
import { feynkac } from "../../cli/in-process.ts";
import { type S3Server, startS3 } from "../../support/s3-server.ts";

let server: S3Server;
let folder: string;
let book: string;
beforeAll(async () => {
  server = await startS3();
  folder = mkdtempSync(join(tmpdir(), "feynkac-s3-"));
  book = join(folder, "book.ndjson");
  const header = {
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
  };
  const trades = Array.from({ length: 45 }, (_, i) => ({
    id: `T${i}`,
    underlying: "ACME",
    payoff: "put",
    strike: 90 + i,
    expiry: 1,
  }));
  writeFileSync(book, [header, ...trades].map((line) => JSON.stringify(line)).join("\n"));
  vi.stubEnv("AWS_ENDPOINT_URL_S3", server.url);
  vi.stubEnv("AWS_ACCESS_KEY_ID", "key");
  vi.stubEnv("AWS_SECRET_ACCESS_KEY", "never-logged");
});
afterEach(() => server.objects.clear());
afterAll(async () => {
  vi.unstubAllEnvs();
  await server[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const price = (...more: string[]) =>
  feynkac(["price", book, "--output", "s3://bucket/runs/one", "--chunk-trades", "10", ...more]);

test("a run lies under a prefix of a bucket, with the bytes that a folder has", async () => {
  expect((await price()).stderr).toContain("45 trades in 5 parts");
  await feynkac(["price", book, "--output", `${folder}/run/`, "--chunk-trades", "10"]);
  const parts = [...server.objects.keys()].filter((key) => key.endsWith(".parquet")).sort();
  expect(parts).toHaveLength(5);
  expect(server.objects.size).toBe(6);
  for (const key of parts)
    expect(server.objects.get(key)!.equals(readFileSync(join(folder, "run/parts", key.split("/").at(-1)!)))).toBe(true);
});

test("it is resumed, verified and merged there", async () => {
  await price();
  const [first] = [...server.objects.keys()].filter((key) => key.endsWith(".parquet"));
  server.objects.delete(first);
  expect((await feynkac(["verify", "s3://bucket/runs/one"])).stdout).toContain("missing");
  expect((await price("--resume")).stderr).toContain("10 trades priced");
  expect((await feynkac(["verify", "s3://bucket/runs/one/"])).status).toBe(0);
  const { stdout } = await feynkac(["merge", "s3://bucket/runs/one", "--format", "csv"]);
  expect(stdout.trim().split("\n")).toHaveLength(46);
});

test("a book lies there, too", async () => {
  server.objects.set("bucket/books/book.ndjson", readFileSync(book));
  const { stderr } = await feynkac(["price", "s3://bucket/books/book.ndjson", "--output", "s3://bucket/runs/two"]);
  expect(stderr).toContain("45 trades in 1 parts");
});

test.each([
  [
    "an object that is not there",
    ["price", "s3://bucket/none.ndjson", "--output", "s3://bucket/x"],
    /cannot read s3:\/\/bucket\/none.ndjson: /,
  ],
  ["a run that is not there", ["verify", "s3://bucket/none"], /there is no run/],
  ["no bucket", ["verify", "s3://"], /expected s3:\/\/BUCKET\/PREFIX/],
])("%s is an error without secrets", async (_, args, message) => {
  const { status, stderr } = await feynkac(args);
  expect(stderr).toMatch(message);
  expect(stderr).not.toContain("never-logged");
  expect(status).toBe(2);
});

test("a server that fails for a moment is asked again", async () => {
  server.failures.push(503, 500);
  expect((await price()).status).toBe(0);
});
