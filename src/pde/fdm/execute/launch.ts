import type { BufferElement, CompiledKernel, Device, DeviceBuffer, HostArray } from "../../../device/index.ts";
import { hostRealType, type Precision } from "../../../kernel/index.ts";
import { type InstanceValues, readableFrom, WINDOW, windowOf } from "../read/solution.ts";
import { type Grid, hasObstacle, type Table } from "../mesh/grid.ts";
import { flagsOfKept, type Instance, keptRows, neededFlags, surfaceTable, type SurfaceTable } from "./instance.ts";
import { exerciseFactors, timeDependentReals } from "../time/forward.ts";
import type { KinkedMesh } from "../mesh/mesh.ts";
import { isKnockedIn } from "../problem/one-factor.ts";
import { coefficientCount, putCoefficients, discretisedProblem } from "./coefficients.ts";
import { encodedSteps } from "../time/time-grid.ts";
import { CLOSED_FORM_REALS, putVolatilities, volatilityReals } from "../operator/coefficients.ts";
import { EXERCISED, realsPerPoint } from "./option/values.ts";
import { launchSize, type Split } from "./split.ts";

type Reals = Float64Array | Float32Array;

/** Returns a function for host arrays of a length, with anything in them: one array that grows and is used again. */
function growing<T extends Reals | Int32Array>(make: (length: number) => T): (length: number) => T {
  let values = make(0);
  return (length) => {
    if (values.length < length) values = make(length);
    return values.subarray(0, length) as T;
  };
}

/** The host arrays from which one launch is filled. */
interface Packed {
  readonly table: (length: number) => Reals;
  readonly coefficients: (length: number) => Reals;
  readonly starts: (length: number) => Int32Array;
}

/**
 * A pool of buffers and host arrays that successive launches reuse, because allocating and clearing them costs as much
 * as the arithmetic.
 */
export class LaunchMemory implements Disposable {
  readonly device: Device;
  /** The element type of buffers of reals. */
  readonly element: "f64" | "f32";
  readonly #free: DeviceBuffer[] = [];
  readonly #all = new Set<DeviceBuffer>();
  /** Two: one launch is packed while the one before it waits to be recorded. */
  readonly #packed: readonly [Packed, Packed];
  #turn = 0;

  constructor(device: Device, precision: Precision) {
    this.device = device;
    this.element = hostRealType(precision);
    const reals = (): Packed["table"] =>
      growing((length) => (this.element === "f64" ? new Float64Array(length) : new Float32Array(length)));
    const starts = (): Packed["starts"] => growing((length) => new Int32Array(length));
    const packed = (): Packed => ({ table: reals(), coefficients: reals(), starts: starts() });
    this.#packed = [packed(), packed()];
  }

  /** Returns a buffer of at least `length` elements, whose contents are undefined. */
  take<E extends BufferElement>(element: E, length: number): DeviceBuffer<E> {
    const index = this.#free.findIndex(
      (buffer) => buffer.element === element && buffer.length >= length && buffer.length <= 2 * length + 1024,
    );
    if (index >= 0) return this.#free.splice(index, 1)[0] as DeviceBuffer<E>;
    if (this.#free.length > MAX_FREE) this.#discard(this.#free.splice(0, MAX_FREE / 2));
    const buffer = this.device.createBuffer(element, length);
    this.#all.add(buffer);
    return buffer;
  }

  give(buffers: readonly DeviceBuffer[]): void {
    this.#free.push(...buffers);
  }

  /** Returns host arrays for a launch, which stay valid until the call after next. */
  pack(): Packed {
    this.#turn = 1 - this.#turn;
    return this.#packed[this.#turn];
  }

  [Symbol.dispose](): void {
    this.#discard([...this.#all]);
    this.#free.length = 0;
  }

  #discard(buffers: readonly DeviceBuffer[]): void {
    for (const buffer of buffers) {
      this.#all.delete(buffer);
      buffer[Symbol.dispose]();
    }
  }
}

const MAX_FREE = 32;

/** Half of the value that stands for exercise; in units of the spot no value comes near it. */
const MAX = 0.5 * EXERCISED;

