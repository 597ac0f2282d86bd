import type { Device } from "../../device/index.ts";
import type { Convertible, ConvertibleMarket } from "./contract.ts";
import { rollbackKernel } from "./kernel/rollback.ts";
import { meshOf } from "./mesh.ts";
import { programOf, type StepSeries, stepSeriesOf } from "./program.ts";

/** A convertible to be solved on one mesh. */
export interface Instance {
  readonly contract: Convertible;
  readonly market: ConvertibleMarket;
  /** The spots at which the solution will be read. */
  readonly spots: readonly number[];
  /** The market for which the mesh is made, if it is not `market`. */
  readonly meshOf?: ConvertibleMarket;
}

/** The solution on a mesh at all nodes, with values and spots in units of the notional. */
export interface Profile {
  /** The spots of the mesh. */
  readonly nodes: Float64Array;
  /** Returns V at the node with an index. */
  value(node: number): number;
  /** Returns the cash-only part B at the node with an index. */
  cash(node: number): number;
  /** The number of time steps whose policy iteration did not converge. */
  readonly failures: number;
}

/**
 * The number of mesh intervals on level 0, and the level. Each level halves the intervals and time steps of the one
 * before.
 */
export interface Resolution {
  readonly intervals: number;
  readonly level: number;
}

/**
 * Nodes that an instance has room for: one size, so that a kernel is compiled once. It is no multiple of a page's size,
 * at which the arrays of an instance would displace each other from the cache.
 */
const CAPACITY = 1290;

/** An instance with its time steps on level 0 and its kernel's program, which are the same on all levels. */
export interface PreparedInstance {
  readonly instance: Instance;
  readonly series: readonly StepSeries[];
  readonly steps: number;
  readonly program: Float64Array;
  readonly shape: { readonly split: boolean; readonly localVolatility: boolean; readonly localHazard: boolean };
}

/** An instance on a level. */
interface Meshed extends PreparedInstance {
  readonly index: number;
  readonly nodes: Float64Array;
}

/** Prepares an instance with at least `perLife` time steps on level 0. */
export function prepare(instance: Instance, perLife: number): PreparedInstance {
  const { contract, market } = instance;
  const { credit, volatility } = market;
  const runs = stepSeriesOf(contract, market, perLife);
  return {
    instance,
    series: runs,
    steps: runs.reduce((sum, { count }) => sum + count, 0),
    program: programOf(contract, market, runs),
    shape: {
      split: credit.kind === "spread" && credit.spread.values.some((value) => value !== 0),
      localVolatility: typeof volatility === "function",
      localHazard: credit.kind === "hazard" && credit.exponent !== 0,
    },
  };
}

/**
 * Solves instances on one level, and returns their solutions in order. Instances that share a kernel are solved in one
 * launch.
 */
export async function rollBack(
  device: Device,
  instances: readonly PreparedInstance[],
  { intervals, level }: Resolution,
): Promise<Profile[]> {
  const groups = new Map<string, Meshed[]>();
  for (const [index, prepared] of instances.entries()) {
    const { contract, market, spots, meshOf: other = market } = prepared.instance;
    const key = Object.values(prepared.shape).join();
    const group = groups.get(key) ?? [];
    groups.set(key, group);
    group.push({ ...prepared, index, nodes: meshOf(contract, other, spots, intervals, level) });
  }
  const profiles = new Array<Profile>(instances.length);
  for (const group of groups.values()) {
    group.sort((a, b) => a.steps - b.steps);
    for (let first = 0; first < group.length; first += AT_ONCE)
      await launch(device, group.slice(first, first + AT_ONCE), 2 ** level, profiles);
  }
  return profiles;
}

/** Instances of a launch. */
const AT_ONCE = 1024;

async function launch(device: Device, group: readonly Meshed[], parts: number, profiles: Profile[]): Promise<void> {
  const [{ shape, nodes: first }] = group;
  const nodes = first.length;
  const compiled = await device.compile(rollbackKernel({ ...shape, capacity: CAPACITY }), {
    precision: "f64",
    vectors: 1,
  });
  // As in pde/fdm/execute/launch.ts.
  const pitch = (group.length < 48 ? (group.length + 7) & ~7 : (group.length + 63) & ~63) + 8;
  const words = Math.max(...group.map((one) => one.program.length));
  const steps = parts * Math.max(...group.map((one) => one.steps));
  const program = new Float64Array(words * pitch);
  group.forEach((one, l) => {
    for (let i = 0; i < one.program.length; i++) program[i * pitch + l] = one.program[i];
  });
  const mesh = new Float64Array((shape.localHazard ? 2 : 1) * nodes * pitch);
  group.forEach((one, l) => putMesh(one, mesh.subarray(l), pitch));
  const local = new Float64Array(shape.localVolatility ? steps * nodes * pitch : 1);
  if (shape.localVolatility) group.forEach((one, l) => putVolatility(one, local.subarray(l), pitch, parts));
  using meshBuffer = device.createBuffer("f64", mesh.length);
  using programBuffer = device.createBuffer("f64", program.length);
  using localBuffer = device.createBuffer("f64", local.length);
  using out = device.createBuffer("f64", (2 * nodes + 1) * pitch);
  device.write(meshBuffer, mesh);
  device.write(programBuffer, program);
  device.write(localBuffer, local);
  device.launch(
    compiled,
    {
      instances: group.length,
      pitch,
      nodes,
      steps,
      parts,
      mesh: meshBuffer,
      program: programBuffer,
      local: localBuffer,
      out,
    },
    { items: group.length, microsecondsEach: 0.02 * nodes * steps },
  );
  const solved = await device.read(out);
  group.forEach(({ index, nodes: own }, l) => {
    profiles[index] = {
      nodes: own,
      value: (node) => solved[node * pitch + l],
      cash: (node) => solved[(nodes + node) * pitch + l],
      failures: solved[2 * nodes * pitch + l],
    };
  });
}

function putMesh({ nodes, instance, shape }: Meshed, into: Float64Array, pitch: number): void {
  const { credit } = instance.market;
  const { notional } = instance.contract;
  for (let i = 0; i < nodes.length; i++) {
    into[i * pitch] = nodes[i];
    if (shape.localHazard && credit.kind === "hazard")
      into[(nodes.length + i) * pitch] = Math.min(
        ((nodes[i] * notional) / credit.reference) ** credit.exponent,
        MAX_FACTOR,
      );
  }
}

/** The most that a hazard rate may be of that at the reference spot: default is certain then. */
const MAX_FACTOR = 1e4;

function putVolatility(
  { nodes, series: runs, instance }: Meshed,
  into: Float64Array,
  pitch: number,
  parts: number,
): void {
  const { volatility } = instance.market;
  const { notional } = instance.contract;
  if (typeof volatility !== "function") return;
  let k = 0;
  // Steps of BDF2 have the equation at their end in backward time: the volatility of another time is off by O(Δt).
  for (const { end, count, length } of runs)
    for (let step = 0; step < count * parts; step++, k++)
      for (let i = 0; i < nodes.length; i++)
        into[(k * nodes.length + i) * pitch] =
          volatility(nodes[i] * notional, end - ((step + 1) * length) / parts) ** 2;
}
