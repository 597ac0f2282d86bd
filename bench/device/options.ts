/** Books of American and European options on a device: the time loop alone, and from problems to values. */
import type { CompiledKernel, Device, LaunchArguments, LaunchSize } from "../../src/device/index.ts";
import {
  Arena,
  grids,
  type KnockOut,
  instance,
  type Instance,
  BatchSolver,
  type OneFactorProblem,
  type InstanceValues,
  pointValue,
  type Resolution,
} from "../../src/pde/fdm/index.ts";
import { mayShare, type Split, teamCapacity } from "../../src/pde/fdm/execute/split.ts";
import type { Precision } from "../../src/kernel/index.ts";
import { constant, type PiecewiseConstant } from "../../src/market/index.ts";
import { type Right, vanillaPayoff } from "../../src/market/products/index.ts";
import { type Context, medianSeconds, type Report } from "../harness.ts";
import { floorOn, H200 } from "./h200.ts";
import { stopwatch } from "./stopwatch.ts";

/** What the options of a book are, and how they are solved. */
interface Kind {
  readonly name: string;
  readonly american: boolean;
  /** Whether rates and volatility change with time, in no two steps alike. */
  readonly curves: boolean;
  readonly mesh: Resolution;
  /** Other changes to the put. */
  readonly terms?: Partial<Pick<OneFactorProblem, "exerciseTimes" | "barriers" | "dividends">>;
  readonly right?: Right;
}

const standard: Resolution = { nodes: 257, steps: 500 };

const knockOut = (side: "down" | "up", level: number): KnockOut => ({
  side,
  level,
  from: 0,
  to: 1,
  times: undefined,
  rebate: 0,
  rebateAt: "hit",
  open: false,
});
const americanPut = { name: "American puts", american: true, curves: false, mesh: standard };
const europeanPut = { name: "European puts", american: false, curves: false, mesh: standard };

export const KINDS = {
  american: americanPut,
  european: europeanPut,
  americanTimes: { ...americanPut, curves: true },
  europeanTimes: { ...europeanPut, curves: true },
  // Of these the matrix is made and eliminated in every step.
  dividendsTimes: {
    ...americanPut,
    name: "American puts, two dividends",
    curves: true,
    terms: {
      dividends: [
        { time: 0.3, cash: 1, proportional: 0 },
        { time: 0.8, cash: 0, proportional: 0.01 },
      ],
    },
  },
  american512: { ...americanPut, mesh: { nodes: 513, steps: 512 } },
  bermudan: {
    ...europeanPut,
    name: "Bermudan puts, nine dates",
    terms: { exerciseTimes: [0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9] },
  },
  knockOut: {
    ...europeanPut,
    name: "double knock-out calls",
    right: "call",
    terms: { barriers: [knockOut("down", 80), knockOut("up", 130)] },
  },
} as const satisfies Readonly<Record<string, Kind>>;

/** A function that differs from step to step of any grid. */
function wave(middle: number): PiecewiseConstant {
  const times = Array.from({ length: 1000 }, (_, i) => (i + 1) / 1000);
  return { times, values: [...times, 1].map((t) => middle * (1 + 0.1 * Math.sin(6 * t))) };
}

const waves = { rate: wave(0.05), volatility: wave(0.2) };

/** The textbook put, its neighbours in strike and volatility, so that a batch is not one option many times. */
function problem(i: number, { american, curves, terms, right = "put" }: Kind): OneFactorProblem {
  const volatility = 1 + (i % 7) / 20;
  return {
    spots: [100],
    expiry: 1,
    payoff: vanillaPayoff(right, 100 * (1 + (i % 41) / 400)),
    american,
    rates: curves ? waves.rate : constant(0.05),
    dividendYield: 0,
    dividends: [],
    diffusion: {
      kind: "deterministic",
      sigma: curves ? scaled(waves.volatility, volatility) : constant(0.2 * volatility),
    },
    ...terms,
  };
}

const scaled = ({ times, values }: PiecewiseConstant, factor: number): PiecewiseConstant => ({
  times,
  values: values.map((value) => factor * value),
});

function lanesOf(problems: readonly OneFactorProblem[], mesh: Resolution): Instance[] {
  const arena = new Arena();
  return problems.map((one) => {
    const [fine] = grids(one, mesh, arena);
    return instance(fine, one, arena);
  });
}

/** What the CPU did of the same kind of book in the same run, which it goes through first. */
export type Peers = Map<string, number>;

interface Launched {
  readonly kernel: CompiledKernel;
  readonly args: LaunchArguments;
  readonly size: LaunchSize;
}

