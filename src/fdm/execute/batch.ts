import { LastUsed } from "../../last-used.ts";
import type { CompiledKernel, Device } from "../../device/index.ts";
import { SpecError } from "../../errors.ts";
import type { Precision } from "../../kernel/index.ts";
import { Arena } from "./arena.ts";
import type { Lane, Reading } from "./instance.ts";
import { coefficientCount } from "../operator/coefficients.ts";
import { Launch, type LaneValues } from "./launch.ts";
import { movingWords } from "../problem/forward.ts";
import { LaunchMemory } from "./launch-memory.ts";
import { Turns } from "../../turns.ts";
import { KEPT_FACTORS, MOST_VARIANTS, solverKernel, type SolverVariant, variantName } from "./item/kernel.ts";
import { teamKernel } from "./team/kernel.ts";
import { sliceWords } from "../operator/surface.ts";
import { mayShare, needsItems, preferredSplits, type Split, teamCapacity, teams } from "./split.ts";

/** Node capacities that kernels are compiled for: few, since each is a compilation. */
const CAPACITIES = [161, 257, 513, 1025, 2049, 4097];
/** Private arrays of the solver, by exercise scheme. */
const PRIVATE_ARRAYS = { none: 6, "brennan-schwartz": 7, policy: 9, dates: 7, moving: 7 } as const;
/** What private arrays that a variant does not use take, one element each. */
const UNUSED_BYTES = 32;
/** Bytes of one launch's tables; bounds memory whatever the batch. */
const LAUNCH_BYTES = 128 * 2 ** 20;
/** About what a lane takes of a launch's memory where the device makes its mesh: coefficients of some ten factorisations, results. */
const CLOSED_LANE_WORDS = 80;
/** Launches under way at once: the device goes on to the next while the host is at something else. */
const UNDER_WAY = 4;

/** Most nodes a lane may have on a device, in whichever of the splits has most room. */
export function largestNodes(
  device: Device,
  precision: Precision,
  scheme: SolverVariant["exercise"],
  splits: readonly Split[] = preferredSplits(device),
): number {
  const bytes = PRIVATE_ARRAYS[scheme] * (precision === "f64" ? 8 : 4);
  const most = CAPACITIES[CAPACITIES.length - 1];
  const roomOf = (split: Split): number =>
    split === "item"
      ? Math.min(most, Math.floor((device.limits.maxPrivateBytes - UNUSED_BYTES) / bytes))
      : Math.max(0, ...CAPACITIES.filter((nodes) => teamCapacity(device, precision, nodes, split) !== undefined));
  return Math.max(...splits.map(roomOf));
}

/**
 * Solves lanes on a device, those of one pattern together. Keeps compiled kernels and buffers for the next call; the device is
 * borrowed.
 */
export class LaneSolver implements Disposable {
  private readonly device: Device;
  private readonly precision: Precision;
  private readonly split: Split | "auto";
  private readonly kernels = new LastUsed<string, Promise<CompiledKernel>>(MOST_VARIANTS);
  private readonly memory: LaunchMemory;
  /** For the grids and lanes that will be solved here. */
  readonly arena = new Arena();

  /** `split`: chosen launch by launch unless it is said; see `preferredSplits`. */
  constructor(device: Device, precision: Precision, split: Split | "auto" = "auto") {
    this.device = device;
    this.precision = precision;
    this.split = split;
    this.memory = new LaunchMemory(device, precision);
  }

