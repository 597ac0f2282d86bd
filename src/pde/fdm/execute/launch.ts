import type { BufferElement, CompiledKernel, DeviceBuffer, HostArray } from "../../../device/index.ts";
import { type InstanceValues, readableFrom, WINDOW, windowOf } from "../read/solution.ts";
import { type Grid, hasObstacle, type Table } from "../mesh/grid.ts";
import { flagsOfKept, type Instance, keptRows, neededFlags, surfaceTable, type SurfaceTable } from "./instance.ts";
import { exerciseFactors, timeDependentReals } from "../time/forward.ts";
import type { KinkedMesh } from "../mesh/mesh.ts";
import { isKnockedIn } from "../problem/one-factor.ts";
import { coefficientCount, putCoefficients, discretisedProblem } from "./coefficients.ts";
import { encodedSteps } from "../time/time-grid.ts";
import { CLOSED_FORM_REALS, putVolatilities, volatilityReals } from "../operator/coefficients.ts";
import type { SolverVariant } from "./option/plan.ts";
import { EXERCISED, realsPerPoint } from "./option/values.ts";
import type { LaunchMemory, Packed } from "./launch-memory.ts";
import { inputCountOf, isLimited } from "./inputs.ts";
import { layerCount, layersPerStep, reversedProgram, stepInputs } from "./option/reversed.ts";
import { launchSize, type Split } from "./split.ts";

type Reals = Float64Array | Float32Array;

/** Half of the value that stands for exercise; in units of the spot no value comes near it. */
const MAX = 0.5 * EXERCISED;

/** The output of a launch, one column an instance. */
interface Output {
  readonly values: Reals;
  readonly pitch: number;
  readonly windowReals: number;
  readonly outputs: number;
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

  derivative(k: number): number {
    const { values, pitch, outputs } = this.output;
    return values[(outputs + k) * pitch + this.instance] * this.scale;
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
  private readonly privateLayers: number;
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
  /** The number of inputs by which an instance's value is differentiated; 0 where it is not. */
  private readonly inputs: number;
  private readonly flags: Int32Array;
  private readonly packed: Packed;
  private readonly table: Reals;
  private readonly coefficients: Reals;
  private readonly starts: Int32Array;
  private readonly surface: SurfaceTable | undefined;
  private readonly buffers: DeviceBuffer[] = [];
  private out: DeviceBuffer<"f64" | "f32"> | undefined;

  /** Packs the data of instances. `kernel` must be compiled for `split` and the variant. */
  constructor(
    memory: LaunchMemory,
    kernel: CompiledKernel,
    split: Split,
    instances: readonly Instance[],
    { homogeneous = false, privateLayers = 0 }: Pick<SolverVariant, "homogeneous" | "privateLayers">,
  ) {
    this.memory = memory;
    this.kernel = kernel;
    this.split = split;
    this.homogeneous = homogeneous;
    this.privateLayers = privateLayers;
    this.instances = instances;
    this.pitch = pitchOf(instances.length);
    const [{ grid, reading }] = instances;
    this.windows = reading === "points" ? 0 : 1;
    this.points = reading === "window" ? 0 : grid.problem.spots.length - 1;
    this.closed = grid.table === undefined;
    this.windowReals = (this.closed ? 2 : 1) * this.windows * WINDOW;
    this.outputs = this.windowReals + this.points;
    this.inputs = instances[0].differentiated ? inputCountOf(grid) : 0;
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
    const programRows = encodedSteps(this.flags, grid.time.homogeneous);
    const isKept = this.inputs > 0 && this.privateLayers === 0;
    const layers = isKept ? layerCount(grid.time, grid.scheme) * grid.mesh.count : 0;
    this.out = this.buffer(element, (this.outputs + this.inputs + layers) * this.pitch);
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
        flags: this.filled("i32", this.inputs > 0 ? joined(programRows, this.wayBack(programRows)) : programRows),
        start: this.filled("i32", this.starts),
        out: this.out,
      },
      launchSize(this.split, this.instances.length),
    );
  }

  async finish(): Promise<InstanceValues[]> {
    if (this.out === undefined) return [];
    const { pitch, windowReals, outputs, inputs } = this;
    const values = await this.memory.device.read(this.out, 0, (outputs + inputs) * pitch);
    this.memory.give(this.buffers);
    const output = { values, pitch, windowReals, outputs };
    return this.instances.map(({ grid }, l) => new Column(output, l, grid));
  }

  /** What an item needs to go back from today: behind the results are the derivatives, then the kept layers. */
  private wayBack(program: Int32Array): Int32Array {
    const { outputs, inputs } = this;
    const { grid } = this.instances[0];
    const places = {
      layersAt: outputs + inputs,
      gradientAt: outputs,
      inputs,
      perStep: stepInputs(grid.shape),
      layersPerStep: layersPerStep(grid.scheme),
      isLimited: this.instances.some(isLimited),
    };
    return reversedProgram(program, discretisedProblem(this.instances[0]), places, grid.time.steps.length);
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

/**
 * Returns the length of a row of so many instances: eight more than a multiple of 64, so that rows do not fall on the
 * same lines of a cache. Rows of few instances have whole vectors only, since packing and copying them takes as long as
 * they are.
 */
const pitchOf = (instances: number): number => (instances < 48 ? (instances + 7) & ~7 : (instances + 63) & ~63) + 8;

function joined(a: Int32Array, b: Int32Array): Int32Array {
  const both = new Int32Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}

const tableOf = ({ grid }: Instance): Table => grid.table as Table;

/** The value before a knock-in is numbered after that of the trade itself. */
function numbering({ problem, mesh }: Grid, spot: number): number {
  return isKnockedIn(problem, spot) ? 0 : mesh.count;
}
