import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, test } from "vitest";
import type { BookReport, PricedTrade } from "../../src/book/index.ts";
import { openEngine } from "../../src/cli/engine.ts";
import { main } from "../../src/cli/main.ts";
import { kept } from "./in-process.ts";

describe("the DAX example, priced by the command on the CPU", () => {
  let status: number;
  let report: BookReport;
  const priced = new Map<string, PricedTrade>();

  beforeAll(async () => {
    const path = fileURLToPath(new URL("../../examples/dax/book.json", import.meta.url));
    const { terminal, stdout } = kept();
    const args = ["price", path, "--format", "json", "--backend", "cpu"];
    status = await main(args, terminal, new AbortController().signal, openEngine);
    report = JSON.parse(stdout()) as BookReport;
    for (const result of report.results) if (result.status === "ok") priced.set(result.id, result);
  });

  const valueOf = (id: string): number => priced.get(id)!.value;

  test("every trade has a price, every Greek and an error within 1e-4 of the spot", () => {
    expect(report).toMatchObject({ priced: 1008, failed: 0 });
    expect(status).toBe(0);
    const incomplete = [...priced.values()].filter(
      ({ value, delta, gamma, theta, vega, rho }) => ![value, delta, gamma, theta, vega, rho].every(Number.isFinite),
    );
    expect(incomplete).toEqual([]);
    expect([...priced.values()].filter(({ errorEstimate }) => !(errorEstimate < 1e-4 * 4468.17))).toEqual([]);
  });

  test("calls and puts are in parity: C − P = S − K·P(0, T)", () => {
    // 524 days: the zero rate is 3.86 %.
    const discount = Math.exp((-0.0386 * 524) / 365);
    for (const strike of [3400, 4500, 5600]) {
      const parity = 4468.17 - strike * discount;
      // Both are closed forms: rounding of a few 1e-12.
      expect(valueOf(`call-${strike}-524d-E`) - valueOf(`put-${strike}-524d-E`)).toBeCloseTo(parity, 8);
    }
  });

  test("an American option is worth its European one at least, and a call without dividends no more", () => {
    const wrong = [...priced.values()].filter(({ id, value, errorEstimate }) => {
      const european = priced.get(id.replace(/-A$/, "-E"))!;
      const slack = errorEstimate + european.errorEstimate;
      return value < european.value - slack || (id.startsWith("call") && value > european.value + slack);
    });
    expect(wrong).toEqual([]);
  });
});