  /**
   * In the order of `lanes`. While the device works on some launches the next one is packed.
   * @throws the signal's reason, between launches; what the device throws
   */
  async solve(lanes: readonly Lane[], signal?: AbortSignal): Promise<LaneValues[]> {
    const results = new Array<LaneValues>(lanes.length);
    const running: Promise<void>[] = [];
    const turns = new Turns(signal);
    for (const members of grouped(lanes)) {
      const split = this.splitOf(lanes[members[0]], members.length);
      const variant = this.variant(lanes[members[0]], split);
      const kernel = await this.compiled(variant, split, lanes[members[0]].grid.time.homogeneous);
      for (const part of parts(members, this.launchLanes(lanes[members[0]]))) {
        if (running.length >= UNDER_WAY) await running.shift();
        signal?.throwIfAborted();
        if (turns.due) await turns.take();
        const launch = new Launch(
          this.memory,
          kernel,
          split,
          part.map((index) => lanes[index]),
          variant.steady,
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

  /** The best split that has room for as many lanes of this kind; one item an option always has. */
  private splitOf(lane: Lane, lanes: number): Split {
    const { mesh, problem } = lane.grid;
    const wanted = this.split === "auto" ? preferredSplits(this.device, lanes) : [this.split];
    const fits = (split: Split): boolean =>
      split === "item" ||
      (teamCapacity(this.device, this.precision, mesh.count, split) !== undefined &&
        (split !== "half-subgroup" || mayShare(lane, this.precision)));
    return needsItems(problem) ? "item" : (wanted.find(fits) ?? "item");
  }

  private compiled(variant: SolverVariant, split: Split, steady: boolean): Promise<CompiledKernel> {
    const compile = (): Promise<CompiledKernel> => {
      const kernel = split === "item" ? solverKernel(variant) : teamKernel(variant, teams[split], steady);
      return this.device.compile(kernel, { precision: this.precision });
    };
    // Each formula is a kernel of its own; a stream may bring any number of them, and the device remembers them by content.
    if (variant.volatility !== undefined) return compile();
    const name = `${split} ${steady} ${variantName(variant)}`;
    return this.kernels.getOrMake(name, compile);
  }

  private variant(lane: Lane, split: Split): SolverVariant & { readonly steady: boolean } {
    const { grid, formula } = lane;
    const capacity = this.capacity(grid, split);
    return {
      exercise: grid.scheme,
      shape: shapeOf(lane),
      dividends: grid.time.dividends > 0,
      barriers: grid.problem.barriers?.length ?? 0,
      knockIns: grid.problem.knockIns?.levels.length ?? 0,
      closed: grid.table === undefined,
      steady: split === "item" && isSteady(lane) && this.hasRoomForRows(grid, capacity),
      points: grid.problem.spots.length > 1,
      capacity,
      ...(formula === undefined ? {} : { volatility: formula }),
    };
  }

  /** Whether an item may have more arrays, for the rows of a lane whose coefficients do not depend on time and for the factors that it keeps, three arrays each. */
  private hasRoomForRows({ scheme }: Lane["grid"], capacity: number): boolean {
    const bytes = (PRIVATE_ARRAYS[scheme] + 2 + 3 * (KEPT_FACTORS - 1)) * capacity * bytesOf(this.precision);
    return bytes + UNUSED_BYTES <= this.device.limits.maxPrivateBytes;
  }

  /** @throws SpecError the mesh is larger than the device allows in this split */
  private capacity({ mesh, scheme, problem }: Lane["grid"], split: Split): number {
    const needed = mesh.count;
    const team = split === "item" ? undefined : teamCapacity(this.device, this.precision, needed, split);
    if (team !== undefined) return team;
    // With a knock-in exercise on dates has as many arrays as American exercise, whose number does not change.
    const arrays = problem.knockIns === undefined ? scheme : "policy";
    const most = largestNodes(this.device, this.precision, arrays, [split]);
    if (needed > most)
      throw new SpecError(
        `mesh: ${needed} nodes, at most ${most} on ${this.device.name} in ${this.precision}; ask for less accuracy`,
      );
    return Math.min(CAPACITIES.find((size) => size >= needed) ?? needed, most);
  }

  /**
   * Enough lanes to fill the device, and that the end of a launch, where threads wait for each other, does not count; few enough that its
   * tables stay in a CPU's caches: their rows are one launch wide, and wide rows cost a TLB miss each. 2,048 lanes
   * without tables took 4 % longer on one thread than 1,024.
   */
  private launchLanes({ grid, problem, surface }: Lane): number {
    const [lanes, own] = grid.table === undefined ? [1024, CLOSED_LANE_WORDS] : [512, grid.mesh.count * 4];
    const words =
      own +
      (grid.scheme === "moving" ? movingWords(grid.time) : 0) +
      // Dates by the hundred make more of them than there are nodes.
      (grid.time.events.length > 0 ? coefficientCount(grid.time, problem) : 0) +
      (surface === undefined ? 0 : grid.time.factorisations * sliceWords(surface.surface));
    const most = Math.floor(LAUNCH_BYTES / (words * bytesOf(this.precision)));
    return Math.max(1, Math.min(Math.max(lanes, 2 * this.device.parallelism), most));
  }
}

/** With fewer factorisations rows that are made once do not pay for the longer kernel. */
const FEW_FACTORISATIONS = 3;

/** Whether a lane's rows are made once: not those of policy iteration and of two values, which factor on the way, nor where it brings all its coefficients. */
function isSteady({ grid, coefficients, formula, surface }: Lane): boolean {
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

function shapeOf({ variance, formula, surface }: Lane): SolverVariant["shape"] {
  if (surface !== undefined) return "surface";
  return variance !== undefined ? "table" : formula !== undefined ? "formula" : "lognormal";
}

function bytesOf(precision: Precision): number {
  return precision === "f32" ? 4 : 8;
}

/** Lanes that share a launch: one of them, and the indices of all. */
interface Group {
  readonly lane: Lane;
  readonly members: number[];
}

/** Indices of the lanes that can share a launch. */
function grouped(lanes: readonly Lane[]): number[][] {
  // By time grid first: most lanes share that very string, so that finding it costs no comparison.
  const byReading: Record<Reading, Map<string, Map<string, number[]>>> = {
    window: new Map(),
    points: new Map(),
    both: new Map(),
  };
  const volatilities = new Map<unknown, number>();
  const membersLike = ({ grid, formula, surface, reading }: Lane): number[] => {
    const byTime = byReading[reading];
    const shared = formula ?? surface?.surface;
    let groups = byTime.get(grid.time.key);
    if (groups === undefined) byTime.set(grid.time.key, (groups = new Map()));
    let key = grid.key;
    if (shared !== undefined) {
      if (!volatilities.has(shared)) volatilities.set(shared, volatilities.size);
      key += ` ${volatilities.get(shared)} ${grid.problem.spots[0]}`;
    }
    let members = groups.get(key);
    if (members === undefined) groups.set(key, (members = []));
    return members;
  };
  // Fine and coarse lanes alternate, and neighbours in a book are alike: mostly it is the group of the lane before the last.
  let last: Group | undefined;
  let lastButOne: Group | undefined;
  for (let index = 0; index < lanes.length; index++) {
    const lane = lanes[index];
    const group: Group =
      lastButOne !== undefined && isAlike(lastButOne.lane, lane) ? lastButOne : { lane, members: membersLike(lane) };
    group.members.push(index);
    lastButOne = last;
    last = group;
  }
  const all = Object.values(byReading).flatMap((byTime) =>
    [...byTime.values()].flatMap((groups) => [...groups.values()]),
  );
  for (const members of all) if (!lanes[members[0]].grid.time.homogeneous) sortByExpiry(members, lanes);
  return all;
}

/** Whether two lanes share a launch for certain: what they are grouped by is the same without a look at it. Keys know the shape, so that both have volatilities of their own, or neither. */
function isAlike(a: Lane, b: Lane): boolean {
  return (
    a.grid.time === b.grid.time &&
    a.grid.key === b.grid.key &&
    a.reading === b.reading &&
    b.formula === undefined &&
    b.surface === undefined
  );
}

/** Neighbours then change their rates and volatilities at the same steps, and share factorisations. */
function sortByExpiry(members: number[], lanes: readonly Lane[]): void {
  members.sort((a, b) => lanes[a].grid.problem.expiry - lanes[b].grid.problem.expiry || a - b);
}

function* parts(members: readonly number[], size: number): Generator<readonly number[]> {
  for (let i = 0; i < members.length; i += size) yield members.slice(i, i + size);
}
