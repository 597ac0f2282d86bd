import type { BufferElement, CompiledKernel, DeviceBuffer, HostArray } from "../../../device/index.ts";
import type { LaunchMemory, Packed } from "./launch-memory.ts";
import { type InstanceValues, readableFrom, WINDOW, windowOf } from "../read/solution.ts";
import { type Grid, hasObstacle, type Table } from "../mesh/grid.ts";
import { flagsOfKept, type Instance, keptRows, neededFlags, SurfaceTable } from "./instance.ts";
import { timeDependentExercise, timeDependentWords } from "../time/forward.ts";
import type { KinkedMesh } from "../mesh/mesh.ts";
import { isKnockedIn } from "../problem/one-factor.ts";
import { coefficientCount, putCoefficients, solvedBy } from "./coefficients.ts";
import { runsOfSteps } from "../time/time-grid.ts";
import { CLOSED_WORDS, putVolatilities, volatilityWords } from "../operator/coefficients.ts";
import { EXERCISED, pointWords } from "../read/point.ts";
import { launchSize, type Split } from "./split.ts";

/** Half of the value that stands for exercise; in units of the spot no value comes near it. */
const MAX = 0.5 * EXERCISED;

/** The output of a launch, one column an instance. */
interface Output {
  readonly values: Float64Array | Float32Array;
  readonly pitch: number;
  readonly windowWords: number;
}

/** One instance's column of what a launch gives. */
class Column implements InstanceValues {
  private readonly output: Output;
  private readonly instance: number;
  private readonly grid: Grid;

  constructor(output: Output, instance: number, grid: Grid) {
    this.output = output;
    this.instance = instance;
    this.grid = grid;
  }

  /** The unit of the prices of nodes. */
  private get spot(): number {
    return this.grid.problem.spots[0];
  }

  /** The unit of values. */
  private get scale(): number {
    return this.spot * (this.grid.forward?.weight ?? 1);
  }

  /** Made again at each reading: few are read twice, and all would be kept as long as the batch. */
  get window(): readonly number[] {
    const { values, pitch, windowWords } = this.output;
    const window = new Array<number>(windowWords);
    const { instance, scale, spot } = this;
    for (let k = 0; k < windowWords; k++) window[k] = values[k * pitch + instance] * (k < WINDOW ? scale : spot);
    return window;
  }

