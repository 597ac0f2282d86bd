import { describe, expect, it, vi } from "vitest";
import { type ParsedTrade, parseBook, type TradeResult } from "../../src/book/index.ts";
import type { HostArrays } from "../../src/device/device.ts";
import { BookError, DeviceLostError } from "../../src/base/errors.ts";
import {
  explainBook,
  priceBook,
  type PricingOptions,
  priceTrades,
  type BookProgress,
} from "../../src/pricing/index.ts";
import { PlainDevice } from "../support/plain-device.ts";
import { priced, trade } from "./reference.ts";

const american = { kind: "american" } as const;
const parsed = (count: number): ParsedTrade[] =>
  Array.from({ length: count }, (_, i) => ({
    ok: true,
    trade: trade({ id: `T${i}`, ...(i % 2 === 0 ? { exercise: american } : {}) }),
  }));
const context = { asOf: "2026-01-01T00:00:00Z", scenarios: undefined };

/** A device that is lost on its first `losses` reads. */
class LosingDevice extends PlainDevice {
  override readonly name = "losing";
  losses: number;
  constructor(losses: number) {
    super();
    this.losses = losses;
  }
  override read(...args: Parameters<PlainDevice["read"]>): Promise<any> {
    if (this.losses-- > 0) return Promise.reject(new DeviceLostError("driver reset"));
    return super.read(...args) as Promise<HostArrays["f64"]>;
  }
}

async function collected(
  trades: AsyncIterable<ParsedTrade> | Iterable<ParsedTrade>,
  options: PricingOptions,
): Promise<TradeResult[]> {
  const all: TradeResult[] = [];
  for await (const batch of priceTrades(trades, context, options)) all.push(...batch);
  return all;
}

describe("options that no compiler has looked at", () => {
  it.each([
    [{ device: "cpu" }, "device: got a string, expected one from openDevice"],
    [{ device: new PlainDevice(), greek: "all" }, "greek: unknown; expected one of device, precision, greeks"],
    [{ device: new PlainDevice(), onProgress: 3 }, "onProgress: got a number, expected a function"],
    [{ device: new PlainDevice(), signal: {} }, "signal: got an object, expected the signal"],
    [{ device: new PlainDevice(), greeks: "some" }, 'greeks: got "some", expected "all", "buckets", "grid" or "none"'],
    [
      { device: new PlainDevice(), method: "pde" },
      'method: got "pde", expected "auto", "closed-form", "deterministic", "integral", "fdm"',
    ],
  ])("%j", async (options, message) => {
    await expect(collected(parsed(1), options as never)).rejects.toThrow(message);
  });
});

describe("books that no compiler has looked at", () => {
  const plain = { asOf: "2026-01-01", trades: [{ id: "T", payoff: "put" }] } as never;
  it.each([
    ["priceBook", () => priceBook(plain), "book: got an object, expected a book from parseBook or readBook"],
    ["no book", () => priceBook(undefined as never), "book: got nothing, expected a book from parseBook"],
    ["explainBook", () => explainBook(plain, plain), "before: got an object, expected a book from parseBook"],
    [
      "a method of explanation",
      () => explainBook(plain, plain, { method: "tailor" as never }),
      'method: got "tailor", expected "taylor" or "revaluation"',
    ],
  ])("%s", async (_, act, message) => {
    await expect(act()).rejects.toThrow(message);
  });
});

describe("what a formula of a book is not finite at", () => {
  it("names the trade, the formula as written and the price", async () => {
    const book = parseBook(
      JSON.stringify({
        asOf: "2026-01-01",
        market: { rates: { EUR: 0.01 }, underlyings: { A: { spot: 100, currency: "EUR", volatility: 0.2 } } },
        trades: [
          { id: "1", underlying: "A", payoff: "call", strike: 100, expiry: 1 },
          { id: "2", underlying: "A", payoff: { expression: "sqrt(S - 100)" }, expiry: 1 },
          { id: "3", underlying: "A", payoff: { expression: "sqrt(S - 200)" }, expiry: 0 },
        ],
      }),
    );
    const { results } = await priceBook(book, { device: new PlainDevice() });
    const messages = results.map((result) => (result.status === "error" ? result.error.message : ""));
    expect(messages[0]).toBe("");
    expect(messages[1]).toMatch(
      /^trades\[1\]\.payoff\.expression: "sqrt\(S - 100\)": NaN at S = \d+\.?\d*; expected a finite number/,
    );
    expect(messages[2]).toMatch(
      /^trades\[2\]: value: NaN; .*; look where trades\[2\]\.payoff\.expression, "sqrt\(S - 200\)" may not be finite$/,
    );
  });
});