/** The output of a launch, one column an instance. */
interface Output {
  readonly values: Reals;
  readonly pitch: number;
  readonly windowReals: number;
}

/** One instance's column of what a launch gives. */
class Column implements InstanceValues {
  private readonly output: Output;
  private readonly instance: number;
  /** The units of the prices of nodes, and of values. */
  private readonly spot: number;
  private readonly scale: number;

  constructor(output: Output, instance: number, { problem, forward }: Grid) {
    this.output = output;
    this.instance = instance;
    this.spot = problem.spots[0];
    this.scale = this.spot * (forward?.weight ?? 1);
  }

  /** Made again at each reading: few are read twice, and all would be kept as long as the batch. */
  get window(): readonly number[] {
    const { values, pitch, windowReals } = this.output;
    const window = new Array<number>(windowReals);
    const { instance, scale, spot } = this;
    for (let k = 0; k < windowReals; k++) window[k] = values[k * pitch + instance] * (k < WINDOW ? scale : spot);
    return window;
  }

  spots(column: Float64Array): void {
    const { instance, scale } = this;
    const { values, pitch, windowReals } = this.output;
    for (let k = 0; k < column.length; k++) {
      const value = values[(windowReals + k) * pitch + instance];
      column[k] = value > MAX ? Number.POSITIVE_INFINITY : value * scale;
    }
  }
}

const INSTANCES_AT_ONCE = 16;
const ROWS_AT_ONCE = 32;

/**
 * One launch of instances. The constructor packs their data, `start` records the launch, and `finish` reads the results
 * and returns the buffers to their pool.
 */
export class Launch {
  private readonly memory: LaunchMemory;
  private readonly kernel: CompiledKernel;
  private readonly split: Split;
  private readonly homogeneous: boolean;
  private readonly instances: readonly Instance[];
  private readonly pitch: number;
  /** 1, or 0 where only points are read. */
  private readonly windows: number;
  private readonly points: number;
  /** True where the device makes the nodes and the payoff. */
  private readonly closed: boolean;
  /** The numbers of values of an instance: those of its window, and all of them. */
  private readonly windowReals: number;
  private readonly outputs: number;
  private readonly flags: Int32Array;
  private readonly packed: Packed;
  private readonly table: Reals;
  private readonly coefficients: Reals;
  private readonly starts: Int32Array;
  private readonly surface: SurfaceTable | undefined;
  private readonly buffers: DeviceBuffer[] = [];
  private out: DeviceBuffer<"f64" | "f32"> | undefined;

  /** Packs the data of instances. `kernel` must be compiled for `split`; `homogeneous`: see `SolverVariant`. */
  constructor(
    memory: LaunchMemory,
    kernel: CompiledKernel,
    split: Split,
    instances: readonly Instance[],
    homogeneous: boolean,
  ) {
    this.memory = memory;
    this.kernel = kernel;
    this.split = split;
    this.homogeneous = homogeneous;
    this.instances = instances;
    // Eight more than a multiple of 64, so that rows do not fall on the same lines of a cache.
    this.pitch = ((instances.length + 63) & ~63) + 8;
    const [{ grid, reading }] = instances;
    this.windows = reading === "points" ? 0 : 1;
    this.points = reading === "window" ? 0 : grid.problem.spots.length - 1;
    this.closed = grid.table === undefined;
    this.windowReals = (this.closed ? 2 : 1) * this.windows * WINDOW;
    this.outputs = this.windowReals + this.points;
    this.flags = homogeneous ? flagsOfKept(instances) : neededFlags(instances);
    this.packed = memory.pack();
    this.surface = instances[0].surface && surfaceTable(instances);
    this.table = this.closed ? this.packedMeshes() : this.packedTable();
    this.coefficients = this.packedCoefficients();
    this.starts = this.packedStarts();
  }

