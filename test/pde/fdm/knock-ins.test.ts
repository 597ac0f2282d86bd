/** The solver's second value, that before a knock-in: in the interpreter, against in–out parity, on every device. */
import { afterAll, describe, expect, it } from "vitest";
import {
  type Grid,
  grids,
  gridsOn,
  inwardFirst,
  type KnockOut,
  instance,
  BatchSolver,
  type OneFactorProblem,
  type MonitoredLevel,
} from "../../../src/pde/fdm/index.ts";
import type { Device } from "../../../src/device/index.ts";
import type { Precision } from "../../../src/kernel/index.ts";
import { windowOf } from "../../../src/pde/fdm/read/solution.ts";
import { lessCash } from "../../../src/market/products/index.ts";
import { disposeAll, openTestDevices } from "../../support/devices.ts";
import { dealt, everything } from "../../support/extent.ts";
import { InterpreterDevice } from "../../support/interpreter-device.ts";
import { PlainDevice } from "../../support/plain-device.ts";
import { european, kernels, problems, settings, withSetting } from "./knock-in-cases.ts";
import { largestDifference, solved, TOLERANCE, valuesAt } from "./split-cases.ts";

async function valuesOf(device: PlainDevice | InterpreterDevice, made: readonly Grid[]): Promise<number[][]> {
  using solver = new BatchSolver(device, "f64");
  return (await solver.solve(made.map((grid) => instance(grid)))).map((values, l) => valuesAt(made[l], values));
}

describe("in the interpreter", () => {
  // It throws at an access out of bounds or an uninitialised read.
  it.each(dealt(Object.entries(problems), 0, 2))("%s", async (_, problem) => {
    const made = grids(problem, { nodes: 65, steps: 8 });
    const device = new InterpreterDevice();
    const [got, expected] = [await valuesOf(device, made), await valuesOf(new PlainDevice(), made)];
    got.forEach((values, l) =>
      values.forEach((value, k) => expect(Math.abs(value - expected[l][k])).toBeLessThan(1e-11)),
    );
    expect(got.flat().every(Number.isFinite)).toBe(true);
    expect(device.liveBuffers).toBe(0);
  });
});

const asOuts = ({ knockIns }: OneFactorProblem, at: (one: MonitoredLevel) => number): KnockOut[] =>
  (knockIns?.levels ?? []).map((one) => ({ ...one, level: at(one), rebate: 0, rebateAt: "hit", open: true }));

/** What a European trade with knock-ins lacks while it waits: `TradeProblems` of the pricing layer. */
function notYet({ knockIns, ...problem }: OneFactorProblem): OneFactorProblem {
  const { barriers = [], payoff } = problem;
  const rebate = knockIns?.rebate ?? 0;
  const levels = asOuts({ ...problem, ...(knockIns && { knockIns }) }, ({ level: at }) => at);
  return {
    ...problem,
    payoff: lessCash(payoff, rebate),
    barriers: inwardFirst([...barriers.map((one) => ({ ...one, rebate: 0 })), ...levels]),
  };
}

/** The trade without them; levels that no mesh reaches give it the same dates, and so the same steps. */
function knockedIn(problem: OneFactorProblem): OneFactorProblem {
  const { knockIns: _, ...rest } = problem;
  const far = asOuts(problem, ({ side }) => (side === "up" ? 1e6 : 1e-6));
  return { ...rest, barriers: inwardFirst([...(problem.barriers ?? []), ...far]) };
}

describe("without early exercise it is the knocked-in value less what is lacking, step by step", () => {
  // An identity of the scheme; but what a dividend is read from is limited, so that it cannot overshoot.
  const tolerance = (name: string): number => (name.startsWith("dividends") ? 1e-6 : 1e-13);

  it.each(Object.keys(settings))("%s", async (name) => {
    const problem = { ...withSetting(european, name), spots: [100] };
    const size = { nodes: 161, steps: 24 };
    const [fine] = grids(problem, size);
    const parts = [knockedIn(problem), notYet(problem)].map((one) => gridsOn(one, fine.mesh, size)[0]);
    for (const { time } of parts) expect(time.key).toBe(fine.time.key);
    const values = parts.map((grid): Grid => ({ ...grid, today: windowOf(fine) }));
    const [v, u, lacking] = await valuesOf(new PlainDevice(), [fine, ...values]);
    const worst = Math.max(...v.map((value, k) => Math.abs(value - (u[k] - lacking[k])))) / 100;
    console.log(`${name}: ${worst.toExponential(1)} of spot`);
    expect(worst).toBeLessThan(tolerance(name));
  });
});

const devices = await openTestDevices({ emulatedDouble: everything });
afterAll(() => disposeAll(devices));

/** One thread has all precisions of each kernel, the other devices one, by turns. */
const precisionsOf = (device: Device, turn: number): readonly Precision[] =>
  device === devices[0].device ? device.precisions : dealt(device.precisions, turn, device.precisions.length);

describe.each(devices)("on $label as in plain JavaScript", ({ device, label, missing }) => {
  // Several threads run the code of one.
  const own = label === devices[1].label ? dealt(kernels, 0, 4) : kernels;
  /** A software adapter compiles a kernel of emulated doubles for 20 s, longer on a busy machine. */
  const COMPILING = 300_000;

  it.for(own)("%s", { timeout: COMPILING }, async (name, { skip }) => {
    if (device === undefined) return skip(missing);
    const size = { nodes: 105, steps: 24 };
    const problem = problems[name];
    const expected = await solved(new PlainDevice(), "f64", problem, size, "item");
    for (const precision of precisionsOf(device, kernels.indexOf(name))) {
      const got = await solved(device, precision, problem, size, "item");
      const worst = largestDifference(problem, got, expected);
      console.log(`${device.name} ${precision} ${name}: ${worst.toExponential(1)}`);
      expect(worst).toBeLessThan(TOLERANCE[precision]);
    }
  });
});