describe("a stream of trades", () => {
  it("comes back in order, in batches, with progress, and frees what it took", async () => {
    const device = new PlainDevice();
    const progress: BookProgress[] = [];
    const failed: ParsedTrade = {
      ok: false,
      id: "bad",
      index: 3,
      error: new BookError("trades[3].strike", "expected a positive number, got -5"),
    };
    const trades = parsed(10).with(3, failed);
    const got = await collected(trades, { device, batchSize: 4, onProgress: (state) => progress.push(state) });
    expect(got.map(({ id }) => id)).toEqual(trades.map((one) => (one.ok ? one.trade.id : "bad")));
    expect(got[3]).toMatchObject({ status: "error", error: { code: "BOOK", path: "trades[3].strike" } });
    expect(progress.map(({ done }) => done)).toEqual([4, 8, 10]);
    expect(device.liveBuffers).toBe(0);
  });

  it("is taken two batches ahead of the results, and no further", async () => {
    let taken = 0;
    let priced = 0;
    let closed = false;
    async function* endless(): AsyncGenerator<ParsedTrade> {
      try {
        for (;;) yield { ok: true, trade: trade({ id: `T${taken++}` }) };
      } finally {
        closed = true;
      }
    }
    const device = new PlainDevice();
    for await (const batch of priceTrades(endless(), context, { device, batchSize: 5 })) {
      expect(batch.map(({ id }) => id)).toEqual([0, 1, 2, 3, 4].map((i) => `T${priced + i}`));
      priced += batch.length;
      expect(taken).toBeLessThanOrEqual(priced + 10);
      if (priced === 20) break;
    }
    // A source that is asked for a trade when the reader leaves is closed once it has answered.
    await vi.waitFor(() => expect(closed).toBe(true));
    expect(device.liveBuffers).toBe(0);
  });

  it("holds no result back while its source is silent", async () => {
    let speak = (): void => undefined;
    const silence = new Promise<void>((resolve) => (speak = resolve));
    async function* hesitant(): AsyncGenerator<ParsedTrade> {
      yield* parsed(2);
      await silence;
      yield* parsed(2);
    }
    const run = priceTrades(hesitant(), context, { device: new PlainDevice(), batchSize: 2 });
    expect((await run.next()).value).toHaveLength(2);
    speak();
    expect((await run.next()).value).toHaveLength(2);
    expect((await run.next()).done).toBe(true);
  });

  it("closes a batch that is not full when its source falls silent", async () => {
    let speak = (): void => undefined;
    async function* typed(): AsyncGenerator<ParsedTrade> {
      for (const trade of parsed(3)) {
        yield trade;
        await new Promise<void>((resolve) => (speak = resolve));
      }
    }
    const run = priceTrades(typed(), context, { device: new PlainDevice(), batchSize: 1000 });
    for (let i = 0; i < 3; i++) {
      expect((await run.next()).value).toMatchObject([{ id: `T${i}` }]);
      speak();
    }
    expect((await run.next()).done).toBe(true);
  });

  it("can be left while its source is silent", async () => {
    async function* silent(): AsyncGenerator<ParsedTrade> {
      yield* parsed(1);
      await new Promise(() => {});
    }
    const device = new PlainDevice();
    const run = priceTrades(silent(), context, { device, batchSize: 1000 });
    expect((await run.next()).value).toHaveLength(1);
    expect(await run.return()).toEqual({ done: true, value: undefined });
    expect(device.liveBuffers).toBe(0);
  });

  it("yields what came before its source failed, then throws that", async () => {
    async function* broken(): AsyncGenerator<ParsedTrade> {
      yield* parsed(4);
      throw new Error("unplugged");
    }
    const device = new PlainDevice();
    const got: TradeResult[] = [];
    const run = async (): Promise<void> => {
      for await (const batch of priceTrades(broken(), context, { device, batchSize: 2 })) got.push(...batch);
    };
    await expect(run()).rejects.toThrow("unplugged");
    expect(got).toHaveLength(4);
    expect(device.liveBuffers).toBe(0);
  });

  it("stops at a signal", async () => {
    const controller = new AbortController();
    const device = new PlainDevice();
    const run = collected(parsed(10), {
      device,
      batchSize: 2,
      signal: controller.signal,
      onProgress: () => controller.abort(new Error("enough")),
    });
    await expect(run).rejects.toThrow("enough");
    expect(device.liveBuffers).toBe(0);
  });

  it("refuses options that cannot be met", async () => {
    await expect(collected(parsed(1), { device: new PlainDevice(), precision: "f32" })).rejects.toMatchObject({
      code: "PRECISION",
    });
    await expect(
      collected(parsed(1), { device: new PlainDevice(), accuracy: { relative: 1e-9 } }),
    ).rejects.toMatchObject({
      code: "SPEC",
    });
  });
});

