import { openDevice, type Device } from "../../src/device/index.ts";
import {
  Arena,
  fineGrid,
  grids,
  type KnockOut,
  instance,
  BatchSolver,
  type Diffusion,
  type Instance,
  type InstanceValues,
  type OneFactorProblem,
} from "../../src/pde/fdm/index.ts";
import { constant } from "../../src/market/index.ts";
import { vanillaPayoff } from "../../src/market/products/index.ts";
import type { Mesh, Problem } from "./problem.ts";

/** Options that a batch has for each thread: enough that starting it does not count. */
const batchPerThread = 4096;
/** Options prepared at a time. */
const PART = 1024;
/** Trades that a book is priced in. */
const BATCH = 512;

/**
 * Our one-factor solver on the CPU. Problems are made beforehand (`oneFactor`), as QuantLib's market data, instruments
 * and engines are; what is timed on either side begins with the mesh. The device reads the values, as it does those of
 * a ladder.
 */
export class OurEngine implements Disposable {
  readonly threads: number;
  readonly precision: "f64" | "f32";
  readonly batch: number;
  private readonly device: Device;
  private readonly solver: BatchSolver;
  private readonly arenas = [new Arena(), new Arena()];

  private constructor(device: Device, threads: number, precision: "f64" | "f32") {
    this.device = device;
    this.threads = threads;
    this.precision = precision;
    this.batch = batchPerThread * threads;
    this.solver = new BatchSolver(device, precision);
  }

  static async open(threads: number, precision: "f64" | "f32" = "f64"): Promise<OurEngine> {
    return new OurEngine(await openDevice({ backend: "cpu", precision, threads }), threads, precision);
  }

  [Symbol.dispose](): void {
    this.solver[Symbol.dispose]();
    this.device[Symbol.dispose]();
  }

  /**
   * On the mesh alone; everything that depends on the options. Some are prepared while others are solved, as books are.
   */
  async price(problems: readonly OneFactorProblem[], mesh: Mesh): Promise<Float64Array> {
    const parts: Promise<Float64Array>[] = [];
    for (let first = 0; first < problems.length; first += PART) {
      // Memory in turns, as books have it: that of the part before the last one, once it has been solved.
      await parts.at(-2);
      const arena = this.arenas[parts.length % 2];
      arena.clear();
      const instances = this.prepare(problems.slice(first, first + PART), mesh, arena);
      const column = new Float64Array(1);
      const read = (values: InstanceValues[]): Float64Array =>
        Float64Array.from(instances, (each, i) => readValue(each, values[i], column));
      parts.push(this.solve(instances).then(read));
      await new Promise(setImmediate); // the launches of one part start before the next one is prepared
    }
    const prices = new Float64Array(problems.length);
    for (const [i, part] of (await Promise.all(parts)).entries()) prices.set(part, i * PART);
    return prices;
  }

  /**
   * As a book is priced, a batch at a time: on the mesh and a coarser one of half the nodes and steps, extrapolated.
   */
  async priceExtrapolated(problems: readonly OneFactorProblem[], mesh: Mesh): Promise<Float64Array> {
    const prices = new Float64Array(problems.length);
    const column = new Float64Array(1);
    const { arena } = this.solver;
    for (let first = 0; first < problems.length; first += BATCH) {
      arena.clear();
      const instances: Instance[] = [];
      for (const problem of problems.slice(first, first + BATCH))
        for (const grid of grids(problem, mesh, arena)) instances.push(instance(grid, problem, arena, "points"));
      const values = await this.solve(instances);
      for (let i = 0; 2 * i < instances.length; i++) {
        const fine = readValue(instances[2 * i], values[2 * i], column);
        const coarse = readValue(instances[2 * i + 1], values[2 * i + 1], column);
        prices[first + i] = fine + (fine - coarse) / 3;
      }
    }
    return prices;
  }

  /** Meshes, payoffs on the nodes, coefficients. */
  prepare(problems: readonly OneFactorProblem[], mesh: Mesh, arena = new Arena()): Instance[] {
    return problems.map((problem) => instance(fineGrid(problem, mesh, arena), problem, arena, "points"));
  }

  /** Packing, the time loop, reading back. */
  solve(instances: readonly Instance[]): Promise<InstanceValues[]> {
    return this.solver.solve(instances);
  }

  /** Time steps that a mesh really takes, Rannacher's half steps included. */
  stepsOf(problem: OneFactorProblem, mesh: Mesh): number {
    return fineGrid(problem, mesh).time.steps.length;
  }
}

/** The value that the device has read, or what exercise pays at once. */
function readValue({ problem }: Instance, values: InstanceValues, column: Float64Array): number {
  values.spots(column);
  if (!problem.american) return column[0];
  const paid = problem.payoff.exercised(problem.spots[0]);
  return column[0] === Number.POSITIVE_INFINITY ? paid : Math.max(column[0], paid);
}

/** Market data and instrument, with one spot to read a value at. */
export function oneFactor(problem: Problem): OneFactorProblem {
  const { maturity, type, strike, spot, exercise, rate, dividends = [] } = problem;
  return {
    spots: [spot, spot],
    expiry: maturity,
    payoff: vanillaPayoff(type, strike),
    american: exercise === "american",
    rates: constant(rate),
    dividendYield: problem.yield,
    dividends: dividends.map(([time, cash]) => ({ time, cash, proportional: 0 })),
    diffusion: diffusionOf(problem),
    ...(problem.dates === undefined ? {} : { exerciseTimes: problem.dates }),
    ...(problem.lower === undefined ? {} : { barriers: doubleKnockOut(problem) }),
  };
}

function doubleKnockOut({ lower = 0, upper = Infinity, maturity: to }: Problem): KnockOut[] {
  const monitored = { from: 0, to, times: undefined, rebate: 0, rebateAt: "hit", open: false } as const;
  return [
    { side: "down", level: lower, ...monitored },
    { side: "up", level: upper, ...monitored },
  ];
}

function diffusionOf({ vol, beta, spot }: Problem): Diffusion {
  if (beta === undefined) return { kind: "deterministic", sigma: constant(vol) };
  return { kind: "local", sigma: (s) => vol * (s / spot) ** (beta - 1), shift: 0 };
}
