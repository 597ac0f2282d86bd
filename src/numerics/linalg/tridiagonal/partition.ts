import { type CompiledKernel, type Device, type DeviceBuffer, isGpu } from "../../../device/index.ts";
import { hostReal } from "../../../kernel/index.ts";
import { chunkStatus } from "./chunk-status.ts";
import type { ChunkMethod, Chunks, Method, Problem, System } from "./method.ts";
import { layoutOf } from "./place.ts";
import { reduceChunksKernel } from "./reduce-chunks.ts";
import { reduceRunsKernel, rowsOfLane } from "./reduce-runs.ts";
import { registerHybrid, runShape } from "./register-hybrid.ts";
import { thomas } from "./thomas.ts";

interface Reducer {
  readonly compiled: CompiledKernel;
  /** True where a chunk takes a workgroup, rather than an item. */
  readonly groups: boolean;
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
 *
 * `inner` creates the method for the reduced system.
 */
export async function partition(
  device: Device,
  problem: Problem,
  inner: (device: Device, problem: Problem) => Promise<Method>,
): Promise<Method> {
  const { rows, batch, stride, precision } = problem;
  const chunks = chunksOf(problem);
  const { rows: chunk, count } = chunks;
  const small = { rows: 2 * count, batch, stride: batch, shared: false, precision };
  const [{ compiled, groups }, solver, method, status] = await Promise.all([
    reducerFor(device, problem, chunks),
    solverFor(device, problem, chunks),
    rows <= chunk ? thomas(device, small) : inner(device, small),
    chunkStatus(device, problem, chunks),
  ]);
  const reduced = reducedSystem(device, small, status.reduced);
  const { lower: outLower, upper: outUpper, rhs: outRhs } = reduced;
  const out = { outLower, outUpper, outRhs, status: status.reducing };
  return {
    solve({ status: words, ...system }) {
      const args = { rows, stride, batch, chunk, ...system, ...out };
      device.launch(compiled, args, groups ? { groups: batch * count } : { items: batch * count });
      method.solve(reduced);
      solver.solve({ ...system, status: status.solving }, outRhs);
      status.collect(words);
    },
    [Symbol.dispose]() {
      const { lower, diagonal, upper, rhs } = reduced;
      for (const owned of [lower, diagonal, upper, rhs, method, status, solver]) owned[Symbol.dispose]();
    },
  };
}

/** Memory for it, its diagonal of ones. */
function reducedSystem(device: Device, { rows, batch, precision }: Problem, status: DeviceBuffer): System {
  const buffer = (): DeviceBuffer => device.createBuffer(hostReal(precision), rows * batch);
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
  return runs ? registerHybrid(device, problem, chunks) : thomas(device, problem, chunks);
}
