/** A GPU's compiler takes seconds for a kernel, so a book's missing kernels are compiled side by side. */
import { afterAll, afterEach, expect, test, vi } from "vitest";
import { readBook } from "../../src/book/index.ts";
import { priceBook } from "../../src/pricing/index.ts";
import { openEmulatedCuda } from "../support/cuda.ts";

const device = await openEmulatedCuda();

afterAll(() => device?.[Symbol.dispose]());

const described = {
  asOf: "2026-11-20",
  market: {
    rates: { EUR: 0.03 },
    underlyings: {
      U: { spot: 100, currency: "EUR", volatility: 0.25, dividends: { discrete: [{ date: 0.4, cash: 2 }] } },
    },
  },
  trades: [
    { id: "European", underlying: "U", payoff: "put", strike: 100, expiry: 1 },
    { id: "American", underlying: "U", payoff: "put", strike: 100, expiry: 1, exercise: "american" },
  ],
};
const book = readBook(described);
const named = readBook({
  ...described,
  scenarios: [{ name: "down", moves: { spot: { U: -0.1 } } }],
});

/** The American option's kernel, less its size. */
const KERNEL = "fdm-subgroup-brennan-schwartz-lognormal-dividends-closed";

afterEach(() => vi.restoreAllMocks());

test.skipIf(device === undefined)(
  "the kernels of a launch's groups are asked for before the first of them",
  async () => {
    const events: string[] = [];
    const { compile, launch } = device!;
    vi.spyOn(device!, "compile").mockImplementation((kernel, options) => {
      events.push(`compile ${kernel.name}`);
      return compile.call(device!, kernel, options);
    });
    vi.spyOn(device!, "launch").mockImplementation((compiled, args, size) => {
      events.push(`launch ${compiled.kernel.name}`);
      launch.call(device!, compiled, args, size);
    });
    const { failed } = await priceBook(book, { device: device!, method: "fdm", greeks: "none" });
    expect(failed).toBe(0);
    const before = events.slice(
      0,
      events.findIndex((event) => event.startsWith("launch")),
    );
    expect(new Set(before.map((event) => event.replace(/^.*fdm-\w+-(none|brennan).*$/, "$1")))).toEqual(
      new Set(["none", "brennan"]),
    );
  },
);

test.skipIf(device === undefined)(
  "kernels that read at spots follow those of a book under named scenarios",
  async () => {
    const followers = async (of: typeof book): Promise<readonly string[]> => {
      const names = new Set<string>();
      const { compile } = device!;
      vi.spyOn(device!, "compile").mockImplementation((kernel, options) => {
        for (const { name } of options.followers?.() ?? []) names.add(`${kernel.name} → ${name}`);
        return compile.call(device!, kernel, options);
      });
      await priceBook(of, { device: device!, method: "fdm", greeks: "none" });
      vi.restoreAllMocks();
      return [...names].filter((name) => name.startsWith(`${KERNEL}-96 `)).sort();
    };
    const kernel = (size: number, points = ""): string => `${KERNEL}-96 → ${KERNEL}${points}-${size}`;
    expect(await followers(book)).toEqual([kernel(192)]);
    expect(await followers(named)).toEqual([
      kernel(192),
      ...[192, 288, 544, 96].map((size) => kernel(size, "-points")),
    ]);
  },
);
