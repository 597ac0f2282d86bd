import { type CompiledKernel, type Device, isGpu, maxInstancesPerLaunch, privateSizes } from "../../../device/index.ts";
import { SpecError } from "../../../base/errors.ts";
import type { Kernel, Precision } from "../../../kernel/index.ts";
import { Arena } from "../mesh/pinned-mesh.ts";
import type { Instance } from "./instance.ts";
import { coefficientCount } from "./coefficients.ts";
import type { InstanceValues } from "../read/solution.ts";
import { Launch } from "./launch.ts";
import { LaunchMemory } from "./launch-memory.ts";
import { timeDependentReals } from "../time/forward.ts";
import { EventLoopYielder } from "../../../base/event-loop.ts";
import { KEPT_FACTORS, type SolverVariant } from "./option/plan.ts";
import { layerCount } from "./option/reversed.ts";
import { solverKernel } from "./option/kernel.ts";
import { blockReals } from "../operator/coefficients.ts";
import { mayShare, needsItems, preferredSplits, type Split, teamCapacities, teamCapacity, teamOf } from "./split.ts";

/** Node capacities that kernels are compiled for: few, since each is a compilation. */
const CAPACITIES = [161, 257, 513, 1025, 2049, 4097];
/** Private arrays of the solver, by exercise scheme. */
const PRIVATE_ARRAYS = { none: 6, "brennan-schwartz": 7, policy: 9, dates: 7, "time-dependent": 7 } as const;
/** The bytes that private arrays which a variant does not use take, one element each. */
const UNUSED_BYTES = 32;
/** The number of bytes of one launch's tables; bounds memory whatever the batch. */
const LAUNCH_BYTES = 128 * 2 ** 20;
/**
 * The approximate words that an instance takes of a launch's memory where the device makes its mesh: coefficients of
 * some ten factorisations, results.
 */
const CLOSED_FORM_INSTANCE_REALS = 80;
/**
 * Instances that keep their layers: few in a launch, so that the rows of layers that an item reads and writes are near
 * each other.
 */
const DIFFERENTIATED_INSTANCES = 16;
/** The further private arrays of instances that are differentiated, and the least memory for their layers. */
const DIFFERENTIATED_ARRAYS = 5;
const MIN_PRIVATE_LAYERS = 8192;
const DIFFERENTIATED_VECTORS = { vectors: 2 } as const;
/** Launches under way at once: the device goes on to the next while the host is at something else. */
const UNDER_WAY = 4;

/**
 * Returns the largest number of nodes that an instance may have on a device with any of the divisions of instances
 * among work items in `splits`.
 */
export function largestNodes(
  device: Device,
  precision: Precision,
  scheme: SolverVariant["exercise"],
  splits: readonly Split[] = preferredSplits(device),
): number {
  const roomsOf = (split: Split): readonly number[] =>
    split === "item"
      ? itemCapacities(device, precision, PRIVATE_ARRAYS[scheme])
      : CAPACITIES.filter((nodes) => teamCapacity(device, precision, nodes, split) !== undefined);
  return Math.max(0, ...splits.flatMap(roomsOf));
}

/** Returns the largest number of nodes of an instance whose value an item can differentiate; 0 if there is none. */
export const largestDifferentiated = (
  device: Device,
  precision: Precision,
  scheme: SolverVariant["exercise"],
): number => Math.max(0, ...itemCapacities(device, precision, PRIVATE_ARRAYS[scheme] + DIFFERENTIATED_ARRAYS));

/** The node capacities of kernels for items with a number of private arrays, ascending. */
const itemCapacities = (device: Device, precision: Precision, arrays: number): readonly number[] =>
  privateSizes(device, CAPACITIES, arrays * (precision === "f64" ? 8 : 4), UNUSED_BYTES);

/**
 * A solver of one-factor instances on a device; instances with equal patterns share a launch. It keeps compiled kernels
 * and buffers for the next call. The device is not disposed.
 */
export class BatchSolver implements Disposable {
  private readonly device: Device;
  private readonly precision: Precision;
  private readonly split: Split | "auto";
  private readonly memory: LaunchMemory;
  /** True where problems like those that are solved will be solved again, and read at several spots. */
  readsSpotsNext = false;
  /** The allocator of the grids and instances that will be solved here. */
  readonly arena = new Arena();

