/** How a solution goes on: in parts, with progress, until a signal ends it, and past loops that do not end. */
import { afterAll, describe, expect, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { LaunchScheduler } from "../../../../src/device/index.ts";
import { SpecError } from "../../../../src/base/errors.ts";
import { axisSolver } from "../../../../src/pde/fdm/execute/equation-launch.ts";
import { compileOneAxisEquation } from "../../../../src/pde/fdm/model/full-grid.ts";
import { type EquationProblem, solve } from "../../../../src/pde/fdm/index.ts";
import { problems } from "./device-cases.ts";
import { type AnyProblem, axis, blackScholes, call, solveOne, worst } from "./support.ts";

const device = createCpuDevice({ threads: 1 });
afterAll(() => device[Symbol.dispose]());

/** Work enough for many parts: some 0.2 s on one thread. */
const long: AnyProblem = { ...blackScholes, axes: axis(1000), terminal: "max(S - K, 0)", steps: 3000 };

/** Launches of a size that is given, whatever they take. */
class FixedPace extends LaunchScheduler {
  readonly size: number;
  constructor(size: number) {
    super(device, {});
    this.size = size;
  }
  override get share(): number {
    return this.size;
  }
}

async function inParts(problem: AnyProblem, share: number): Promise<number[]> {
  const solver = await axisSolver(device, compileOneAxisEquation(problem), "f64", new FixedPace(share));
  const plan = await solver.plan({ mesh: 0, halfSteps: false }, [0, 1, 2, 3, 4]);
  const solved = await solver.solve(plan);
  return solved.flatMap(({ values, boundary }) => [...values, ...boundary]);
}

describe("a time loop in parts gives the bits of one in a single launch", () => {
  test.each(Object.entries(problems))("%s", async (_, problem) => {
    const fine = { ...problem, steps: 100 };
    const whole = await inParts(fine, Infinity);
    expect(whole.some((value) => value > 0)).toBe(true);
    expect(await inParts(fine, 1)).toEqual(whole);
  });
});

describe("progress and signals", () => {
  test("progress rises to its total, companions included, and the event loop pace", async () => {
    let pace = 0;
    let going = true;
    const count = (): void => {
      pace++;
      if (going) setImmediate(count);
    };
    setImmediate(count);
    const seen: { done: number; total: number }[] = [];
    const { entries } = await solve({ ...long, errorEstimate: true }, { device, onProgress: (at) => seen.push(at) });
    going = false;
    expect(pace).toBeGreaterThan(3);
    expect(seen.length).toBeGreaterThan(3);
    expect(new Set(seen.map(({ total }) => total)).size).toBe(1);
    const done = seen.map((at) => at.done);
    expect(done).toEqual(done.toSorted((a, b) => a - b));
    expect(done.at(-1)).toBe(seen[0].total);
    expect(worst(entries[0], call, [90, 100, 110])).toBeLessThan(1e-3);
  });

  test("a signal ends it, with its reason, and leaves no buffer", async () => {
    const controller = new AbortController();
    const reason = new Error("enough");
    const parts: number[] = [];
    const running = solve(long, {
      device,
      signal: controller.signal,
      onProgress: ({ done }) => {
        parts.push(done);
        controller.abort(reason);
      },
    });
    await expect(running).rejects.toBe(reason);
    expect(parts.length).toBeGreaterThan(0);
    expect(device.liveBuffers).toBe(0);
    await expect(solve(long, { device, signal: controller.signal })).rejects.toBe(reason);
  });

  test.each([
    [{ device: {} }, /^device: got an object, expected one from openDevice/],
    [{ device: null }, /^device: got null, expected one from openDevice/],
    [{ signal: 1 }, /^signal: got a number, expected the signal of an AbortController/],
    [{ onProgress: "log" }, /^onProgress: got a string, expected a function/],
  ])("an option of another type, %j", async (options, message) => {
    await expect(solve(long, { device, ...options } as object)).rejects.toThrow(message);
  });

  test("an option that is not known", async () => {
    await expect(solve(long, { device, onprogress: () => {} } as object)).rejects.toThrow(
      /^onprogress: unknown; expected one of device, signal, onProgress/,
    );
  });
});

describe("loops of the user's that do not end", () => {
  const base: EquationProblem<"S", "K" | "x"> = {
    axes: { S: { from: 0, to: 400, nodes: 41 } },
    parameters: { K: 100, x: [1, 0, 2] },
    equation: ({ S }) => ({ SS: 0.02 * S * S }),
    terminal: ({ S, K }) => Math.max(K - S, 0),
    expiry: 1,
    steps: 4,
  };
  /** A loop that goes down by x: never, where that is 0. */
  const countdown = ({ S, x }: { S: number; x: number }): number => {
    let left = S;
    while (left > 0) {
      left -= x;
    }
    return left;
  };
  const cases: readonly (readonly [string, Partial<EquationProblem<"S", "K" | "x">>, string])[] = [
    ["terminal", { terminal: countdown }, "terminal"],
    ["the payoff at all times", { conditions: [{ kind: "exercise", payoff: countdown }] }, "conditions[0].payoff"],
    [
      "a payoff on a date",
      { conditions: [{ kind: "exercise", payoff: countdown, at: [0.5] }] },
      "conditions[0].payoff",
    ],
    ["a jump", { conditions: [{ kind: "jump", to: countdown, at: [0.5] }] }, "conditions[0].to"],
    ["a region's edge", { conditions: [{ kind: "knock-out", below: countdown }] }, "conditions[0].below"],
    ["a boundary", { boundaries: { S: { high: { kind: "dirichlet", value: countdown } } } }, "boundaries.S.high.value"],
    [
      "the equation, by do and while",
      {
        equation: ({ S, x }) => {
          let left = S;
          do {
            left = left - x;
          } while (left > 0);
          return { SS: 0.02 * S * S + left - left };
        },
      },
      "equation",
    ],
    [
      "rounds that depend on a parameter, in a loop",
      {
        terminal: ({ S, x }) => {
          let sum = 0;
          for (let i = 0; i < 8; i++) for (let k = 0; k < 1 / x; k += 0.5) sum += S;
          return sum;
        },
      },
      "terminal",
    ],
  ];
  test.each(cases)("%s: the function, the line; the other entries are solved", async (_, more, path) => {
    const { entries } = await solve({ ...base, ...more }, { device });
    expect(entries.map(({ error }) => error !== undefined)).toEqual([false, true, false]);
    const { error } = entries[1];
    expect(error).toBeInstanceOf(SpecError);
    expect(error!.message.startsWith(path)).toBe(true);
    expect(error!.message).toMatch(
      /line \d, column \d+ \(solve called at .*runs\.test\.ts:\d+:\d+\): this loop does not end: .*1,000,000 rounds.*\n {4}.*(while|do|for).*\n +\^\n {2}remedy: /,
    );
  });

  test("one that says itself that it never ends is refused", async () => {
    const endless = async (terminal: () => number): Promise<unknown> => solve({ ...base, terminal }, { device });
    const message = /^terminal.*: this loop never ends[^]*remedy: give it a condition/;
    await expect(
      endless(() => {
        while (true) {}
      }),
    ).rejects.toThrow(message);
    await expect(
      endless(() => {
        for (;;) {
          let x = 1;
          x++;
        }
      }),
    ).rejects.toThrow(message);
  });

  test("loops that end are as they were", async () => {
    const root: AnyProblem = {
      ...blackScholes,
      axes: axis(100),
      // Newton's iteration for √(K²): K.
      terminal: ({ S, K }) => {
        let x = 1;
        while (Math.abs(x * x - K * K) > 1e-9 * K) x = 0.5 * (x + (K * K) / x);
        let sum = 0;
        for (let i = 0; i < 1000; i++) sum += 0.001;
        return Math.max(S - x * sum, 0);
      },
    };
    const plain = await solveOne({ ...root, terminal: "max(S - K, 0)" }, device);
    const looped = await solveOne(root, device);
    expect(looped.at(100).value).toBeCloseTo(plain.at(100).value, 8);
  });
});
