/**
 * That the property checks see what is wrong: an oracle that is off, a trade that fails, a value that is not a number.
 */
import { afterAll, describe, expect, it } from "vitest";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import type { Contract } from "../../tools/properties/contract.ts";
import { exact, type Property } from "../../tools/properties/property.ts";
import { findingText, reportText, run, type RunReport } from "../../tools/properties/run.ts";
import { allProperties } from "../../tools/properties/all.ts";
import { verdictOn, verdictText } from "../../tools/properties/verdict.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

const put: Contract = { spot: 100, rate: 0.05, volatility: 0.2, payoff: "put", strike: 100, expiry: 1 };
const PRICE = 5.573526022256971; // Black & Scholes, 40 digits

const comparedWith = (expected: number, contract = put): Property => ({
  name: "one put",
  weight: 1,
  draw: () => ({ contracts: [contract], compare: ([got]) => [exact("its price", got, expected)] }),
});

const reportOn = (property: Property): Promise<RunReport> =>
  run({ device, properties: [property], trades: 10, seed: 1 });

describe("a run", () => {
  it("passes what is right", async () => {
    const report = await reportOn(comparedWith(PRICE));
    expect(report).toMatchObject({ priced: 10, failures: [], offenders: [] });
    expect(verdictOn(report)).toMatchObject({ within: 1, unlisted: [], passed: true });
  });

  it.each([
    [1.5e-5, { beyondEstimate: 10, beyond1e5: 10, beyond2e5: 0 }, 0],
    [2.5e-5, { beyondEstimate: 10, beyond1e5: 10, beyond2e5: 10 }, 10],
  ])("finds what is off by %f of the spot", async (off, counts, unlisted) => {
    const report = await reportOn(comparedWith(PRICE + 100 * off));
    expect(report.checks).toMatchObject([{ check: "its price", n: 10, ...counts }]);
    const verdict = verdictOn(report);
    expect(verdict).toMatchObject({ within: 0, passed: false });
    expect(verdict.unlisted).toHaveLength(unlisted);
    expect(verdictText(verdict)).toMatch(/^failed: 0.000 % of checks/);
  });

  it("finds trades that are not priced, and values that are no numbers", async () => {
    const past = await reportOn(comparedWith(0, { ...put, expiry: -1 }));
    expect(past.failures).toHaveLength(10);
    expect(past.failures[0].check).toContain("trades[0].expiry");
    expect(verdictOn(past).passed).toBe(false);
    expect((await reportOn(comparedWith(Number.NaN))).failures).toHaveLength(10);
  });

  it("prints what it finds as a book that can be priced again", async () => {
    const report = await reportOn(comparedWith(PRICE + 1));
    const [, , ...lines] = findingText(report.offenders[0]).trim().split("\n");
    const [header, one] = lines.map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(header).toMatchObject({ market: { underlyings: { U0: { spot: 100, volatility: 0.2 } } } });
    expect(one).toMatchObject({ id: "t0", underlying: "U0", payoff: "put", strike: 100, expiry: 1 });
    expect(reportText(report, 1)).toContain("its price | 10 | 10 | 10 | 10 | 1.0e-2");
  });

  it("draws the same trades from one seed, and others from another", async () => {
    const [one, same, other] = await Promise.all(
      [1, 1, 2].map((seed) => run({ device, properties: allProperties, trades: 40, seed })),
    );
    expect(same).toEqual(one);
    expect(other.checks).not.toEqual(one.checks);
  });
});