  /**
   * Creates a solver. `split` says how many work items solve an instance; "auto" chooses for each launch
   * (`preferredSplits`).
   */
  constructor(device: Device, precision: Precision, split: Split | "auto" = "auto") {
    this.device = device;
    this.precision = precision;
    this.split = split;
    this.memory = new LaunchMemory(device, precision);
  }

  /**
   * Solves instances, and returns their values in order. While the device works on some launches the next one is
   * prepared.
   * @throws the signal's reason, between launches; what the device throws
   */
  async solve(instances: readonly Instance[], signal?: AbortSignal): Promise<InstanceValues[]> {
    const results = new Array<InstanceValues>(instances.length);
    const running: Promise<void>[] = [];
    const yielder = new EventLoopYielder(signal);
    for (const { members, first, split, variant } of this.launchGroups(instances)) {
      const kernel = await this.compiled(variant, split, first.grid.time.homogeneous);
      for (const part of parts(members, this.instancesPerLaunch(first))) {
        if (running.length >= UNDER_WAY) await running.shift();
        signal?.throwIfAborted();
        if (yielder.isDue) await yielder.yieldNow();
        const launch = new Launch(
          this.memory,
          kernel,
          split,
          part.map((index) => instances[index]),
          variant,
        );
        launch.start();
        const finished = launch.finish().then((values) => part.forEach((index, i) => (results[index] = values[i])));
        // Without a handler a failure would be unhandled while the next launch is packed; it is thrown above, or below.
        finished.catch(() => undefined);
        running.push(finished);
      }
    }
    await Promise.all(running);
    return results;
  }

  [Symbol.dispose](): void {
    this.memory[Symbol.dispose]();
  }

  /**
   * Groups instances by the kernels that solve them. A GPU's compiler takes seconds for a kernel, so it is given all of
   * them at once; whoever launches one waits for it, and is told if it fails.
   */
  private launchGroups(instances: readonly Instance[]): readonly LaunchGroup[] {
    const groups = grouped(instances).map((members) => {
      const first = instances[members[0]];
      const split = this.splitOf(first, members.length);
      return { members, first, split, variant: this.variant(first, split) };
    });
    if (isGpu(this.device) && groups.length > 1)
      for (const { first, split, variant } of groups)
        this.compiled(variant, split, first.grid.time.homogeneous).catch(() => undefined);
    return groups;
  }

  /** The best split that has room for as many instances of this kind; one item an option always has. */
  private splitOf(instance: Instance, instances: number): Split {
    const { mesh, problem } = instance.grid;
    const wanted = this.split === "auto" ? preferredSplits(this.device, instances) : [this.split];
    const fits = (split: Split): boolean =>
      split === "item" ||
      (teamCapacity(this.device, this.precision, mesh.count, split) !== undefined &&
        (split !== "half-subgroup" || mayShare(instance, this.precision)));
    return needsItems(problem) || instance.differentiated ? "item" : (wanted.find(fits) ?? "item");
  }

  private compiled(variant: SolverVariant, split: Split, homogeneous: boolean): Promise<CompiledKernel> {
    // The way back has so many arrays that with fewer instances side by side they stay nearer to a CPU's core.
    const isLong = variant.differentiated === true && variant.exercise !== "policy";
    const vectors = isLong ? DIFFERENTIATED_VECTORS : {};
    const kernel = solverKernel(variant, teamOf(split), homogeneous);
    const followers = (): readonly Kernel[] => this.followersOf(variant, split, homogeneous);
    return this.device.compile(kernel, { precision: this.precision, ...vectors, followers });
  }

  /**
   * Returns the kernels of a team that are likely to be needed after one: that of the next larger meshes, which are
   * refined ones, and those that read solutions at several spots, whose meshes are as wide as any of them needs.
   */
  private followersOf(variant: SolverVariant, split: Split, homogeneous: boolean): readonly Kernel[] {
    if (split === "item") return [];
    const of = (capacity: number, points: boolean): Kernel =>
      solverKernel({ ...variant, capacity, points }, teamOf(split), homogeneous);
    const { capacity, points = false } = variant;
    const sizes = teamCapacities(this.device, this.precision, split).filter((size) => size >= capacity);
    const next = sizes.slice(1, 2).map((size) => of(size, points));
    return this.readsSpotsNext && !points ? [...sizes.reverse().map((size) => of(size, true)), ...next] : next;
  }

