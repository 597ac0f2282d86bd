/**
 * The cache of compiled kernels on disk: what is on it is never believed blindly, and nothing it does can fail a
 * compile.
 */
import { execFile } from "node:child_process";
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Host } from "../../src/device/host.ts";
import { KernelCache } from "../../src/device/cache/kernel-cache.ts";
import { cacheDirectory } from "../../src/device/cache/directory.ts";

let directory: string;
beforeEach(() => (directory = mkdtempSync(join(tmpdir(), "feynkac-cache-"))));
afterEach(() => rmSync(directory, { recursive: true, force: true }));

const host = (environment: Record<string, string>, platform = "linux"): Host => ({
  platform,
  architecture: "x64",
  home: platform === "win32" ? "C:\\Users\\ada" : "/home/ada",
  environment,
  exists: () => false,
  list: () => [],
});
const cacheIn = (place: string, maxBytes?: number): KernelCache =>
  new KernelCache(host({ FEYNKAC_CACHE: place }), maxBytes);
const image = (seed: number, bytes = 1000): Uint8Array => Uint8Array.from({ length: bytes }, (_, i) => seed + i * 7);
const onlyFile = (): string => join(directory, readdirSync(directory)[0]);

describe("an entry", () => {
  test("is found by its key, in another process's cache too", () => {
    cacheIn(directory).store("key π", image(1));
    expect(cacheIn(directory).find("key π")).toEqual(image(1));
    expect(cacheIn(directory).find("key e")).toBeUndefined();
  });

  test("is replaced by a later one", () => {
    const cache = cacheIn(directory);
    cache.store("key", image(1));
    cache.store("key", image(2));
    expect(cache.find("key")).toEqual(image(2));
    expect(readdirSync(directory)).toHaveLength(1);
  });

  test.each([
    ["cut short", (bytes: Buffer) => bytes.subarray(0, bytes.length - 1)],
    ["empty", () => Buffer.alloc(0)],
    ["of one flipped bit", (bytes: Buffer) => Buffer.from(bytes.map((byte, i) => (i === 500 ? byte ^ 1 : byte)))],
    ["of something else", () => Buffer.from("feynkac kernel 2\nnot really")],
  ])("%s is not believed, and is written anew", (_, damage) => {
    const cache = cacheIn(directory);
    cache.store("key", image(1));
    writeFileSync(onlyFile(), damage(readFileSync(onlyFile())));
    expect(cache.find("key")).toBeUndefined();
    cache.store("key", image(1));
    expect(cache.find("key")).toEqual(image(1));
  });

  test("of another key under the same name, as if hashes collided, is not believed", () => {
    const cache = cacheIn(directory);
    cache.store("one key", image(1));
    const bytes = readFileSync(onlyFile());
    rmSync(onlyFile());
    cache.store("two key", image(2));
    writeFileSync(onlyFile(), bytes);
    expect(cache.find("two key")).toBeUndefined();
  });
});

