/** Nearest neighbours in bulk, on any device, by one of three methods. */
import {
  compileExact,
  type CompiledKernel,
  type Device,
  type DeviceBuffer,
  createBufferOf,
} from "../../../device/index.ts";
import { DisposedError, ShapeError, SpecError } from "../../../base/errors.ts";
import { hostRealType, i32, kernel, type Precision, read, real, write } from "../../../kernel/index.ts";
import { checkPoints } from "../quantizer.ts";
import { checkWholeNumber } from "../../../base/argument-checks.ts";
import { binFormatOf, binPlan, MAX_BIN_DIMENSION, nearestByBins } from "./bins.ts";
import { type NearestFunction, nearestByBruteForce, type SearchPlan } from "./brute-force.ts";
import { nearestByTree, kdTreePlan } from "./kd-tree.ts";

/** The method of a search; "bins" is the default up to three dimensions, "brute-force" beyond. @experimental */
export type SearchMethod = "bins" | "kd-tree" | "brute-force";

/** The largest number of dimensions, since a query is kept in registers. */
export const MAX_DIMENSION = 10;

/** The kernel function and the tables of a search method. */
export interface Searcher {
  readonly nearest: NearestFunction;
  /** Returns the kernel function for one table only, which may be faster. */
  nearestIn(table: Int32Array): NearestFunction;
  plan(points: Float64Array): SearchPlan;
}

/**
 * Returns the kernel function and the tables of a method. @throws SpecError for bins in more than three dimensions, or
 * an unknown method
 */
export function searcherOf(method: SearchMethod | undefined, dimension: number): Searcher {
  const chosen = method ?? (dimension <= MAX_BIN_DIMENSION ? "bins" : "brute-force");
  switch (chosen) {
    case "bins":
      return {
        nearest: nearestByBins(dimension),
        nearestIn: (table) => nearestByBins(dimension, binFormatOf(table)),
        plan: (points) => binPlan(points, dimension),
      };
    case "kd-tree":
      return searcher(nearestByTree(dimension), (points) => kdTreePlan(points, dimension));
    case "brute-force":
      return searcher(nearestByBruteForce(dimension), () => ({
        table: new Int32Array(1),
        geometry: new Float64Array(1),
      }));
    default:
      throw new SpecError(
        `search: got ${JSON.stringify(chosen satisfies never)}, expected "bins", "kd-tree" or "brute-force"`,
      );
  }
}

const searcher = (nearest: NearestFunction, plan: Searcher["plan"]): Searcher => ({
  nearest,
  nearestIn: () => nearest,
  plan,
});

/**
 * Returns the kernel of `NearestSearch`, with one work item for each query. Bytes: d words read and one written per
 * query. @internal
 */
export function nearestKernel(dimension: number, nearest: NearestFunction) {
  return kernel({
    name: "nearest",
    params: {
      points: read(real),
      size: i32,
      table: read(i32),
      geometry: read(real),
      queries: read(real),
      nearest: write(i32),
    },
    env: { find: nearest, DIMENSION: dimension },
    body({ points, size, table, geometry, queries, nearest }, gpu, { find, DIMENSION }) {
      const i = gpu.globalId();
      const query = gpu.privateReal(DIMENSION);
      for (let a = 0; a < DIMENSION; a++) query[a] = queries[i * DIMENSION + a];
      const search = { points, size, first: 0, table, tableAt: 0, geometry, geometryAt: 0 };
      nearest[i] = find({ search, query });
    },
  });
}

type Searching = CompiledKernel<ReturnType<typeof nearestKernel>["params"]>;

/** The points that are searched, and the method. @experimental */
export interface NearestSettings {
  /** The points, [size, dimension], row by row. */
  readonly points: Float64Array;
  readonly dimension: number;
  readonly method?: SearchMethod;
  /** The precision, "f64" by default. */
  readonly precision?: Precision;
}

