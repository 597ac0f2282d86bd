/** Many grids of one problem, solved together: their layout in memory, and the launches. */
import {
  type CompiledKernel,
  type Device,
  maxInstancesPerLaunch,
  TemporaryBuffers,
  type LaunchScheduler,
} from "../../device/index.ts";
import { SpecError } from "../../base/errors.ts";
import {
  firstFault,
  type ParameterValues,
  PROGRAM_BITS,
  ROW_REALS,
  type TimeProgram,
  type Timeline,
  packedParameters,
} from "../fdm/index.ts";
import { hostRealType, type Kernel, type Precision } from "../../kernel/index.ts";
import { sharedGridKernel } from "./kernel/time-loop.ts";
import { neighboursOf, REPORT, REPORT_INTEGERS, ROW_FIELD, slot, slotsOf } from "./kernel/variant.ts";
import { type GradedMesh, gradedMesh } from "./mesh.ts";
import type { SparseGridEquation } from "./problem/model.ts";
import { capacityOf, type GridShape, shapeFor } from "./shapes.ts";

/** A grid to be solved for one entry of the batch, with the entry's parameters and dates. */
export interface GridJob {
  readonly entry: ParameterValues;
  readonly timeline: Timeline;
  /** The level of each axis. */
  readonly levels: readonly number[];
}

/** The solution V today on one grid, at its unknowns, with the first axis contiguous. */
export interface GridValues {
  /** The level of each axis. */
  readonly levels: readonly number[];
  readonly meshes: readonly GradedMesh[];
  /** The index of the first unknown node of each axis; it is 1 at a Dirichlet end, whose value is given. */
  readonly first: readonly number[];
  /** The number of unknown nodes of each axis. */
  readonly counts: readonly number[];
  /** The solution V at the unknowns. */
  readonly values: Float64Array;
  readonly report: GridReport;
  /** The time program with which it was computed. */
  readonly program: GridProgram;
}

/** The kernel of a shape. */
interface GridProgram {
  readonly shape: GridShape;
  readonly kernel: CompiledKernel<ReturnType<typeof sharedGridKernel>["params"]>;
  /** The kernel that was compiled, for messages about loops in the user's functions. */
  readonly source: Kernel;
}

/**
 * The status of a grid's solution: its first fault with node and program row, a loop that did not end, and the
 * iterations of its linear systems. It is merged from the statuses of all work items.
 */
export interface GridReport {
  readonly fault: number;
  readonly node: number;
  readonly row: number;
  readonly endless: number;
  readonly growth: false;
  /** The number of linear systems for which the iteration did not converge. */
  readonly unsolved: number;
  /** The program row of the first such system. */
  readonly unsolvedRow: number;
  /** The number of iterations, summed over the linear systems. */
  readonly iterations: number;
  /** The number of linear systems. */
  readonly systems: number;
}

/** The size of a grid. */
interface GridSize {
  readonly job: GridJob;
  readonly counts: readonly number[];
  readonly strides: readonly number[];
  readonly unknowns: number;
  /** The distances to a row's neighbours. */
  readonly offsets: readonly number[];
  /** Zeros behind every array. */
  readonly guard: number;
  /** The number of rows that a kernel must have room for. */
  readonly room: number;
  /** Relative duration. */
  readonly cost: number;
}

/** The places of a grid's arrays. */
interface Layout extends GridSize {
  readonly rounds: number;
  readonly pitch: number;
  readonly words: number;
  readonly first: readonly number[];
}

/** The number of rows of the time program that a launch has at least. */
const MIN_ROWS = 2;

/** A solver of the grids of one equation on one device. */
export class GridSolver {
  readonly #device: Device;
  readonly #model: SparseGridEquation;
  readonly #precision: Precision;
  readonly #pace: LaunchScheduler;
  readonly #shape: GridShape | undefined;
  readonly #programs: GridProgram[] = [];
  readonly #meshes = new Map<string, GradedMesh>();

  /**
   * Creates a solver. If `shape` is given it is used for every grid, instead of the best one for the device and the
   * size of each grid.
   */
  constructor(
    device: Device,
    model: SparseGridEquation,
    precision: Precision,
    pace: LaunchScheduler,
    shape?: GridShape,
  ) {
    this.#device = device;
    this.#model = model;
    this.#precision = precision;
    this.#pace = pace;
    this.#shape = shape;
  }