describe("a directory", () => {
  test("that cannot be made or written is no failure", () => {
    writeFileSync(join(directory, "file"), "");
    const cache = cacheIn(join(directory, "file", "cache"));
    cache.store("key", image(1));
    expect(cache.find("key")).toBeUndefined();
  });

  test.skipIf(process.getuid?.() === 0)("that is read-only is no failure", () => {
    chmodSync(directory, 0o500);
    const cache = cacheIn(directory);
    cache.store("key", image(1));
    expect(cache.find("key")).toBeUndefined();
    chmodSync(directory, 0o700);
  });

  test("holds the latest used entries up to its bound, and other people's files", () => {
    const cache = cacheIn(directory, 3500);
    writeFileSync(join(directory, "notes.txt"), "mine");
    writeFileSync(join(directory, "old.tmp"), "left by a crash");
    utimesSync(join(directory, "old.tmp"), 0, 0);
    for (const [i, key] of ["a", "b", "c", "d"].entries()) {
      cacheIn(directory, Infinity).store(key, image(i));
      for (const name of readdirSync(directory).filter((file) => file.endsWith(".kernel")))
        utimesSync(join(directory, name), Date.now() / 1000 - 10, Date.now() / 1000 - 10);
    }
    expect(cache.find("a")).toEqual(image(0)); // used just now
    cache.store("e", image(5));
    expect(cache.find("a")).toEqual(image(0));
    expect(cache.find("e")).toEqual(image(5));
    const left = readdirSync(directory).sort();
    expect(left).toContain("notes.txt");
    expect(left).not.toContain("old.tmp");
    expect(left.filter((name) => name.endsWith(".kernel"))).toHaveLength(3);
  });

  test("is shared by processes that store and find at once", async () => {
    const module = pathToFileURL(join(import.meta.dirname, "../../src/device/cache/kernel-cache.ts")).href;
    const script = join(directory, "writer.mts");
    writeFileSync(
      script,
      `const { KernelCache } = await import(${JSON.stringify(module)});
       const cache = new KernelCache();
       const image = new Uint8Array(50_000).fill(7);
       let bad = 0;
       for (let i = 0; i < 40; i++) {
         cache.store("shared " + (i % 4), image);
         const found = cache.find("shared " + ((i + 1) % 4));
         if (found !== undefined && (found.length !== 50_000 || found.some((byte) => byte !== 7))) bad++;
       }
       console.log("bad " + bad);`,
    );
    const shared = join(directory, "shared");
    const tsx = join(import.meta.dirname, "../../node_modules/.bin/tsx");
    const run = promisify(execFile);
    const environment = { ...process.env, FEYNKAC_CACHE: shared };
    const results = await Promise.all([1, 2, 3].map(() => run(tsx, [script], { env: environment })));
    expect(results.map(({ stdout }) => stdout.trim())).toEqual(["bad 0", "bad 0", "bad 0"]);
    const cache = cacheIn(shared);
    for (let i = 0; i < 4; i++) expect(cache.find(`shared ${i}`)?.length).toBe(50_000);
    expect(readdirSync(shared).filter((name) => !name.endsWith(".kernel"))).toEqual([]);
  });
});

test("a claim is another's until it is released, or its process has ended", async () => {
  const cache = cacheIn(directory);
  const release = cache.claim("key");
  expect([typeof release, cache.claim("key")]).toEqual(["function", undefined]);
  const claim = onlyFile();
  const ended = await promisify(execFile)(process.execPath, ["-p", "process.pid"]);
  writeFileSync(claim, readFileSync(claim, "utf8").replace(/\d+$/, ended.stdout.trim()));
  expect(cache.claim("key")).toBeUndefined(); // and gives it up
  expect(typeof cache.claim("key")).toBe("function");
  writeFileSync(claim, `another-machine ${ended.stdout.trim()}`);
  expect([cache.claim("key"), cache.claim("key")]).toEqual([undefined, undefined]);
  release?.();
  expect(typeof cache.claim("key")).toBe("function");
});

test("FEYNKAC_CACHE=off keeps nothing", () => {
  const cache = cacheIn("off");
  expect(cache.directory).toBeUndefined();
  cache.store("key", image(1));
  expect(cache.find("key")).toBeUndefined();
});

test.each([
  [host({ XDG_CACHE_HOME: "/cache" }), "/cache/feynkac"],
  [host({}), "/home/ada/.cache/feynkac"],
  [host({}, "darwin"), "/home/ada/Library/Caches/feynkac"],
  [host({ LOCALAPPDATA: "C:\\Local" }, "win32"), "C:\\Local\\feynkac\\cache"],
  [host({ FEYNKAC_CACHE: "/mine" }), "/mine"],
])("the platform's place, %#", (described, expected) => {
  expect(cacheDirectory(described)).toBe(expected);
});