  private variant(instance: Instance, split: Split): SolverVariant & { readonly homogeneous: boolean } {
    const { grid, formula } = instance;
    const capacity = this.capacity(grid, split);
    return {
      exercise: grid.scheme,
      shape: grid.shape,
      dividends: grid.time.dividends > 0,
      barriers: grid.problem.barriers?.length ?? 0,
      knockIns: grid.problem.knockIns?.levels.length ?? 0,
      closed: grid.table === undefined,
      // The way back factors again where the way to today did.
      homogeneous:
        split === "item" && !instance.differentiated && keepsFactors(instance) && this.hasRoomForRows(grid, capacity),
      ...(instance.differentiated ? { differentiated: true, privateLayers: this.privateLayers(grid, capacity) } : {}),
      points: grid.problem.spots.length > 1,
      capacity,
      ...(formula === undefined ? {} : { volatility: formula.shape }),
    };
  }

  /**
   * Tells whether an item may have more arrays, for the rows of an instance whose coefficients do not depend on time
   * and for the factors that it keeps, three arrays each.
   */
  private hasRoomForRows({ scheme }: Instance["grid"], capacity: number): boolean {
    const bytes = (PRIVATE_ARRAYS[scheme] + 2 + 3 * (KEPT_FACTORS - 1)) * capacity * bytesOf(this.precision);
    return bytes + UNUSED_BYTES <= this.device.limits.maxPrivateBytes;
  }

  /** Returns the reals of private memory in which an item keeps its layers, in powers of 2; 0 without room for them. */
  private privateLayers({ scheme, time, mesh }: Instance["grid"], capacity: number): number {
    const needed = layerCount(time, scheme) * mesh.count;
    const size = MIN_PRIVATE_LAYERS * 2 ** Math.max(Math.ceil(Math.log2(needed / MIN_PRIVATE_LAYERS)), 0);
    const arrays = PRIVATE_ARRAYS[scheme] + DIFFERENTIATED_ARRAYS;
    const bytes = (arrays * capacity + size) * bytesOf(this.precision);
    return bytes + UNUSED_BYTES <= this.device.limits.maxPrivateBytes ? size : 0;
  }

  /** @throws SpecError the mesh is larger than the device allows in this split */
  private capacity({ mesh, scheme, problem }: Instance["grid"], split: Split): number {
    const needed = mesh.count;
    const team = split === "item" ? undefined : teamCapacity(this.device, this.precision, needed, split);
    if (team !== undefined) return team;
    // With a knock-in exercise on dates has as many arrays as American exercise, whose number does not change.
    const arrays = problem.knockIns === undefined ? scheme : "policy";
    const max = largestNodes(this.device, this.precision, arrays, [split]);
    if (needed > max)
      throw new SpecError(
        `mesh: ${needed} nodes, at most ${max} on ${this.device.name} in ${this.precision}; ask for less accuracy`,
      );
    return itemCapacities(this.device, this.precision, PRIVATE_ARRAYS[arrays]).find((size) => size >= needed)!;
  }

  /**
   * Enough instances to fill the device, and that the end of a launch, where threads wait for each other, does not
   * count; few enough that its tables stay in a CPU's caches: their rows are one launch wide, and wide rows cost a TLB
   * miss each. 2,048 lanes without tables took 4 % longer on one thread than 1,024. Surfaces take some 100 kB an
   * instance.
   */
  private instancesPerLaunch({ grid, problem, surface, differentiated }: Instance): number {
    const [usual, ofMesh] = grid.table === undefined ? [1024, CLOSED_FORM_INSTANCE_REALS] : [512, grid.mesh.count * 4];
    const instances = differentiated ? DIFFERENTIATED_INSTANCES : usual;
    const own = differentiated ? ofMesh + grid.mesh.count * (grid.time.steps.length + grid.time.events.length) : ofMesh;
    const words =
      own +
      (grid.scheme === "time-dependent" ? timeDependentReals(grid.time) : 0) +
      // Dates by the hundred make more of them than there are nodes.
      (grid.time.events.length > 0 ? coefficientCount(grid.time, problem) : 0) +
      (surface === undefined ? 0 : blockReals(surface.surface, grid.time.factorisations));
    const max = maxInstancesPerLaunch(this.device, words * bytesOf(this.precision), LAUNCH_BYTES);
    const { parallelism } = this.device;
    return Math.min(surface === undefined && !differentiated ? Math.max(instances, 2 * parallelism) : parallelism, max);
  }
}