/** The device, and the launches made through it. */
function listening(device: Device): { readonly device: Device; readonly launches: Launched[] } {
  const launches: Launched[] = [];
  const heard = new Proxy(device, {
    get(target, name) {
      if (name === "launch")
        return (kernel: CompiledKernel, args: LaunchArguments, size: LaunchSize) => {
          launches.push({ kernel, args, size });
          target.launch(kernel, args, size);
        };
      const value: unknown = Reflect.get(target, name, target);
      return typeof value === "function" ? (value.bind(target) as unknown) : value;
    },
  });
  return { device: heard, launches };
}

export async function options(
  device: Device,
  precision: Precision & ("f64" | "f32"),
  counts: readonly number[],
  context: Context,
  cpu: Device,
  peers: Peers = new Map(),
  kinds: readonly Kind[] = [KINDS.american, KINDS.european],
  splits: readonly (Split | "auto")[] = ["auto"],
): Promise<void> {
  for (const kind of kinds)
    for (const count of counts)
      for (const split of splits)
        if (hasRoom(device, precision, kind, split))
          await book(device, precision, context, cpu, peers, kind, count, split);
}

/** Another split than the one that was asked for would go by its name. */
function hasRoom(device: Device, precision: Precision, kind: Kind, split: Split | "auto"): boolean {
  if (split === "auto" || split === "item") return true;
  if (teamCapacity(device, precision, kind.mesh.nodes, split) === undefined) return false;
  return split !== "half-subgroup" || mayShare(lanesOf([problem(0, kind)], kind.mesh)[0], precision);
}

async function book(
  device: Device,
  precision: "f64" | "f32",
  context: Context,
  cpu: Device,
  peers: Peers,
  kind: Kind,
  count: number,
  split: Split | "auto",
): Promise<void> {
  const { mesh } = kind;
  // Seven volatilities, forty-one strikes: so many problems there are.
  const different = Array.from({ length: 287 }, (_, i) => problem(i, kind));
  const repeated = <T>(some: readonly T[]): T[] => Array.from({ length: count }, (_, i) => some[i % some.length]);
  const heard = listening(device);
  using solver = new BatchSolver(heard.device, precision, split);
  const instances = repeated(lanesOf(different, mesh));
  const values = await solver.solve(instances);
  const launches = heard.launches.splice(0);
  const repetitions = context.quick ? 2 : 7;
  const ms = await stopwatch(device).milliseconds(() => {
    for (const { kernel, args, size } of launches) device.launch(kernel, args, size);
  }, repetitions);
  const nodeSteps = mesh.nodes * instances[0].grid.time.steps.length;
  const error = await worstError(cpu, instances.slice(0, 287), values);
  const title = `${kind.name}${kind.curves ? ", rates and volatility by time" : ""}, ${mesh.nodes} nodes × ${mesh.steps} steps`;
  const name = `${count.toLocaleString("en-US")} ${title}${split === "auto" ? "" : `, split: ${split}`}`;
  const common = { device: device === cpu ? context.cpu : device.name, precision, error };
  const { homogeneous } = instances[0].grid.time;
  const floor = floorOn(device, (homogeneous ? H200.nodeSteps : H200.eliminatedNodeSteps)[precision]);
  const launched = `${launches.length} ${launches.length === 1 ? "launch" : "launches"} of ${launches[0].kernel.kernel.name}`;
  const report = (part: string, figure: number, unit: string, rest: Partial<Report>): void => {
    const peer = peers.get(`${title} ${part} ${unit}`);
    if (device === cpu) peers.set(`${title} ${part} ${unit}`, figure);
    const beside = peer === undefined ? {} : { peers: { [`f64 on ${context.cpu}`]: peer } };
    context.report({ ...common, case: `${name}, ${part}`, figure, unit, ...rest, ...beside });
  };
  report("time loop", (nodeSteps * count) / (ms / 1e3), "node-steps/s", floor);
  report("time loop", count / (ms / 1e3), "options/s", {});
  if (homogeneous) {
    const problems = repeated(different);
    const whole = await medianSeconds(context.quick ? 1 : 3, async () => {
      solver.arena.clear();
      return solver.solve(lanesOf(problems, mesh));
    });
    report("from problems to values", count / whole, "options/s", {});
  }
  context.note(`${device.name}, ${precision}, ${name}: ${launched}`);
}

/** Largest difference in price, over spot, from the CPU's f64 on the same meshes. */
async function worstError(
  cpu: Device,
  instances: readonly Instance[],
  values: readonly InstanceValues[],
): Promise<number> {
  using solver = new BatchSolver(cpu, "f64");
  const expected = await solver.solve(instances);
  const price = (l: number, all: InstanceValues): number => {
    instances[l].grid.today = undefined; // each side reads at its own nodes
    return pointValue(instances[l].grid, all, 1e-9).value;
  };
  return Math.max(...instances.map((_, l) => Math.abs(price(l, values[l]) - price(l, expected[l])) / 100));
}