  start(): void {
    const { grid } = this.instances[0];
    const { device, element } = this.memory;
    this.out = this.buffer(element, this.outputs * this.pitch);
    const programRows = encodedSteps(this.flags, grid.time.homogeneous);
    device.launch(
      this.kernel,
      {
        instances: this.instances.length,
        pitch: this.pitch,
        nodes: grid.mesh.count,
        programRows: programRows.length,
        windows: this.windows,
        points: this.points,
        obstacleColumn: hasObstacle(grid.table) ? 2 : 1,
        firstExercised: grid.firstExercised,
        table: this.filled(element, this.table),
        coefficients: this.filled(element, this.coefficients),
        flags: this.filled("i32", programRows),
        start: this.filled("i32", this.starts),
        out: this.out,
      },
      launchSize(this.split, this.instances.length),
    );
  }

  async finish(): Promise<InstanceValues[]> {
    if (this.out === undefined) return [];
    const { pitch, windowReals } = this;
    const values = await this.memory.device.read(this.out, 0, this.outputs * pitch);
    this.memory.give(this.buffers);
    const output = { values, pitch, windowReals };
    return this.instances.map(({ grid }, l) => new Column(output, l, grid));
  }

  /** Everything in units of the spot: prices and values near 1 in any currency, which f32 needs. */
  private packedTable(): Reals {
    const { grid, variance } = this.instances[0];
    const { count } = grid.mesh;
    const hasObstacles = hasObstacle(grid.table);
    const columns = 2 + (hasObstacles ? 1 : 0) + (variance === undefined ? 0 : 1);
    const table = this.takeTable(columns * count * this.pitch);
    const toSpot = (spot: number): number => 1 / spot;
    this.column(table, 0, (instance) => tableOf(instance).nodes, toSpot);
    this.column(table, count, (instance) => tableOf(instance).initial, toSpot);
    if (hasObstacles) this.column(table, 2 * count, (instance) => tableOf(instance).obstacle as Float64Array, toSpot);
    if (variance !== undefined)
      this.column(
        table,
        (columns - 1) * count,
        (instance) => instance.variance as Float64Array,
        (spot) => 1 / (spot * spot),
      );
    return table;
  }

  /** The launch's table, `words` of it to be filled; the surface, or spots and literals of formulas, come after. */
  private takeTable(words: number): Reals {
    const { surface, pitch, instances } = this;
    const table = this.packed.table(words + (surface?.words(pitch) ?? volatilityReals(instances[0]) * pitch));
    surface?.fill(table.subarray(words), pitch);
    putVolatilities(table.subarray(words), pitch, instances);
    return table;
  }

  /** The numbers of a mesh and a vanilla payoff in closed form, and an obstacle that moves. */
  private packedMeshes(): Reals {
    const { instances, pitch } = this;
    const isTimeDependent = instances[0].grid.scheme === "time-dependent";
    const moves = isTimeDependent ? timeDependentReals(instances[0].grid.time) : 0;
    const packed = this.takeTable((CLOSED_FORM_REALS + moves) * pitch);
    if (isTimeDependent) this.packMoves(packed.subarray(CLOSED_FORM_REALS * pitch));
    for (let l = 0; l < instances.length; l++) {
      const { mesh, problem } = instances[l].grid;
      const { kink, width, step, at, zeroAt } = mesh as KinkedMesh;
      packed[l] = kink / problem.spots[0];
      packed[pitch + l] = width;
      packed[2 * pitch + l] = step;
      packed[3 * pitch + l] = at;
      packed[4 * pitch + l] = zeroAt;
      packed[5 * pitch + l] = problem.payoff.vanillaSign as number;
    }
    return packed;
  }

  /** Packs for each step what early exercise pays, φ·(slope·x − kink): slope, φ·kink. */
  private packMoves(packed: Reals): void {
    const { instances, pitch } = this;
    for (let first = 0; first < instances.length; first += INSTANCES_AT_ONCE) {
      const few = instances.slice(first, first + INSTANCES_AT_ONCE);
      const factors = few.map(({ problem, grid }) => exerciseFactors(problem, grid.time));
      const kinks = few.map(
        ({ grid: { mesh, problem } }) =>
          ((problem.payoff.vanillaSign as number) * (mesh as KinkedMesh).kink) / problem.spots[0],
      );
      for (let k = 0; k < factors[0].length; k += 2)
        for (let l = 0, at = k * pitch + first; l < few.length; l++, at++) {
          packed[at] = factors[l][k];
          packed[at + pitch] = kinks[l] * factors[l][k + 1];
        }
    }
  }