/** The number of factorisations below which rows that are made once do not pay for the longer kernel. */
const FEW_FACTORISATIONS = 3;

/**
 * Tells whether an instance's rows are made once: not those of policy iteration and of two values, which factor on the
 * way, nor where it brings all its coefficients.
 */
function keepsFactors({ grid, coefficients, formula, surface }: Instance): boolean {
  const { homogeneous, factorisations } = grid.time;
  const factored = grid.scheme !== "policy" && grid.problem.knockIns === undefined;
  return (
    homogeneous &&
    coefficients === undefined &&
    factorisations > FEW_FACTORISATIONS &&
    factored &&
    formula === undefined &&
    surface === undefined
  );
}

function bytesOf(precision: Precision): number {
  return precision === "f32" ? 4 : 8;
}

/** Instances that one kernel solves in one way: their indices, one of them, and the kernel. */
interface LaunchGroup {
  readonly members: readonly number[];
  readonly first: Instance;
  readonly split: Split;
  readonly variant: SolverVariant;
}

/** Instances that share a launch: one of them, and the indices of all. */
interface Group {
  readonly instance: Instance;
  readonly members: number[];
}

/** Indices of instances, by the parts of what they have in common. */
type Branch = Map<unknown, Branch | number[]>;

/** Indices of the instances that can share a launch. */
function grouped(instances: readonly Instance[]): number[][] {
  // Part by part: most instances share the very strings, which are found without a comparison, and none is joined.
  const root: Branch = new Map();
  const all: number[][] = [];
  const indicesLike = ({ grid, formula, surface, reading, differentiated }: Instance): number[] => {
    let branch = root;
    for (const part of [grid.time.key, grid.key, reading, differentiated, surface?.surface.spots.length]) {
      let next = branch.get(part);
      if (next === undefined) branch.set(part, (next = new Map()));
      branch = next as Branch;
    }
    const shape = formula?.shape.key;
    let members = branch.get(shape);
    if (members === undefined) {
      branch.set(shape, (members = []));
      all.push(members);
    }
    return members as number[];
  };
  // Fine and coarse instances alternate, and neighbours in a book are similar: mostly it is the group of the instance
  // before the last.
  let last: Group | undefined;
  let lastButOne: Group | undefined;
  for (let index = 0; index < instances.length; index++) {
    const instance = instances[index];
    const group: Group =
      lastButOne !== undefined && sharesLaunch(lastButOne.instance, instance)
        ? lastButOne
        : { instance, members: indicesLike(instance) };
    group.members.push(index);
    lastButOne = last;
    last = group;
  }
  // Neighbours then change their rates and volatilities at the same steps, and share factorisations.
  const expiryOf = (index: number): number => instances[index].grid.problem.expiry;
  for (const members of all)
    if (!instances[members[0]].grid.time.homogeneous) members.sort((a, b) => expiryOf(a) - expiryOf(b) || a - b);
  return all;
}

/**
 * Tells whether two instances share a launch for certain: what they are grouped by is the same without a look at it.
 * Keys know the shape, so that both have volatilities of their own, or neither.
 */
function sharesLaunch(a: Instance, b: Instance): boolean {
  return (
    a.grid.time.key === b.grid.time.key &&
    a.grid.key === b.grid.key &&
    a.reading === b.reading &&
    a.differentiated === b.differentiated &&
    b.formula === undefined &&
    b.surface === undefined
  );
}

function* parts(members: readonly number[], size: number): Generator<readonly number[]> {
  for (let i = 0; i < members.length; i += size) yield members.slice(i, i + size);
}
