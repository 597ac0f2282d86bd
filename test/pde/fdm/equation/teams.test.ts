/** Equations by teams of work items are the same elimination as by one item an instance: they agree to rounding. */
import { afterAll, describe, expect, it, test } from "vitest";
import { createCpuDevice } from "../../../../src/device/cpu/index.ts";
import { type Device, LaunchScheduler } from "../../../../src/device/index.ts";
import { executorFor } from "../../../../src/pde/fdm/execute/equation-launch.ts";
import { solve } from "../../../../src/pde/fdm/index.ts";
import { FAULT, STATUS } from "../../../../src/pde/fdm/operator/status.ts";
import { compileOneAxisEquation } from "../../../../src/pde/fdm/model/full-grid.ts";
import type { Precision } from "../../../../src/kernel/index.ts";
import { disposeAll, openTestDevices } from "../../../support/devices.ts";
import { dealt } from "../../../support/extent.ts";
import { InterpreterDevice } from "../../../support/interpreter-device.ts";
import { put } from "./device-cases.ts";
import { type AnyProblem, axis } from "./support.ts";
import { apart, isOffered, ofSize, problems, solved, TEAMS, tolerance } from "./team-cases.ts";

const cpu = createCpuDevice({ threads: 1 });
const devices = await openTestDevices();
const interpreter = new InterpreterDevice({ subgroupSize: 32 });
afterAll(() => {
  expect(interpreter.liveBuffers).toBe(0);
  for (const { device } of devices) expect(device?.liveBuffers ?? 0).toBe(0);
  disposeAll(devices);
  cpu[Symbol.dispose]();
});

async function compare(problem: AnyProblem, device: Device, precision: Precision, split: "subgroup" | "workgroup") {
  const items = await solved(problem, cpu, precision, "item");
  const team = await solved(problem, device, precision, split);
  const { values, boundary } = apart(items, team);
  console.log(`${device.name}, ${split}, ${precision}: ${values.toExponential(1)}, ${boundary.toExponential(1)}`);
  expect(items.some((one) => one.values.some((value) => value > 1))).toBe(true);
  expect(values).toBeLessThan(tolerance[precision].values);
  expect(boundary).toBeLessThan(tolerance[precision].boundary);
  expect(team.map(({ status }) => [...status])).toEqual(items.map(({ status }) => [...status]));
}

describe.each(TEAMS)("a %s, in the interpreter with its checks", (split) => {
  const hand = TEAMS.indexOf(split);
  // Every other problem by one team or the other; each team in both precisions.
  test.each(dealt(Object.entries(problems), hand, 8))("%s", async (name, problem) => {
    const turn = Object.keys(problems).indexOf(name) >> 2;
    for (const precision of dealt(["f64", "f32"] as const, turn, 2))
      await compare(problem, interpreter, precision, split);
  });
});

// Software adapters take seconds to compile a kernel.
const few = ["Brennan and Schwartz", "penalty, TR-BDF2, a jump at expiry, a barrier in time"];

const SEVERAL = devices[1].label;

describe.each(devices)("$label", ({ device, label, missing }) => {
  if (device === undefined) return it.skip(missing);
  for (const split of TEAMS.filter((each) => isOffered(device, each)))
    for (const precision of ["f64", "f32"] as const) {
      if (!device.precisions.includes(precision)) continue;
      // One thread has each problem in one precision or the other; several run the same code; of the few each team has
      // one.
      const hand = TEAMS.indexOf(split) + (precision === "f32" ? 1 : 0);
      const names = dealt(device.backend === "cpu" ? Object.keys(problems) : few, hand, label === SEVERAL ? 12 : 2);
      test.each(names)(`${split}, ${precision}: %s`, { timeout: 120_000 }, async (name) => {
        await compare(problems[name], device, precision, split);
      });
    }
});

describe("every size of mesh", () => {
  // As many nodes as there is room for, two fewer, one more; steps so long that scans reach all items, and short ones.
  test.each(dealt([7, 94, 96, 97, 126, 128, 129, 257, 320, 574, 576], 2, 4))("%i nodes, workgroups", async (nodes) => {
    for (const steps of [4, 64]) await compare(ofSize(nodes, steps), cpu, "f64", "workgroup");
  });
  test.each(dealt([7, 94, 96, 190, 192, 288], 3, 6))("%i nodes, subgroups", async (nodes) => {
    const one = { ...ofSize(nodes, 4), parameters: { K: 100, r: 0.05, sigma: 0.2 } };
    await compare(one, interpreter, "f64", "subgroup");
  });
  test("more than there is room for", async () => {
    await expect(solved(ofSize(577, 4), cpu, "f64", "workgroup")).rejects.toThrow("axes.S.nodes: 577");
  });
});

