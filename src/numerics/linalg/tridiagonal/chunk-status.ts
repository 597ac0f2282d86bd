import type { CompiledKernel, Device, DeviceBuffer } from "../../../device/index.ts";
import { i32, kernel, read, write } from "../../../kernel/index.ts";
import type { Chunks, Problem } from "./method.ts";
import { codes, NOT_FINITE } from "./status.ts";

/** A system's code from the reduced system's status, whose rows 2c and 2c + 1 are the first and last of chunk c. */
const begin = kernel({
  name: "chunk-status-begin",
  params: { rows: i32, chunk: i32, reduced: read(i32), codes: write(i32) },
  env: codes,
  body({ rows, chunk, reduced, codes }, gpu, { ok, notFinite }) {
    const s = gpu.globalId();
    const word = reduced[s];
    const row = word - 1;
    const place = Math.min((row >> 1) * chunk + (row & 1) * (chunk - 1), rows - 1);
    const code = word === 0 ? ok : word < 0 ? notFinite : place;
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
  env: codes,
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
  env: { ...codes, word: NOT_FINITE },
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
export async function chunkStatus(device: Device, problem: Problem, chunks: Chunks): Promise<ChunkStatus> {
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