  private packedCoefficients(): Reals {
    const { instances, pitch } = this;
    const rows = keptRows(instances[0], this.flags);
    const kept = this.homogeneous ? this.flags : undefined;
    const count = rows?.length ?? coefficientCount(instances[0].grid.time, discretisedProblem(instances[0]), kept);
    const pointRows = this.points * realsPerPoint(this.closed);
    const packed = this.packed.coefficients((count + pointRows) * pitch);
    if (rows === undefined) putCoefficients(packed, pitch, instances, kept);
    else this.copyRows(packed, rows);
    if (pointRows > 0) this.packPoints(packed.subarray(count * pitch));
    return packed;
  }

  /** A row of a few instances at a time: rows are far apart, and each write to another one a new line of the cache. */
  private copyRows(packed: Reals, kept: readonly number[]): void {
    const { instances, pitch } = this;
    for (let first = 0; first < instances.length; first += INSTANCES_AT_ONCE) {
      const end = Math.min(first + INSTANCES_AT_ONCE, instances.length);
      for (let i = 0; i < kept.length; i++)
        for (let l = first, at = i * pitch; l < end; l++)
          packed[at + l] = (instances[l].coefficients as Float64Array)[kept[i]];
    }
  }

  /** Points after the coefficients: spots, and the nodes that they may be read from where those are not all. */
  private packPoints(packed: Reals): void {
    const words = realsPerPoint(this.closed);
    this.instances.forEach(({ grid }, l) => {
      const { spots } = grid.problem;
      const readable = this.closed || this.points === 0 ? undefined : readableFrom(grid);
      for (let k = 0; k < this.points; k++) {
        const spot = spots[k + 1];
        const at = k * words * this.pitch + l;
        packed[at] = spot / spots[0];
        if (readable === undefined) continue;
        const [lowest, highest] = readable(spot);
        packed[at + this.pitch] = lowest + numbering(grid, spot);
        packed[at + 2 * this.pitch] = highest + numbering(grid, spot);
      }
    });
  }

  private packedStarts(): Int32Array {
    const { instances } = this;
    const packed = this.packed.starts(this.pitch);
    if (this.windows === 0) return packed;
    for (let l = 0; l < instances.length; l++) {
      const { grid } = instances[l];
      packed[l] = (windowOf(grid).first ?? 0) + numbering(grid, grid.problem.spots[0]);
    }
    return packed;
  }

  /**
   * Values of all instances, scaled, from a row on; in tiles, so that what is read and what is written stays in the
   * nearest cache.
   */
  private column(
    into: Reals,
    row: number,
    valuesOf: (instance: Instance) => Float64Array,
    scaleOf: (spot: number) => number,
  ): void {
    const { instances, pitch } = this;
    const { count } = instances[0].grid.mesh;
    for (let first = 0; first < instances.length; first += INSTANCES_AT_ONCE) {
      const few = instances.slice(first, first + INSTANCES_AT_ONCE);
      const columns = few.map(valuesOf);
      const scales = few.map(({ grid }) => scaleOf(grid.problem.spots[0]));
      for (let top = 0; top < count; top += ROWS_AT_ONCE) {
        const end = Math.min(top + ROWS_AT_ONCE, count);
        for (let l = 0; l < columns.length; l++) {
          const values = columns[l];
          const scale = scales[l];
          for (let i = top, at = (row + top) * pitch + first + l; i < end; i++, at += pitch)
            into[at] = values[i] * scale;
        }
      }
    }
  }

  private filled(element: BufferElement, values: HostArray): DeviceBuffer {
    const buffer = this.buffer(element, values.length);
    this.memory.device.write(buffer, values);
    return buffer;
  }

  private buffer<E extends BufferElement>(element: E, length: number): DeviceBuffer<E> {
    const buffer = this.memory.take(element, length);
    this.buffers.push(buffer);
    return buffer;
  }
}

const tableOf = ({ grid }: Instance): Table => grid.table as Table;

/** The value before a knock-in is numbered after that of the trade itself. */
function numbering({ problem, mesh }: Grid, spot: number): number {
  return isKnockedIn(problem, spot) ? 0 : mesh.count;
}
