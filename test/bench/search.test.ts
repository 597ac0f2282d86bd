/** The search for the fastest way to an error, on methods whose errors and times are known. */
import { expect, it } from "vitest";
import { type Candidate, errorOf, fastestAtError, ladders, type Pricer } from "../../bench/one-factor/search.ts";

interface Known extends Candidate {
  readonly error: number;
  readonly time: number;
}

/** Error 1/n² + floor, for work n times `per`. */
const row = (name: string, floor: number, per: number): Known[] =>
  [4, 8, 16, 32, 64, 128, 256].map((n) => ({
    name: `${name} ${n}`,
    work: n * per,
    error: 1 / n ** 2 + floor,
    time: n * per,
  }));

function pricerOf(rows: readonly (readonly Known[])[]): { pricer: Pricer<Known>; tried: Known[] } {
  const tried: Known[] = [];
  return {
    tried,
    pricer: {
      rows,
      price: (candidate) => {
        tried.push(candidate);
        return Promise.resolve([10 - candidate.error, 20 + candidate.error / 2]);
      },
      seconds: ({ time }) => Promise.resolve(time),
    },
  };
}

it("finds the fastest of the rows' first candidates within the error", async () => {
  // 1/32² is within 1e-3: 32 steps, of the cheaper one of the two rows that can get there.
  const { pricer, tried } = pricerOf([row("too coarse", 1e-2, 1), row("dear", 0, 3), row("cheap", 0, 2)]);
  const best = await fastestAtError(1e-3, [10, 20], pricer);
  expect(best?.candidate.name).toBe("cheap 32");
  expect(best?.error).toBeCloseTo(1 / 1024, 12);
  // What would take far longer is never tried.
  expect(Math.max(...tried.map(({ work }) => work))).toBeLessThanOrEqual(3 * 64);
});

it("goes by the clock, not by the work", async () => {
  const quick = row("quick", 0, 3).map((one) => ({ ...one, time: one.time / 4 }));
  const { pricer } = pricerOf([row("slow", 0, 2), quick]);
  expect((await fastestAtError(1e-3, [10, 20], pricer))?.candidate.name).toBe("quick 32");
});

it("says when nothing gets there", async () => {
  const { pricer } = pricerOf([row("too coarse", 1e-2, 1)]);
  expect(await fastestAtError(1e-3, [10, 20], pricer)).toBeUndefined();
});

it("takes the worst of the options, and a price that is no number as none", async () => {
  const { pricer } = pricerOf([]);
  const of = (error: number): Known => ({ name: "", work: 1, error, time: 1 });
  expect(await errorOf(pricer, of(0.5), [10, 20])).toBe(0.5);
  const broken = { ...pricer, rows: [[of(Number.NaN)]] };
  expect(await fastestAtError(1, [10, 20], broken)).toBeUndefined();
});

it("gives both sides the same ends, but for what each can take", () => {
  const quantLib = ladders({ nodes: (n) => 2 * Math.round(n / 2), steps: (n) => 2 * Math.round(n / 2) });
  const ours = ladders({ nodes: (n) => 4 * Math.round((n - 1) / 4) + 1, steps: (n) => 2 * Math.round(n / 2) });
  expect([quantLib.nodes[0], ours.nodes[0]]).toEqual([20, 21]);
  expect(quantLib.steps).toEqual(ours.steps);
  expect(ours.steps[0]).toBe(4);
  expect(Math.abs(quantLib.nodes.at(-1)! - ours.nodes.at(-1)!)).toBeLessThanOrEqual(2);
});
