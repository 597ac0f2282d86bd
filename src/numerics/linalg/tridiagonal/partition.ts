import { type CompiledKernel, type Device, type DeviceBuffer, isGpu } from "../../../device/index.ts";
import { hostRealType, i32, kernel, read, write } from "../../../kernel/index.ts";
import { type ChunkMethod, type Chunks, type Method, type TridiagonalBatch, type System, layoutOf } from "./method.ts";
import { reduceChunksKernel, reduceSegmentsKernel, rowsPerLane } from "./reduce.ts";
import { registerHybrid, registerHybridSettings } from "./register-hybrid.ts";
import { thomas } from "./thomas.ts";
import { CODES, NOT_FINITE } from "./status.ts";

interface Reducer {
  readonly compiled: CompiledKernel;
  /** True if a chunk takes a workgroup, rather than an item. */
  readonly groups: boolean;
}

const CHUNK_ROWS = 512;
/** A device with no registers to speak of walks chunks with private arrays that stay in a core's first cache. */
const MIN_CHUNK = 64;

/**
 * Prepares the partition method for systems of any length. It has three passes: every chunk is reduced to its first and
 * last unknown; the reduced system, with two rows per chunk, is solved by a method for its size (this one again, if
 * needed); and every chunk is solved separately.
 *
 * Cost per row: 4 words read, then 4 read and 1 written; 12 flops and those of the solver of chunks; and 4/512 of this
 * for the reduced system. No array of the system's length is kept. Source: H. H. Wang (1981).
 *
 * `inner` creates the method for the reduced system.
 */
export async function partition(
  device: Device,
  problem: TridiagonalBatch,
  inner: (device: Device, problem: TridiagonalBatch) => Promise<Method>,
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
function reducedSystem(device: Device, { rows, batch, precision }: TridiagonalBatch, status: DeviceBuffer): System {
  const buffer = (): DeviceBuffer => device.createBuffer(hostRealType(precision), rows * batch);
  const system = { lower: buffer(), diagonal: buffer(), upper: buffer(), rhs: buffer(), status };
  device.write(system.diagonal, new Float64Array(rows * batch).fill(1));
  return system;
}

function chunksOf({ rows }: TridiagonalBatch): Chunks {
  const chunk = Math.min(CHUNK_ROWS, Math.max(MIN_CHUNK, Math.ceil(rows / 4)));
  return { rows: chunk, count: Math.ceil(rows / chunk) };
}

/** A subgroup a chunk where it reads whole lines and exchanges by shuffles. */
async function reducerFor(device: Device, problem: TridiagonalBatch, chunks: Chunks): Promise<Reducer> {
  const { precision, shared } = problem;
  const layout = layoutOf(problem);
  const contiguous = layout === "contiguous";
  const perItem = contiguous && isGpu(device) ? rowsPerLane(device, chunks.rows, precision) : undefined;
  const groups = perItem !== undefined;
  const kernel = groups ? reduceSegmentsKernel({ perItem, shared }) : reduceChunksKernel({ layout, shared });
  return { compiled: await device.compile(kernel, { precision }), groups };
}

function solverFor(device: Device, problem: TridiagonalBatch, chunks: Chunks): Promise<ChunkMethod> {
  const runs = isGpu(device) && registerHybridSettings(device, problem, chunks) !== undefined;
  return runs ? registerHybrid(device, problem, chunks) : thomas(device, problem, chunks);
}

/** A system's code from the reduced system's status, whose rows 2c and 2c + 1 are the first and last of chunk c. */
const begin = kernel({
  name: "chunk-status-begin",
  params: { rows: i32, chunk: i32, reduced: read(i32), codes: write(i32) },
  env: CODES,
  body({ rows, chunk, reduced, codes }, gpu, { ok, notFinite }) {
    const s = gpu.globalId();
    const word = reduced[s];
    const row = word - 1;
    const slot = Math.min((row >> 1) * chunk + (row & 1) * (chunk - 1), rows - 1);
    const code = word === 0 ? ok : word < 0 ? notFinite : slot;
    gpu.atomicStore(codes, s, code);
  },
});

/**
 * The worst of what happened to a system's chunks: while they were reduced (rows of the system), while they were solved
 * (rows of the system, too).
 */
const join = kernel({
  name: "chunk-status-join",
  params: { batch: i32, reducing: read(i32), solving: read(i32), codes: write(i32) },
  env: CODES,
  body({ batch, reducing, solving, codes }, gpu, { ok, notFinite }) {
    const t = gpu.globalId();
    const one = reducing[t];
    const other = solving[t];
    let code = one === 0 ? ok : one < 0 ? notFinite : one - 1;
    code = Math.min(code, other === 0 ? ok : other < 0 ? notFinite : other - 1);
    if (code < ok) gpu.atomicMin(codes, t % batch, code);
  },
});

const end = kernel({
  name: "chunk-status-end",
  params: { codes: read(i32), status: write(i32) },
  env: { ...CODES, word: NOT_FINITE },
  body({ codes, status }, gpu, { ok, notFinite, word }) {
    const s = gpu.globalId();
    const code = codes[s];
    status[s] = code === ok ? 0 : code === notFinite ? word : code + 1;
  },
});

/** The status of chunks while they are reduced and solved, and of the reduced systems. */
interface ChunkStatus extends Disposable {
  readonly reducing: DeviceBuffer<"i32">;
  readonly solving: DeviceBuffer<"i32">;
  readonly reduced: DeviceBuffer<"i32">;
  /** Records the combination of all three into the status of systems. */
  collect(status: DeviceBuffer): void;
}

/** Makes room for the status of chunks. */
async function chunkStatus(device: Device, problem: TridiagonalBatch, chunks: Chunks): Promise<ChunkStatus> {
  const { rows, batch, precision } = problem;
  const { rows: chunk, count } = chunks;
  const kernels = await Promise.all([begin, join, end].map((one) => device.compile(one, { precision })));
  const [first, second, third]: readonly CompiledKernel[] = kernels;
  const words = (length: number): DeviceBuffer<"i32"> => device.createBuffer("i32", length);
  const [reducing, solving, reduced, codes] = [batch * count, batch * count, batch, batch].map(words);
  return {
    reducing,
    solving,
    reduced,
    collect(status) {
      device.launch(first, { rows, chunk, reduced, codes }, { items: batch });
      device.launch(second, { batch, reducing, solving, codes }, { items: batch * count });
      device.launch(third, { codes, status }, { items: batch });
    },
    [Symbol.dispose]() {
      for (const buffer of [reducing, solving, reduced, codes]) buffer[Symbol.dispose]();
    },
  };
}