describe("a lost device", () => {
  it("is tried once more", async () => {
    const device = new LosingDevice(1);
    const got = await collected(parsed(4), { device });
    expect(got.every(({ status, warnings }) => status === "ok" && warnings.length === 0)).toBe(true);
    expect(device.liveBuffers).toBe(0);
  });

  it("is replaced when it is lost again, and every later result says so", async () => {
    const fallback = new PlainDevice();
    const got = await collected(parsed(4), {
      device: new LosingDevice(99),
      batchSize: 2,
      openFallback: () => Promise.resolve(fallback),
    });
    expect(got.map(({ status }) => status)).toEqual(["ok", "ok", "ok", "ok"]);
    for (const { warnings } of got)
      expect(warnings).toEqual(["losing was lost (driver reset); priced on plain JavaScript in f64"]);
    expect(fallback.liveBuffers).toBe(0);
  });
});

/**
 * A device whose first `good` reads work, and whose every later one finds it lost. Each read waits for those asked for
 * before it, not for a time: which batch is how far does not depend on how fast the machine is.
 */
class FadingDevice extends PlainDevice {
  override readonly name = "fading";
  good: number;
  #before: Promise<void> = Promise.resolve();
  constructor(good: number) {
    super();
    this.good = good;
  }
  override async read(...args: Parameters<PlainDevice["read"]>): Promise<any> {
    const isGood = this.good-- > 0;
    this.#before = this.#before.then(() => new Promise((resolve) => setImmediate(resolve)));
    await this.#before;
    if (!isGood) throw new DeviceLostError("driver reset");
    return super.read(...args);
  }
}

describe("a device lost with several batches under way", () => {
  it.each([0, 1, 2, 3, 5, 7, 9])(
    "after %i reads: all trades are priced, the later ones on the fallback",
    async (good) => {
      const [device, fallback] = [new FadingDevice(good), new PlainDevice()];
      let opened = 0;
      const openFallback = (): Promise<PlainDevice> => (opened++, Promise.resolve(fallback));
      const got = await collected(parsed(12), { device, batchSize: 2, openFallback });
      expect(got.map(({ id, status }) => [id, status])).toEqual(parsed(12).map((_, i) => [`T${i}`, "ok"]));
      expect(opened).toBe(1);
      const moved = got.map(({ warnings }) => warnings.length > 0);
      expect(moved.at(-1)).toBe(true);
      expect(moved.toSorted((a, b) => Number(a) - Number(b))).toEqual(moved);
      expect([device.liveBuffers, fallback.liveBuffers]).toEqual([0, 0]);
    },
  );

  it("and no fallback: the run ends with that", async () => {
    const device = new FadingDevice(3);
    const openFallback = (): Promise<PlainDevice> => Promise.reject(new Error("nothing else here"));
    await expect(collected(parsed(12), { device, batchSize: 2, openFallback })).rejects.toThrow("nothing else here");
    expect(device.liveBuffers).toBe(0);
  });

  it("and lost fallback: the run ends with that", async () => {
    const openFallback = (): Promise<PlainDevice> => Promise.resolve(new FadingDevice(2));
    await expect(
      collected(parsed(12), { device: new FadingDevice(1), batchSize: 2, openFallback }),
    ).rejects.toBeInstanceOf(DeviceLostError);
  });
});

describe("what is asked for", () => {
  it("decides which Greeks there are", async () => {
    for (const method of ["auto", "fdm"] as const) {
      const [none] = await priced([trade()], { device: new PlainDevice(), greeks: "none", method });
      expect(none).toMatchObject({ delta: null, gamma: null, theta: null, vega: null, rho: null });
      const [grid] = await priced([trade()], { device: new PlainDevice(), greeks: "grid", method });
      expect(grid).toMatchObject({ vega: null, rho: null });
      expect(grid.delta).toBeLessThan(0);
    }
  });

  it("a closer accuracy gives a smaller error estimate", async () => {
    const estimate = async (accuracy: number): Promise<number> =>
      (
        await priced([trade({ exercise: american })], {
          device: new PlainDevice(),
          accuracy: { relative: accuracy },
          method: "fdm",
        })
      )[0].errorEstimate;
    const [rough, usual, fine] = [await estimate(1e-4), await estimate(1e-5), await estimate(1e-6)];
    expect(rough).toBeGreaterThan(usual);
    expect(usual).toBeGreaterThan(fine);
  });

  it("a book is summed up by currency", async () => {
    const device = new PlainDevice();
    const trades = [
      trade({ quantity: 3 }),
      trade({ quantity: -1, exercise: american }),
      trade({ market: { currency: "USD" } }),
    ];
    const report = await priceBook(
      {
        ...context,
        market: { rates: new Map(), underlyings: new Map(), correlations: [], credit: new Map() },
        trades: trades.map((one) => ({ ok: true, trade: one })),
      },
      { device },
    );
    const [a, b, c] = report.results;
    expect(report).toMatchObject({ priced: 3, failed: 0, device: { backend: "cpu", name: "plain JavaScript" } });
    expect(report.totals.map(({ currency }) => currency)).toEqual(["EUR", "USD"]);
    expect(report.totals[0].value).toBeCloseTo(3 * (a.value as number) - (b.value as number), 12);
    expect(report.totals[1].underlyings[0].vega).toBe(c.vega);
  });
});