/**
 * A search for the nearest neighbours of many queries: for each the number of the nearest point, and of equally near
 * ones the first.
 *
 *   nearest[i] = argminⱼ |qᵢ − xⱼ|²
 *
 * All three methods are exact and give the same numbers: squared distances are added up in the same order, and those
 * of f32 are exact to rounding. Methods: "brute-force" compares with all points; "kd-tree" is Bentley's;
 * "bins" reads a list of the few candidates of the query's bin, the same number in every bin, so that neighbouring
 * work items do not diverge.
 *
 * Cost per query: N, about 3·log₂N, and 4 to 6 distances. Bytes: d words read and one written.
 * Verified: test/quadrature/quantization/search.test.ts, against each other and in every bin's corners.
 *
 * @example
 * import { openDevice } from "feynkac/device";
 * import { NearestSearch } from "feynkac/quantization";
 *
 * using device = await openDevice({ backend: "cpu", threads: 1 });
 * using search = await NearestSearch.create(device, { points: Float64Array.of(-1, 0, 1), dimension: 1 });
 * console.log((await search.find(Float64Array.of(0.7, -9, 0.2))).join(" ")); // 2 0 1
 * @experimental
 */
export class NearestSearch implements Disposable {
  readonly device: Device;
  readonly dimension: number;
  readonly size: number;
  readonly #kernel: Searching;
  readonly #element: "f64" | "f32";
  readonly #tables: { readonly points: DeviceBuffer; readonly table: DeviceBuffer; readonly geometry: DeviceBuffer };
  #disposed = false;

  private constructor(device: Device, settings: NearestSettings, plan: SearchPlan, compiled: Searching) {
    const { points, dimension } = settings;
    this.device = device;
    this.dimension = dimension;
    this.size = points.length / dimension;
    this.#kernel = compiled;
    this.#element = hostRealType(compiled.precision);
    this.#tables = {
      points: createBufferOf(device, this.#element, points),
      table: createBufferOf(device, "i32", plan.table),
      geometry: createBufferOf(device, this.#element, plan.geometry),
    };
  }

  /** Creates a search. @throws SpecError | ShapeError | PrecisionError */
  static async create(device: Device, settings: NearestSettings): Promise<NearestSearch> {
    const { points, dimension, method, precision = "f64" } = settings;
    checkWholeNumber("NearestSearch: dimension", dimension, 1, MAX_DIMENSION);
    checkPoints("NearestSearch: points", points, dimension);
    const { nearest, plan } = searcherOf(method, dimension);
    const compiled = await compileExact(device, nearestKernel(dimension, nearest), precision);
    return new NearestSearch(device, settings, plan(points), compiled);
  }

  /**
   * Records a search: `queries` are [count, dimension], `nearest` count integers; both are borrowed.
   * @throws ShapeError | DisposedError
   */
  run({ queries, nearest, count }: NearestArguments): void {
    if (this.#disposed) throw new DisposedError("NearestSearch: it has been disposed");
    for (const [name, buffer, element, length] of [
      ["queries", queries, this.#element, count * this.dimension],
      ["nearest", nearest, "i32", count],
    ] as const)
      if (buffer.device !== this.device || buffer.element !== element || buffer.length < length)
        throw new ShapeError(
          `NearestSearch: ${name}: got ${buffer.length} elements of ${buffer.element} of ${buffer.device.name}, ` +
            `expected at least ${length} of ${element} of ${this.device.name}`,
        );
    if (count > 0)
      this.device.launch(this.#kernel, { ...this.#tables, size: this.size, queries, nearest }, { items: count });
  }

  /**
   * Returns the nearest points of queries on the host, [count, dimension]. @throws ShapeError | SpecError |
   * DisposedError
   */
  async find(queries: Float64Array): Promise<Int32Array> {
    if (queries.length === 0) return new Int32Array();
    const count = checkPoints("NearestSearch: queries", queries, this.dimension);
    using from = createBufferOf(this.device, this.#element, queries);
    using nearest = this.device.createBuffer("i32", count);
    this.run({ queries: from, nearest, count });
    return await this.device.read(nearest);
  }

  [Symbol.dispose](): void {
    this.#disposed = true;
    for (const buffer of Object.values(this.#tables)) buffer[Symbol.dispose]();
  }
}

/** The arguments of a search on the device: queries in, numbers of points out. @experimental */
export interface NearestArguments {
  readonly queries: DeviceBuffer;
  readonly nearest: DeviceBuffer;
  readonly count: number;
}