/** Launches of a size that is given, whatever they take. */
class FixedPace extends LaunchScheduler {
  readonly size: number;
  constructor(size: number) {
    super(cpu, {});
    this.size = size;
  }
  override get share(): number {
    return this.size;
  }
}

describe("a time loop in parts gives the bits of one in a single launch", () => {
  test.each(dealt(Object.entries(problems), 0, 6))("%s", async (_, problem) => {
    const fine = { ...problem, steps: 60 };
    const inParts = async (share: number): Promise<number[]> => {
      const all = await solved(fine, cpu, "f64", "workgroup", new FixedPace(share));
      return all.flatMap(({ values, boundary }) => [...values, ...boundary]);
    };
    const whole = await inParts(Infinity);
    expect(await inParts(1)).toEqual(whole);
  });
});

describe("what goes wrong is found at the same node, in the same row of the time program", () => {
  const faults: Readonly<Record<string, { problem: AnyProblem; fault: number }>> = {
    "a coefficient": {
      problem: { ...put, equation: { SS: "0.02*S^2", S: "r*sqrt(S - 50)*S", V: "-r" } },
      fault: FAULT.b,
    },
    "a coefficient, later": {
      problem: { ...put, equation: { SS: "0.02*S^2", S: "r*S", V: "-r*sqrt(t - 0.5 + 0.004*abs(S - 155))" } },
      fault: FAULT.c,
    },
    "the diffusion, negative at one node": {
      problem: { ...put, equation: { SS: "0.02*S^2 - (abs(S - K) < 1 ? 300 : 0)", S: "r*S", V: "-r" } },
      fault: FAULT.negative,
    },
    "the diffusion, as negative everywhere": {
      problem: { ...put, equation: { SS: "-1", S: "r*S", V: "-r" } },
      fault: FAULT.negative,
    },
    "terminal values": { problem: { ...put, terminal: "sqrt(S - 30)" }, fault: FAULT.terminal },
    slopes: {
      problem: {
        ...put,
        boundaries: { S: { low: { kind: "neumann", slope: "log(0*K)" }, high: { kind: "neumann", slope: "log(-K)" } } },
      },
      fault: FAULT.slope,
    },
    "a slope and a coefficient": {
      problem: {
        ...put,
        equation: { SS: "0.02*S^2", S: "r*S", V: "-r*sqrt(200 - S)" },
        boundaries: { S: { low: { kind: "neumann", slope: "log(0*K)" }, high: { kind: "linear" } } },
      },
      fault: FAULT.c,
    },
    "a pinned node": {
      problem: {
        ...put,
        boundaries: { S: { low: { kind: "dirichlet", value: "sqrt(t - 0.4)" }, high: { kind: "linear" } } },
      },
      fault: FAULT.pinned,
    },
    "the edge of a knock-out": {
      problem: { ...put, conditions: [{ kind: "knock-out", below: "sqrt(t - 0.4)" }] },
      fault: FAULT.edge,
    },
    "a payoff": {
      problem: {
        ...put,
        conditions: [{ kind: "exercise", payoff: "max(K - S, 0) + 0*sqrt(150 - S)", method: "brennan-schwartz" }],
      },
      fault: FAULT.payoff,
    },
    "a jump": {
      problem: { ...put, conditions: [{ kind: "jump", at: [0.5], to: "sqrt(S - 20)" }] },
      fault: FAULT.event,
    },
    "exercise on a date": {
      problem: { ...put, conditions: [{ kind: "exercise", at: [0.5], payoff: "sqrt(S - 20)" }] },
      fault: FAULT.event,
    },
    "the solution": {
      problem: { ...put, equation: { SS: "0.02*S^2", S: "r*S", V: "-r", source: "1e308" }, expiry: 100 },
      fault: FAULT.solution,
    },
  };
  test.each(Object.entries(faults))("%s", async (name, { problem, fault }) => {
    const words = [STATUS.fault, STATUS.node, STATUS.row];
    const of = async (device: Device, split: "item" | "subgroup" | "workgroup"): Promise<number[][]> =>
      (await solved(problem, device, "f64", split)).map(({ status }) => words.map((word) => status[word]));
    const expected = await of(cpu, "item");
    for (const [found] of expected) expect(found).toBe(fault);
    expect(await of(cpu, "workgroup")).toEqual(expected);
    // One fault of two in the interpreter.
    for (const device of dealt([interpreter], Object.keys(faults).indexOf(name), 2))
      expect(await of(device, "subgroup")).toEqual(expected);
  });

  test("a loop that does not end", async () => {
    const problem: AnyProblem = {
      ...put,
      axes: axis(8),
      steps: 2,
      equation: ({ S, r, sigma }) => {
        let x = S;
        while (x < 100 && x > 80) x = x - 0;
        return { SS: 0.5 * sigma * sigma * S * S, S: r * x, V: -r };
      },
      parameters: { K: [90, 130], r: 0.05, sigma: 0.2 },
    };
    const items = await solved(problem, cpu, "f64", "item");
    const team = await solved(problem, cpu, "f64", "workgroup");
    expect(items[0].status[STATUS.endless]).toBeGreaterThan(0);
    expect(team.map(({ status }) => status[STATUS.endless] > 0)).toEqual(
      items.map(({ status }) => status[STATUS.endless] > 0),
    );
  });

  test("drift that outweighs diffusion is counted", async () => {
    const problem: AnyProblem = { ...put, equation: { SS: "0.5*(0.05*S)^2", S: "0.3*(1 - t)*S", V: "-r" } };
    const items = await solved(problem, cpu, "f64", "item");
    expect(items[0].status[STATUS.limitedRows]).toBeGreaterThan(4);
    const team = await solved(problem, cpu, "f64", "workgroup");
    expect(team.map(({ status }) => [...status])).toEqual(items.map(({ status }) => [...status]));
  });

  test("growth that a step cannot follow is solved again by items, to the bit", async () => {
    const problem: AnyProblem = { ...put, parameters: { K: 100, r: [0.05, -200, 0.03], sigma: 0.2 }, steps: 20 };
    const items = await solved(problem, cpu, "f64", "item");
    const team = await solved(problem, cpu, "f64", "workgroup");
    expect(items.map(({ status }) => status[STATUS.growth])).toEqual([0, 1, 0]);
    expect(team.map(({ executor }) => executor.split)).toEqual(["workgroup", "item", "workgroup"]);
    expect([...team[1].values]).toEqual([...items[1].values]);
    expect([...team[1].status]).toEqual([...items[1].status]);
    expect(apart([items[0], items[2]], [team[0], team[2]]).values).toBeLessThan(tolerance.f64.values);
  });

  test("so are entries of a matrix whose products could overflow", async () => {
    const problem: AnyProblem = {
      ...put,
      parameters: { K: 100, r: 0.05, sigma: [0.2, 1e12, 1e5] },
      boundaries: { S: { low: { kind: "dirichlet", value: "K" }, high: { kind: "dirichlet", value: 0 } } },
    };
    const items = await solved(problem, cpu, "f64", "item");
    const team = await solved(problem, cpu, "f64", "workgroup");
    expect(team.map(({ executor }) => executor.split)).toEqual(["workgroup", "item", "workgroup"]);
    expect(apart(items, team).values).toBeLessThan(tolerance.f64.values);
    expect(team.map(({ status }) => [...status])).toEqual(items.map(({ status }) => [...status]));
  });
});

