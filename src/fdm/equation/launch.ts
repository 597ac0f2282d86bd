import type { CompiledKernel, Device, DeviceBuffer, HostArray } from "../../device/index.ts";
import { hostReal, type Precision } from "../../kernel/index.ts";
import { STATUS_WORDS } from "./kernel/assemble.ts";
import { NOWHERE } from "./kernel/exercise-boundary.ts";
import type { AxisMesh } from "./mesh/mesh.ts";
import type { Model } from "./model.ts";
import type { ParameterValues } from "./quantity.ts";
import type { TimeProgram, Timeline } from "./timeline.ts";

/** One entry of the batch on one mesh. */
export interface Lane {
  readonly entry: ParameterValues;
  readonly mesh: AxisMesh;
  readonly timeline: Timeline;
}

/** What comes back of a lane, nodes ascending. */
export interface LaneResult {
  readonly mesh: AxisMesh;
  readonly values: Float64Array;
  /** The exercise boundary at the program's records; NaN where no node is exercised. */
  readonly boundary: Float64Array;
  /** `STATUS_WORDS`; node numbers ascending, too. */
  readonly status: Int32Array;
}

/** Bytes of one launch's buffers; bounds memory whatever the batch. */
const LAUNCH_BYTES = 256 * 2 ** 20;

/** Lanes of one launch, all with the same number of nodes and the same program. */
export function lanesPerLaunch(nodes: number, program: TimeProgram, precision: Precision): number {
  const words = 3 * nodes + program.records.length + 64;
  return Math.max(1, Math.floor(LAUNCH_BYTES / (words * (precision === "f32" ? 4 : 8))));
}

/** Packs, launches, reads back. All buffers are disposed, whatever happens. */
export async function launch(
  device: Device,
  kernel: CompiledKernel,
  { descending }: Model,
  program: TimeProgram,
  lanes: readonly Lane[],
): Promise<LaneResult[]> {
  const buffers: DeviceBuffer[] = [];
  const element = hostReal(kernel.precision);
  const filled = (type: "f64" | "f32" | "i32", values: HostArray): DeviceBuffer => {
    const buffer = device.createBuffer(type, values.length);
    buffers.push(buffer);
    device.write(buffer, values);
    return buffer;
  };
  try {
    const nodes = lanes[0].mesh.values.length;
    const dates = lanes[0].timeline.dates.length;
    const pitch = lanes.length;
    const out = device.createBuffer(element, (nodes + program.records.length) * pitch);
    buffers.push(out);
    const status = device.createBuffer("i32", STATUS_WORDS * pitch);
    buffers.push(status);
    device.launch(
      kernel,
      {
        lanes: lanes.length,
        pitch,
        nodes,
        rows: program.words.length / 2,
        dates,
        table: filled(element, packedMeshes(lanes, descending)),
        parameters: filled(element, packedParameters(lanes)),
        words: filled("i32", program.words),
        reals: filled(element, program.reals),
        out,
        status,
      },
      { items: lanes.length },
    );
    const [values, words] = [await device.read(out), await device.read(status)];
    return lanes.map(({ mesh }, l) => laneResult(mesh, values, words, l, pitch, descending));
  } finally {
    for (const buffer of buffers) buffer[Symbol.dispose]();
  }
}

/** S of each node, then the steps of the coordinate, which are differences in f64: in f32 they would be rounded away. */
function packedMeshes(lanes: readonly Lane[], descending: boolean): Float64Array {
  const pitch = lanes.length;
  const count = lanes[0].mesh.values.length;
  const table = new Float64Array(2 * count * pitch);
  lanes.forEach(({ mesh: { values, coordinates } }, l) => {
    for (let i = 0; i < count; i++) {
      const [here, next] = descending ? [count - 1 - i, count - 2 - i] : [i, i + 1];
      table[i * pitch + l] = values[here];
      if (i + 1 < count) table[(count + i) * pitch + l] = coordinates[next] - coordinates[here];
    }
  });
  return table;
}

function packedParameters(lanes: readonly Lane[]): Float64Array {
  const pitch = lanes.length;
  const rows = lanes[0].entry.length + lanes[0].timeline.dates.length;
  const parameters = new Float64Array(rows * pitch);
  lanes.forEach(({ entry, timeline: { dates } }, l) => {
    [...entry, ...dates].forEach((value, k) => (parameters[k * pitch + l] = value));
  });
  return parameters;
}

function laneResult(
  mesh: AxisMesh,
  out: Float64Array | Float32Array,
  words: Int32Array,
  l: number,
  pitch: number,
  descending: boolean,
): LaneResult {
  const count = mesh.values.length;
  const column = Float64Array.from({ length: out.length / pitch }, (_, i) => out[i * pitch + l]);
  const values = column.slice(0, count);
  const status = Int32Array.from({ length: STATUS_WORDS }, (_, k) => words[k * pitch + l]);
  if (descending) {
    values.reverse();
    const [node, low, high] = [status[1], status[4], status[5]].map((i) => count - 1 - i);
    [status[1], status[4], status[5]] = [node, high, low];
  }
  const boundary = column.slice(count).map((level) => (level < 0.5 * NOWHERE ? NaN : level));
  return { mesh, values, boundary, status };
}