  spots(column: Float64Array): void {
    const { instance, scale } = this;
    const { values, pitch, windowWords } = this.output;
    for (let k = 0; k < column.length; k++) {
      const value = values[(windowWords + k) * pitch + instance];
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
  private readonly flags: Int32Array;
  private readonly packed: Packed;
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
    this.flags = homogeneous ? flagsOfKept(instances) : neededFlags(instances);
    this.packed = memory.pack();
    this.surface = instances[0].surface && new SurfaceTable(instances);
    if (this.closed) this.packMeshes();
    else this.packTable();
    this.packCoefficients();
    this.packStarts();
  }

  start(): void {
    const { grid } = this.instances[0];
    const { table, coefficients, starts } = this.packed;
    const { device, element } = this.memory;
    this.out = this.buffer(element, this.outputs * this.pitch);
    const runs = runsOfSteps(this.flags, grid.time.homogeneous);
    device.launch(
      this.kernel,
      {
        instances: this.instances.length,
        pitch: this.pitch,
        nodes: grid.mesh.count,
        runs: runs.length,
        windows: this.windows,
        points: this.points,
        obstacleColumn: hasObstacle(grid.table) ? 2 : 1,
        firstExercised: grid.firstExercised,
        table: this.filled(element, table.used()),
        coefficients: this.filled(element, coefficients.used()),
        flags: this.filled("i32", runs),
        start: this.filled("i32", starts.used()),
        out: this.out,
      },
      launchSize(this.split, this.instances.length),
    );
  }

  /** Values an instance, those of its window first. */
  private get outputs(): number {
    return this.windowWords + this.points;
  }

  private get windowWords(): number {
    return (this.closed ? 2 : 1) * this.windows * WINDOW;
  }

  async finish(): Promise<InstanceValues[]> {
    if (this.out === undefined) return [];
    const { pitch, windowWords } = this;
    const values = await this.memory.device.read(this.out, 0, this.outputs * pitch);
    this.memory.give(this.buffers);
    const output = { values, pitch, windowWords };
    return this.instances.map(({ grid }, l) => new Column(output, l, grid));
  }

  /** Everything in units of the spot: prices and values near 1 in any currency, which f32 needs. */
  private packTable(): void {
    const { grid, variance } = this.instances[0];
    const { count } = grid.mesh;
    const hasObstacles = hasObstacle(grid.table);
    const columns = 2 + (hasObstacles ? 1 : 0) + (variance === undefined ? 0 : 1);
    const table = this.takeTable(columns * count * this.pitch);
    const toSpot = (spot: number): number => 1 / spot;
    this.column(table, 0, (instance) => tableOf(instance).nodes, toSpot);
    this.column(table, count, (instance) => tableOf(instance).initial, toSpot);
    if (hasObstacles) this.column(table, 2 * count, (instance) => tableOf(instance).obstacle as Float64Array, toSpot);
    if (variance === undefined) return;
    const row = (columns - 1) * count;
    this.column(
      table,
      row,
      (instance) => instance.variance as Float64Array,
      (spot) => 1 / (spot * spot),
    );
  }

  /** The launch's table, `words` of it to be filled; the surface, or spots and literals of formulas, come after. */
  private takeTable(words: number): Float64Array | Float32Array {
    const { surface, pitch, instances } = this;
    const table = this.packed.table.take(words + (surface?.words(pitch) ?? volatilityWords(instances[0]) * pitch));
    surface?.fill(table.subarray(words), pitch);
    putVolatilities(table.subarray(words), pitch, instances);
    return table;
  }

  /**
   * Packs the numbers from which the solver makes a mesh and a vanilla payoff, in its order, and an obstacle that
   * moves.
   */
  private packMeshes(): void {
    const { instances, pitch } = this;
    const isTimeDependent = instances[0].grid.scheme === "time-dependent";
    const moves = isTimeDependent ? timeDependentWords(instances[0].grid.time) : 0;
    const packed = this.takeTable((CLOSED_WORDS + moves) * pitch);
    if (isTimeDependent) this.packMoves(packed.subarray(CLOSED_WORDS * pitch));
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
  }

  /** Packs for each step what early exercise pays, φ·(slope·x − kink): slope, φ·kink. */
  private packMoves(packed: Float64Array | Float32Array): void {
    const { instances, pitch } = this;
    for (let first = 0; first < instances.length; first += INSTANCES_AT_ONCE) {
      const few = instances.slice(first, first + INSTANCES_AT_ONCE);
      const factors = few.map(({ problem, grid }) => timeDependentExercise(problem, grid.time));
      const kinks = few.map(signedKink);
      for (let k = 0; k < factors[0].length; k += 2)
        for (let l = 0, at = k * pitch + first; l < few.length; l++, at++) {
          packed[at] = factors[l][k];
          packed[at + pitch] = kinks[l] * factors[l][k + 1];
        }
    }
  }

  private packCoefficients(): void {
    const { instances, pitch } = this;
    const rows = keptRows(instances[0], this.flags);
    const kept = this.homogeneous ? this.flags : undefined;
    const count = rows?.length ?? coefficientCount(instances[0].grid.time, solvedBy(instances[0]), kept);
    const pointRows = this.points * pointWords(this.closed);
    const packed = this.packed.coefficients.take((count + pointRows) * pitch);
    if (rows === undefined) putCoefficients(packed, pitch, instances, kept);
    else this.copyRows(packed, rows);
    if (pointRows > 0) this.packPoints(packed.subarray(count * pitch));
  }

  /** A row of a few instances at a time: rows are far apart, and each write to another one a new line of the cache. */
  private copyRows(packed: Float64Array | Float32Array, kept: readonly number[]): void {
    const { instances, pitch } = this;
    for (let first = 0; first < instances.length; first += INSTANCES_AT_ONCE) {
      const end = Math.min(first + INSTANCES_AT_ONCE, instances.length);
      for (let i = 0; i < kept.length; i++)
        for (let l = first, at = i * pitch; l < end; l++)
          packed[at + l] = (instances[l].coefficients as Float64Array)[kept[i]];
    }
  }

  /** Points after the coefficients: spots, and the nodes that they may be read from where those are not all. */
  private packPoints(packed: Float64Array | Float32Array): void {
    const words = pointWords(this.closed);
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

  private packStarts(): void {
    const { instances } = this;
    const packed = this.packed.starts.take(this.pitch);
    if (this.windows === 0) return;
    for (let l = 0; l < instances.length; l++) {
      const { grid } = instances[l];
      packed[l] = (windowOf(grid).first ?? 0) + numbering(grid, grid.problem.spots[0]);
    }
  }

  /**
   * Values of all instances, scaled, from a row on; in tiles, so that what is read and what is written stays in the
   * nearest cache.
   */
  private column(
    into: Float64Array | Float32Array,
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

const signedKink = ({ grid: { mesh, problem } }: Instance): number =>
  ((problem.payoff.vanillaSign as number) * (mesh as KinkedMesh).kink) / problem.spots[0];

const tableOf = ({ grid }: Instance): Table => grid.table as Table;

/** The value before a knock-in is numbered after that of the trade itself. */
function numbering({ problem, mesh }: Grid, spot: number): number {
  return isKnockedIn(problem, spot) ? 0 : mesh.count;
}
