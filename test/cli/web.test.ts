import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { type RunningServer, serveWeb } from "../../src/cli/web-server.ts";
import { feynkac } from "./in-process.ts";

let server: RunningServer;
const folder = mkdtempSync(join(tmpdir(), "feynkac-web-"));

beforeAll(async () => {
  writeFileSync(join(folder, "index.html"), "<!doctype html><title>page</title>");
  writeFileSync(join(folder, "a.js"), "1");
  server = await serveWeb(folder, 0);
});
afterAll(() => {
  server.close();
  rmSync(folder, { recursive: true });
});

test("serves its files with the headers that shared memory needs", async () => {
  const response = await fetch(server.address.replace("localhost", "127.0.0.1"));
  expect(await response.text()).toContain("<title>page</title>");
  expect(Object.fromEntries(response.headers)).toMatchObject({
    "content-type": "text/html; charset=utf-8",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
  });
  expect((await fetch(`${server.address}a.js?x=1`)).headers.get("content-type")).toMatch(/^text\/javascript/);
});

test.each(["missing.js", "..%2f..%2fetc/passwd", "../package.json", "a.js/"])("does not serve %s", async (path) => {
  expect((await fetch(server.address + path)).status).toBe(404);
});

test("only reads", async () => {
  expect((await fetch(server.address, { method: "POST" })).status).toBe(405);
});

test("says what to do where the page was not built or the port is taken", async () => {
  await expect(serveWeb(join(folder, "none"), 0)).rejects.toThrow(/there is no page in .*npm run build/);
  const port = Number(new URL(server.address).port);
  await expect(serveWeb(folder, port)).rejects.toThrow(`cannot listen on port ${port}: it is taken; leave --port out`);
});

test("refuses a port that is none", async () => {
  const { status, stderr } = await feynkac(["web", "--port", "70000"]);
  expect(status).toBe(2);
  expect(stderr).toContain("expected a port from 0 (any free one) to 65535");
});
