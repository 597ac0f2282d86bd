/** Memory and launches that every method shares, where one system occupies the whole device. */
import type { CompiledKernel, Device, DeviceBuffer } from "../../../device/index.ts";
import {
  fn,
  type FunctionOf,
  hostRealType,
  i32,
  type Kernel,
  kernel,
  type KernelBody,
  type Precision,
  read,
  real,
  type ValueOf,
  write,
} from "../../../kernel/index.ts";
import { memoizeBy } from "../../../base/memoize.ts";
import { FLAG_WORDS, type RecurrenceState, STATE_WORDS } from "./recurrences.ts";

/** The number of items of a workgroup. */
export const GROUP_SIZE = 128;
/** The number of rows of an item at least, and workgroups at most: sums have the same shape on every device. */
const MIN_ROWS = 8;
const MAX_GROUPS = 256;

/**
 * Sums two numbers over the workgroup by a binary tree. Its first item writes the sums to pair number `slot` of
 * `partials`.
 */
export const groupSums = fn({
  name: "groupSums",
  params: { first: real, second: real, scratch: write(real), partials: write(real), slot: i32 },
  env: { GROUP_SIZE },
  *body({ first, second, scratch, partials, slot }, gpu, { GROUP_SIZE }): KernelBody {
    const item = gpu.localId();
    scratch[item] = first;
    scratch[GROUP_SIZE + item] = second;
    yield;
    for (let distance = GROUP_SIZE >> 1; distance > 0; distance = distance >> 1) {
      if (item < distance) {
        scratch[item] += scratch[item + distance];
        scratch[GROUP_SIZE + item] += scratch[GROUP_SIZE + item + distance];
      }
      yield;
    }
    if (item === 0) {
      partials[2 * slot] = scratch[0];
      partials[2 * slot + 1] = scratch[GROUP_SIZE];
    }
  },
});

/** A kernel function that computes the scalars of the next pass from two sums; see `recurrences.ts`. */
export type ScalarStep = FunctionOf<
  (of: { of: ValueOf<typeof RecurrenceState>; first: number; second: number }) => undefined | void
>;

const scalarStepKernel = memoizeBy((advance: ScalarStep) =>
  kernel({
    name: advance.functionName,
    params: { groups: i32, partials: read(real), state: write(real), flags: write(i32) },
    groupSize: GROUP_SIZE,
    env: { GROUP_SIZE, groupSums, advance },
    *body({ groups, partials, state, flags }, gpu, { GROUP_SIZE, groupSums, advance }) {
      const scratch = gpu.sharedReal(2 * GROUP_SIZE);
      const sums = gpu.sharedReal(2);
      const item = gpu.localId();
      let first = 0.0;
      let second = 0.0;
      for (let g = item; g < groups; g += GROUP_SIZE) {
        first += partials[2 * g];
        second += partials[2 * g + 1];
      }
      yield* groupSums({ first, second, scratch, partials: sums, slot: 0 });
      if (item === 0) advance({ of: { state, flags }, first: sums[0], second: sums[1] });
    },
  }),
);

/** The workspace of one solver: its device and precision, the length of the vectors, and the buffers that it owns. */
export class Workspace implements Disposable {
  readonly device: Device;
  readonly precision: Precision;
  readonly n: number;
  readonly groups: number;
  readonly state: DeviceBuffer<"f64" | "f32">;
  readonly flags: DeviceBuffer<"i32">;
  readonly partials: DeviceBuffer<"f64" | "f32">;
  readonly #buffers: DeviceBuffer[] = [];

  constructor(device: Device, precision: Precision, n: number) {
    this.device = device;
    this.precision = precision;
    this.n = n;
    this.groups = Math.max(1, Math.min(MAX_GROUPS, Math.ceil(n / (GROUP_SIZE * MIN_ROWS))));
    this.state = this.buffer(STATE_WORDS);
    this.flags = device.createBuffer("i32", FLAG_WORDS);
    this.#buffers.push(this.flags);
    this.partials = this.buffer(2 * this.groups);
  }

  /** Returns a new buffer in the solver's precision; a vector by default. */
  buffer(length = this.n): DeviceBuffer<"f64" | "f32"> {
    const made = this.device.createBuffer(hostRealType(this.precision), length);
    this.#buffers.push(made);
    return made;
  }

  compile<K extends Kernel>(program: K): Promise<CompiledKernel<K["params"]>> {
    // Without contraction the bits are those of the CPU; WebGPU leaves that to its driver.
    return this.device.compile(program, { precision: this.precision, fma: "reproducible", vectors: 2 });
  }

  /** Compiles a scalar step and returns the function that records it, after the sums of a pass. */
  async scalarStep(advance: ScalarStep): Promise<() => void> {
    const program = await this.compile(scalarStepKernel(advance));
    const { groups, partials, state, flags } = this;
    return () => this.device.launch(program, { groups, partials, state, flags }, { groups: 1 });
  }

  [Symbol.dispose](): void {
    for (const buffer of this.#buffers) buffer[Symbol.dispose]();
  }
}
