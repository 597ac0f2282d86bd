import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { counted } from "../../support/extent.ts";
import { bundled, programFolder } from "../../support/program.ts";
import { hashesOf, priceKilled, random, runOrKill } from "./killed.ts";

let folder: string;
let programs: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "feynkac-killed-"));
  programs = programFolder();
});
afterAll(() => {
  rmSync(folder, { recursive: true });
  rmSync(programs, { recursive: true });
});

test("a run that is killed at random moments ends with the bytes of one that was not", async () => {
  const program = bundled('import { runFromShell } from "./src/cli/main.ts";\nawait runFromShell();', programs);
  const book = join(folder, "book.ndjson");
  const header = {
    asOf: "2026-11-20T16:00:00Z",
    market: { rates: { EUR: 0.05 }, underlyings: { ACME: { spot: 100, currency: "EUR", volatility: 0.2 } } },
  };
  const trades = Array.from({ length: 2000 }, (_, i) => {
    const [payoff, strike, expiry] = [i % 2 === 0 ? "put" : "call", 80 + (i % 41), 0.25 + (i % 17) / 8];
    return { id: `T${i}`, underlying: "ACME", payoff, strike, expiry, quantity: 1 + (i % 3) };
  });
  writeFileSync(book, [header, ...trades].map((line) => JSON.stringify(line)).join("\n"));
  const args = (name: string): string[] => [
    "price",
    book,
    "--chunk-trades",
    "50",
    "--threads",
    "1",
    "--output",
    `${join(folder, name)}/`,
  ];
  const began = performance.now();
  expect(await runOrKill(program, args("whole"))).toBe(0);
  const longest = performance.now() - began;
  const killed = await priceKilled(program, args("killed"), {
    kills: counted("FEYNKAC_KILLS", 2, 6),
    longest,
    random: random(1),
  });
  expect(killed).toBeGreaterThan(0);
  expect(hashesOf(join(folder, "killed"))).toEqual(hashesOf(join(folder, "whole")));
});
