/** Scripts backwards by finite differences: beside paths, options, closed forms, and finer meshes. */
import { afterAll, describe, expect, test } from "vitest";
import type { PricedTrade } from "../../../src/book/index.ts";
import type { Device } from "../../../src/device/index.ts";
import { createCpuDevice } from "../../../src/device/cpu/index.ts";
import { priceBook, readBook } from "../../../src/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { normalCdf } from "../../support/normal.ts";
import { KINDS, randomNote, type RandomNote, uniforms } from "./random-notes.ts";

const cpu = createCpuDevice({ threads: 1 });
const devices = await openTestDevices();
afterAll(() => {
  cpu[Symbol.dispose]();
  disposeAll(devices);
});

async function resultsOf(notes: readonly RandomNote[], options: object, device: Device = cpu) {
  const underlyings = Object.fromEntries(notes.map(({ market }, k) => [`N${k}`, market]));
  const trades = notes.map(({ trade }, k) => ({ id: `${k}`, underlying: `N${k}`, ...trade }));
  const book = readBook({ asOf: "2026-11-20", market: { rates: { EUR: 0.03 }, underlyings }, trades });
  const { results } = await priceBook(book, { device, sensitivityErrorEstimates: true, ...options });
  return results;
}

async function priced(...given: Parameters<typeof resultsOf>): Promise<readonly PricedTrade[]> {
  return (await resultsOf(...given)).map((result) => {
    if (result.status === "error") throw new Error(result.error.message);
    return result;
  });
}

const market = { spot: 100, currency: "EUR", dividends: { yield: 0.01 }, volatility: 0.2 };
const noteOf = (text: string, data: object, more: object = {}): RandomNote => ({
  trade: { script: { events: [{ on: "dates", do: text }] }, data },
  market: { ...market, ...more },
});

test("random notes are worth what they are on paths, within both estimates", { timeout: 180_000 }, async () => {
  const random = uniforms(7);
  const notes = Array.from({ length: KINDS }, (_, k) => randomNote(k, random));
  const backwards = await priced(notes, { method: "fdm", greeks: "none" });
  const paths = await priced(notes, { method: "montecarlo", greeks: "none" });
  backwards.forEach(({ value, errorEstimate, method }, k) => {
    expect(method).toBe("fdm");
    expect(Math.abs(value - paths[k].value)).toBeLessThanOrEqual(errorEstimate + paths[k].errorEstimate);
  });
});

describe("values that are known otherwise", () => {
  test("digitals at any place among the nodes", { timeout: 120_000 }, async () => {
    const random = uniforms(3);
    const digitals = Array.from({ length: 8 }, () => ({ strike: random(70, 140), dates: random(0.1, 3) }));
    const found = await priced(
      digitals.map((data) => noteOf("if (S > strike) pay(100)", data)),
      { method: "fdm" },
    );
    found.forEach(({ value, errorEstimate, delta, sensitivityErrorEstimates: errors }, k) => {
      const { strike, dates: time } = digitals[k];
      const deviation = 0.2 * Math.sqrt(time);
      const d = (Math.log(100 / strike) + (0.03 - 0.01 - 0.02) * time) / deviation;
      const discount = Math.exp(-0.03 * time);
      expect(Math.abs(value - 100 * discount * normalCdf(d))).toBeLessThanOrEqual(errorEstimate);
      const density = Math.exp(-0.5 * d * d) / Math.sqrt(2 * Math.PI);
      expect(Math.abs(delta! - (discount * density) / deviation)).toBeLessThanOrEqual(errors!.delta!);
    });
  });

  test("a Bermudan put, a knock-out on dates, and cash dividends, as options are", { timeout: 120_000 }, async () => {
    const discrete = [{ date: 0.4, cash: 3 }];
    const dividends = { yield: 0, discrete };
    const knockOut = "if (alive < 1 || S < 85) alive = 0; if (t > 0.99) pay(alive * max(S - strike, 0))";
    const dates = [0.25, 0.5, 0.75, 1];
    const scripts: readonly RandomNote[] = [
      noteOf("exercise(strike - S)", { dates, strike: 105 }, { dividends }),
      {
        trade: {
          script: { state: { alive: 1 }, events: [{ on: "dates", do: knockOut }] },
          data: { dates, strike: 95 },
        },
        market: { ...market, dividends },
      },
    ];
    const options = [
      { payoff: "put", strike: 105, exercise: dates.slice(0, 3), expiry: 1 },
      { payoff: "call", strike: 95, expiry: 1, barriers: [{ type: "down-and-out", level: 85, monitoring: dates }] },
    ].map((trade): RandomNote => ({ trade: trade as never, market: { ...market, dividends } }));
    const found = await priced(scripts, {});
    const wanted = await priced(options, {});
    found.forEach((own, k) => {
      const other = wanted[k];
      expect(own.method).toBe("fdm");
      expect(Math.abs(own.value - other.value)).toBeLessThanOrEqual(own.errorEstimate + other.errorEstimate);
      for (const name of ["delta", "gamma", "vega", "rho", "theta"] as const) {
        const errors = own.sensitivityErrorEstimates![name]! + other.sensitivityErrorEstimates![name]!;
        expect(Math.abs(own[name]! - other[name]!)).toBeLessThanOrEqual(errors);
      }
    });
  });
});

test("estimates cover what a finer mesh changes, also that of a real state", { timeout: 180_000 }, async () => {
  const random = uniforms(11);
  const notes = Array.from({ length: 9 }, (_, k) => randomNote(k, random));
  const coarse = await priced(notes, { method: "fdm", greeks: "none" });
  const fine = await priced(notes, { method: "fdm", greeks: "none", accuracy: { relative: 1e-5 } });
  coarse.forEach(({ value, errorEstimate }, k) => {
    expect(Math.abs(value - fine[k].value)).toBeLessThanOrEqual(errorEstimate + fine[k].errorEstimate);
  });
});

test("scripts with several numbers that follow the spot are paths, and say so", async () => {
  const data = { notional: 100, resets: [0.5, 1], localFloor: -0.1, localCap: 0.1 };
  const cliquet: RandomNote = {
    trade: { script: "cliquet", initial: 100, data: { ...data, globalFloor: 0, globalCap: 0.2, maturity: 1 } },
    market,
  };
  const [result] = await resultsOf([cliquet], { method: "fdm" });
  expect(result.status === "error" && result.error.message).toMatch(/more than one number that follows the spot/);
  const [auto] = await priced([cliquet], { greeks: "none" });
  expect(auto.method).toBe("montecarlo");
});

describe.each(devices)("$label", ({ device, missing }) => {
  test.skipIf(device === undefined)(missing || "gives the values of the CPU", { timeout: 180_000 }, async () => {
    const notes = [randomNote(10, uniforms(5))];
    const options = { method: "fdm", greeks: "none", accuracy: { relative: 1e-3 } };
    const wanted = await priced(notes, options);
    const found = await priced(notes, options, device);
    const isSingle = !device!.precisions.includes("f64");
    found.forEach(({ value }, k) => {
      expect(Math.abs(value - wanted[k].value)).toBeLessThanOrEqual(isSingle ? 0.02 : 1e-9);
    });
  });
});