describe("who solves an equation", () => {
  const [{ device }] = devices;
  const gpu = (limits: object): Device =>
    ({
      backend: "cuda",
      name: "a GPU",
      precisions: ["f64", "f32"],
      parallelism: 132 * 2048,
      limits: { ...device!.limits, maxWorkgroupBytes: 48 * 1024, subgroupSize: 32, ...limits },
    }) as unknown as Device;
  const chosen = (on: Device, nodes: number, problem = put, precision: Precision = "f64"): string => {
    const { split, variant } = executorFor(
      on,
      compileOneAxisEquation(problem).variant,
      { name: "S", nodes },
      precision,
    );
    return `${split} ${variant.capacity}`;
  };
  test("a GPU", () => {
    expect(chosen(gpu({}), 257)).toBe("subgroup 288");
    expect(chosen(gpu({}), 545)).toBe("workgroup 576");
    expect(chosen(gpu({}), 577)).toBe("item 1025");
    expect(chosen(gpu({}), 257, { ...put, convection: "central" })).toBe("item 257");
    expect(chosen(gpu({ subgroupSize: undefined }), 257)).toBe("workgroup 320");
    expect(chosen(gpu({ subgroupSize: undefined }), 257, put, "f32x2")).toBe("item 257");
    expect(chosen(gpu({ maxWorkgroupBytes: 4096 }), 257)).toBe("item 257");
  });
  test("a CPU, and a software adapter", () => {
    expect(chosen(cpu, 257)).toBe("item 257");
    expect(chosen({ ...gpu({}), backend: "webgpu", parallelism: 64 }, 257)).toBe("item 257");
  });
  test("`solve` itself goes by it", async () => {
    const { entries } = await solve(put, { device: cpu });
    const items = await solved(put, cpu, "f64", "item");
    entries.forEach(({ values }, l) => expect([...values]).toEqual([...items[l].values]));
  });
});
