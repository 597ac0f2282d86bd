import type { Device } from "../device/index.ts";
import type { Convertible, ConvertibleMarket } from "./contract.ts";
import { rollbackKernel } from "./kernel/rollback.ts";
import { meshOf } from "./mesh.ts";
import { programOf, type TimeStep, timeSteps } from "./program.ts";

/** A convertible to be solved on a mesh. */
export interface Instance {
  readonly contract: Convertible;
  readonly market: ConvertibleMarket;
  /** The spots at which it will be read. */
  readonly spots: readonly number[];
  /** The market that the mesh is made for, where it is not this one. */
  readonly meshOf?: ConvertibleMarket;
}

/** V and B at the nodes, in units of the notional; a node's spot is too. */
export interface Profile {
  readonly nodes: Float64Array;
  readonly value: Float64Array;
  readonly cash: Float64Array;
  /** Time steps whose policy iteration has not ended. */
  readonly failures: number;
}

/** Intervals of the mesh and time steps of level 0. */
export interface Resolution {
  readonly intervals: number;
  readonly steps: number;
  readonly level: number;
}

const CAPACITIES = [64, 128, 256, 512, 1024, 2048, 4096];

interface Prepared {
  readonly index: number;
  readonly nodes: Float64Array;
  readonly steps: readonly TimeStep[];
  readonly instance: Instance;
  readonly shape: { readonly split: boolean; readonly localVolatility: boolean; readonly localHazard: boolean };
}

function prepare(instance: Instance, index: number, { intervals, steps, level }: Resolution): Prepared {
  const { contract, market, spots } = instance;
  const { credit, volatility } = market;
  return {
    index,
    instance,
    nodes: meshOf(contract, instance.meshOf ?? market, spots, intervals, level),
    steps: timeSteps(contract, market, steps, level),
    shape: {
      split: credit.kind === "spread" && credit.spread.values.some((value) => value !== 0),
      localVolatility: typeof volatility === "function",
      localHazard: credit.kind === "hazard" && credit.exponent !== 0,
    },
  };
}

/** Solves instances on one level, those of one kind in one launch. */
export async function rollBack(
  device: Device,
  instances: readonly Instance[],
  resolution: Resolution,
): Promise<Profile[]> {
  const groups = new Map<string, Prepared[]>();
  for (const [index, instance] of instances.entries()) {
    const prepared = prepare(instance, index, resolution);
    const key = Object.values(prepared.shape).join();
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [prepared]);
    else group.push(prepared);
  }
  const profiles = new Array<Profile>(instances.length);
  for (const group of groups.values()) {
    group.sort((a, b) => a.steps.length - b.steps.length);
    for (let first = 0; first < group.length; first += AT_ONCE)
      await launch(device, group.slice(first, first + AT_ONCE), profiles);
  }
  return profiles;
}

/** Instances of a launch. */
const AT_ONCE = 1024;

async function launch(device: Device, group: readonly Prepared[], profiles: Profile[]): Promise<void> {
  const [{ shape, nodes: first }] = group;
  const nodes = first.length;
  const capacity = CAPACITIES.find((size) => size >= nodes) ?? nodes;
  const compiled = await device.compile(rollbackKernel({ ...shape, capacity }), { precision: "f64", vectors: 1 });
  const pitch = ((group.length + 63) & ~63) + 8;
  const programs = group.map(({ instance, steps }) => programOf(instance.contract, instance.market, steps));
  const words = Math.max(...programs.map(({ length }) => length));
  const steps = Math.max(...group.map((one) => one.steps.length));
  const program = new Float64Array(words * pitch);
  programs.forEach((own, l) => own.forEach((word, i) => (program[i * pitch + l] = word)));
  const mesh = new Float64Array((shape.localHazard ? 2 : 1) * nodes * pitch);
  group.forEach((one, l) => putMesh(one, mesh.subarray(l), pitch));
  const local = new Float64Array(shape.localVolatility ? steps * nodes * pitch : 1);
  if (shape.localVolatility) group.forEach((one, l) => putVolatility(one, local.subarray(l), pitch));
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
      mesh: meshBuffer,
      program: programBuffer,
      local: localBuffer,
      out,
    },
    { items: group.length, microsecondsEach: 0.02 * nodes * steps },
  );
  const solved = await device.read(out);
  group.forEach((one, l) => {
    const column = (from: number): Float64Array =>
      Float64Array.from({ length: nodes }, (_, i) => solved[(from + i) * pitch + l]);
    const failures = solved[2 * nodes * pitch + l];
    profiles[one.index] = { nodes: one.nodes, value: column(0), cash: column(nodes), failures };
  });
}

function putMesh({ nodes, instance, shape }: Prepared, into: Float64Array, pitch: number): void {
  const { credit } = instance.market;
  const { notional } = instance.contract;
  nodes.forEach((s, i) => {
    into[i * pitch] = s;
    if (shape.localHazard && credit.kind === "hazard")
      into[(nodes.length + i) * pitch] = Math.min(((s * notional) / credit.reference) ** credit.exponent, MAX_FACTOR);
  });
}

/** The most that a hazard rate may be of that at the reference spot: default is certain then. */
const MAX_FACTOR = 1e4;

function putVolatility({ nodes, steps, instance }: Prepared, into: Float64Array, pitch: number): void {
  const { volatility } = instance.market;
  const { notional } = instance.contract;
  if (typeof volatility !== "function") return;
  for (const [k, { start, end }] of steps.entries())
    for (let i = 0; i < nodes.length; i++)
      into[(k * nodes.length + i) * pitch] = volatility(nodes[i] * notional, 0.5 * (start + end)) ** 2;
}
