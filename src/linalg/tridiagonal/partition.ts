import { type CompiledKernel, type Device, type DeviceBuffer, isGpu } from "../../device/index.ts";
import { ChunkStatus } from "./chunk-status.ts";
import { type Chunks, elementOf, type Method, type Problem, type System } from "./method.ts";
import { layoutOf } from "./place.ts";
import { reduceChunksKernel } from "./reduce-chunks.ts";
import { reduceRunsKernel, rowsOfLane } from "./reduce-runs.ts";
import { RegisterHybrid, runShape } from "./register-hybrid.ts";
import { Thomas } from "./thomas.ts";

/** Solves each chunk once the ends of its neighbours are known. */
interface ChunkMethod extends Method {
  solve(system: System, ends?: DeviceBuffer): void;
}

interface Reducer {
  readonly compiled: CompiledKernel;
  /** True where a chunk takes a workgroup, rather than an item. */
  readonly groups: boolean;
}

/** The reduced system: what is solved in between, and where. */
interface Reduced {
  readonly method: Method;
  readonly system: System;
}

const CHUNK_ROWS = 512;
/** A device with no registers to speak of walks chunks with private arrays that stay in a core's first cache. */
const MIN_CHUNK = 64;

/**
 * A method for systems of any length in three passes: every chunk is reduced to its first and last unknown, the reduced
 * system of two rows a chunk is solved by a method for its size (this one again, if needed), and every chunk is solved
 * separately.
 *
 * Cost a row: 4 words read, then 4 read and 1 written; 12 flops and those of the chunks' own solver; 4/512 of it again
 * for the reduced system. No array of the system's length is kept. Source: H. H. Wang (1981).
 */
export class Partition implements Method {
  readonly #device: Device;
  readonly #problem: Problem;
  readonly #chunks: Chunks;
  readonly #reducer: Reducer;
  readonly #reduced: Reduced;
  readonly #status: ChunkStatus;
  readonly #solver: ChunkMethod;

  private constructor(
    device: Device,
    problem: Problem,
    chunks: Chunks,
    reducer: Reducer,
    reduced: Reduced,
    status: ChunkStatus,
    solver: ChunkMethod,
  ) {
    this.#device = device;
    this.#problem = problem;
    this.#chunks = chunks;
    this.#reducer = reducer;
    this.#reduced = reduced;
    this.#status = status;
    this.#solver = solver;
  }

  /** Creates the method; `inner` creates the one for the reduced system. */
  static async create(
    device: Device,
    problem: Problem,
    inner: (device: Device, problem: Problem) => Promise<Method>,
  ): Promise<Partition> {
    const { rows, batch, precision } = problem;
    const chunks = chunksOf(problem);
    const small = { rows: 2 * chunks.count, batch, stride: batch, shared: false, precision };
    const [reducer, solver, method, status] = await Promise.all([
      reducerFor(device, problem, chunks),
      solverFor(device, problem, chunks),
      rows <= chunks.rows ? undefined : inner(device, small),
      ChunkStatus.create(device, problem, chunks),
    ]);
    const system = reducedSystem(device, small, status.reduced);
    const reduced = { system, method: method ?? (await Thomas.create(device, small)) };
    return new Partition(device, problem, chunks, reducer, reduced, status, solver);
  }

  solve(system: System): void {
    const { rows, batch, stride } = this.#problem;
    const { rows: chunk, count } = this.#chunks;
    const { compiled, groups } = this.#reducer;
    const { lower, diagonal, upper, rhs } = system;
    const { method, system: reduced } = this.#reduced;
    const { lower: outLower, upper: outUpper, rhs: outRhs } = reduced;
    const out = { outLower, outUpper, outRhs, status: this.#status.reducing };
    const args = { rows, stride, batch, chunk, lower, diagonal, upper, rhs, ...out };
    this.#device.launch(compiled, args, groups ? { groups: batch * count } : { items: batch * count });
    method.solve(reduced);
    this.#solver.solve({ lower, diagonal, upper, rhs, status: this.#status.solving }, outRhs);
    this.#status.collect(system.status);
  }

  [Symbol.dispose](): void {
    const { system, method } = this.#reduced;
    const { lower, diagonal, upper, rhs } = system;
    for (const owned of [lower, diagonal, upper, rhs, method, this.#status, this.#solver]) owned[Symbol.dispose]();
  }
}

/** Memory for it, its diagonal of ones. */
function reducedSystem(device: Device, { rows, batch, precision }: Problem, status: DeviceBuffer): System {
  const buffer = (): DeviceBuffer => device.createBuffer(elementOf(precision), rows * batch);
  const system = { lower: buffer(), diagonal: buffer(), upper: buffer(), rhs: buffer(), status };
  device.write(system.diagonal, new Float64Array(rows * batch).fill(1));
  return system;
}

function chunksOf({ rows }: Problem): Chunks {
  const chunk = Math.min(CHUNK_ROWS, Math.max(MIN_CHUNK, Math.ceil(rows / 4)));
  return { rows: chunk, count: Math.ceil(rows / chunk) };
}

/** A subgroup a chunk where it reads whole lines and exchanges by shuffles. */
async function reducerFor(device: Device, problem: Problem, chunks: Chunks): Promise<Reducer> {
  const { precision, shared } = problem;
  const layout = layoutOf(problem);
  const contiguous = layout === "contiguous";
  const perItem = contiguous && isGpu(device) ? rowsOfLane(device, chunks.rows, precision) : undefined;
  const groups = perItem !== undefined;
  const kernel = groups ? reduceRunsKernel({ perItem, shared }) : reduceChunksKernel({ layout, shared });
  return { compiled: await device.compile(kernel, { precision }), groups };
}

function solverFor(device: Device, problem: Problem, chunks: Chunks): Promise<ChunkMethod> {
  const runs = isGpu(device) && runShape(device, problem, chunks) !== undefined;
  return runs ? RegisterHybrid.create(device, problem, chunks) : Thomas.create(device, problem, chunks);
}