  /** Returns the number of unknowns of a grid. */
  unknownsOf(levels: readonly number[]): number {
    return levels.reduce((product, level, k) => product * this.#countOf(level, k), 1);
  }

  /**
   * Solves grids that share a time program, and returns them in the given order. One workgroup solves each grid, so
   * results do not depend on the number of cores. The slowest grids start first, so that cores finish together.
   *
   * @param room the number of rows for which the kernel is compiled at least: that of the largest of all grids @throws
   * SpecError a grid that exceeds the device's memory | KernelError | PrecisionError | the signal's reason
   */
  async solve(jobs: readonly GridJob[], program: TimeProgram, room = 0): Promise<GridValues[]> {
    const results = new Array<GridValues>(jobs.length);
    const sizes = jobs.map((job) => this.sizeOf(job));
    const by = await this.#programFor(Math.max(room, ...sizes.map((size) => size.room)));
    const sorted = sizes.map((size, at) => ({ ...this.#layoutOf(size, by), at })).sort((a, b) => b.cost - a.cost);
    const most = maxInstancesPerLaunch(this.#device, this.#bytes);
    for (let first = 0, end = 0; first < sorted.length; first = end) {
      let words = 0;
      for (end = first; end < sorted.length && (end === first || words + sorted[end].words <= most); end++)
        words += sorted[end].words;
      const part = sorted.slice(first, end);
      (await this.#launch(by, part, program)).forEach((result, i) => (results[part[i].at] = result));
    }
    return results;
  }

  get #bytes(): number {
    return this.#precision === "f32" ? 4 : 8;
  }

  /** The kernel for grids of up to so many unknowns, one that there is already if it has room. */
  async #programFor(unknowns: number): Promise<GridProgram> {
    const { variant } = this.#model;
    const wanted = this.#shape ?? shapeFor(this.#device, variant, this.#precision, unknowns);
    const known = this.#programs.find(({ shape }) =>
      wanted.residentRows > 0
        ? shape.residentRows >= wanted.residentRows && capacityOf(shape) >= unknowns
        : shape.residentRows === 0 && shape.groupSize >= wanted.groupSize,
    );
    if (known !== undefined) return known;
    const source = sharedGridKernel({ ...variant, ...wanted });
    const vectors = this.#precision === "f32" ? 2 : 4;
    const kernel = await this.#device.compile(source, { precision: this.#precision, vectors });
    const program = { shape: wanted, kernel, source };
    this.#programs.push(program);
    return program;
  }

  #countOf(level: number, axis: number): number {
    const { first, last } = this.#model.code.axes[axis];
    return 2 ** level + 1 - (first.kind === "dirichlet" ? 1 : 0) - (last.kind === "dirichlet" ? 1 : 0);
  }

  /** Returns the number of unknowns of a grid and its expected computing time. */
  sizeOf(job: GridJob): GridSize {
    const counts = job.levels.map((level, k) => this.#countOf(level, k));
    const strides = counts.map((_, k) => counts.slice(0, k).reduce((product, count) => product * count, 1));
    const unknowns = counts.reduce((product, count) => product * count, 1);
    const offsets = strides.flatMap((stride) => [-stride, stride]);
    for (const [j, k] of this.#model.code.pairs)
      for (const [byJ, byK] of CORNERS) offsets.push(byJ * strides[j] + byK * strides[k]);
    const guard = Math.max(...offsets);
    // Finer meshes take more iterations.
    const cost = unknowns * (4 + Math.max(...job.levels));
    return { job, counts, strides, unknowns, offsets, guard, room: Math.max(unknowns, guard), cost };
  }

  /** @throws SpecError */
  #layoutOf(size: GridSize, { shape: { groupSize } }: GridProgram): Layout {
    const { job, unknowns, guard } = size;
    const { variant } = this.#model;
    const rounds = Math.ceil(unknowns / groupSize);
    const pitch = rounds * groupSize + guard;
    const words = guard + slotsOf(variant) * pitch;
    const { maxBufferBytes } = this.#device.limits;
    if (words * this.#bytes > maxBufferBytes || !Number.isSafeInteger(words) || words >= 2 ** 31)
      throw new SpecError(
        `level: a grid of levels ${job.levels.join(", ")} has ${unknowns.toLocaleString("en")} unknowns and takes ` +
          `${Math.ceil((words * this.#bytes) / 2 ** 20)} MiB on ${this.#device.name}, which has buffers of at most ` +
          `${Math.floor(Math.min(maxBufferBytes / 2 ** 20, 2 ** 11 * this.#bytes))} MiB; take a smaller level or lower initial levels`,
      );
    const first = variant.axes.map(({ first }) => (first.kind === "dirichlet" ? 1 : 0));
    return { ...size, rounds, pitch, words, first };
  }

  #meshesOf({ entry, levels }: GridJob): readonly GradedMesh[] {
    return this.#model.axesOf(entry).map((axis, k) => {
      const key = `${k} ${levels[k]} ${axis.from} ${axis.to} ${axis.centre} ${axis.width}`;
      const mesh = this.#meshes.get(key) ?? gradedMesh(axis, levels[k]);
      this.#meshes.set(key, mesh);
      return mesh;
    });
  }

  async #launch(by: GridProgram, grids: readonly Layout[], program: TimeProgram): Promise<GridValues[]> {
    const device = this.#device;
    const element = hostRealType(this.#precision);
    const { kernel, shape } = by;
    const { variant } = this.#model;
    const { tolerance, maxIterations } = this.#model.solver;
    const entries = [...new Map(grids.map(({ job }) => [job.entry, job])).values()];
    const table: number[] = [];
    const reals: number[] = [];
    const places = new Map<GradedMesh, number>();
    const bases: number[] = [];
    const allMeshes = grids.map(({ job }) => this.#meshesOf(job));
    let total = 0;
    grids.forEach(({ job, counts, strides, unknowns, offsets, guard, rounds, pitch, words, first }, g) => {
      bases.push(total + guard);
      table.push(
        total + guard,
        unknowns,
        pitch,
        entries.findIndex(({ entry }) => entry === job.entry),
        rounds,
      );
      allMeshes[g].forEach((mesh, k) => {
        let place = places.get(mesh);
        if (place === undefined) {
          places.set(mesh, (place = reals.length));
          for (const x of mesh.values) reals.push(x);
          for (const x of mesh.coordinates) reals.push(x);
        }
        table.push(mesh.values.length, first[k], counts[k], strides[k], place);
      });
      table.push(...offsets, ...variant.pairs.flat());
      total += words;
    });
    using buffers = new TemporaryBuffers(device);
    const work = buffers.empty(element, total);
    const report = buffers.empty("i32", grids.length * shape.groupSize * REPORT_INTEGERS);
    const args = {
      axes: variant.axes.length,
      pairs: variant.pairs.length,
      instances: entries.length,
      dates: entries[0].timeline.dates.length,
      maxIterations,
      relative: tolerance.relative,
      table: buffers.filled("i32", Int32Array.from(table)),
      meshes: buffers.filled(element, Float64Array.from(reals)),
      parameters: buffers.filled(element, packedParameters(entries, this.#model.literals)),
      words: buffers.filled("i32", program.words),
      reals: buffers.filled(element, rowsOf(program)),
      work,
      report,
    };
    const rows = program.words.length / 2;
    const effort = grids.reduce((sum, { unknowns }) => sum + unknowns, 0) * neighboursOf(variant);
    const parts = { rows, fewest: MIN_ROWS, work: effort, instances: grids.length };
    await this.#pace.inParts(device, parts, (from, end) =>
      device.launch(kernel, { ...args, first: from, end }, { groups: grids.length }),
    );
    const found = await device.read(report);
    const values = await Promise.all(
      grids.map(({ unknowns, pitch }, g) => device.read(work, bases[g] + slot.U * pitch, unknowns)),
    );
    const size = shape.groupSize * REPORT_INTEGERS;
    return grids.map(({ job, counts, first }, g) => ({
      levels: job.levels,
      meshes: allMeshes[g],
      first,
      counts,
      values: Float64Array.from(values[g]),
      report: reportOf(found.subarray(g * size, (g + 1) * size)),
      program: by,
    }));
  }
}

/** Corners of a pair of axes, in the order of `addCorner`. */
const CORNERS = [
  [-1, -1],
  [1, -1],
  [-1, 1],
  [1, 1],
] as const;

/** Rows of the time program with the time from where u is to t, as parts of their segments. */
function rowsOf({ words, reals }: TimeProgram): Float64Array {
  const rows = words.length / 2;
  const out = new Float64Array(ROW_FIELD.WORDS * rows);
  for (let run = 0; run < rows; run++) {
    const own = reals.subarray(ROW_REALS * run, ROW_REALS * (run + 1));
    out.set(own, ROW_FIELD.WORDS * run);
    const goesOn =
      run > 0 && (words[2 * run - 2] & PROGRAM_BITS.EVENT) === 0 && words[2 * run - 1] === words[2 * run + 1];
    const here = goesOn ? reals[ROW_REALS * (run - 1) + ROW_FIELD.END] : 1;
    out[ROW_FIELD.WORDS * run + ROW_FIELD.ADVANCE] = here - own[ROW_FIELD.AT];
  }
  return out;
}

function reportOf(words: Int32Array): GridReport {
  let endless = 0;
  for (let at = 0; at < words.length; at += REPORT_INTEGERS) endless ||= words[at + REPORT.endless];
  return {
    ...firstFault(words, REPORT_INTEGERS),
    endless,
    growth: false,
    unsolved: words[REPORT.unsolved],
    unsolvedRow: words[REPORT.unsolvedRow],
    iterations: words[REPORT.iterations],
    systems: words[REPORT.systems],
  };
}
