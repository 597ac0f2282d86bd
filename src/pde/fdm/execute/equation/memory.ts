import { NEVER_EXERCISED } from "../../conditions/dates.ts";
import { bool, fn, i32, type Precision, read, real, record, write } from "../../../../kernel/index.ts";
import type { EquationVariant } from "../../operator/equation-row.ts";
import { multiplierCount, multiplierReals, partsOf, scratchReals, type Team } from "../team/team.ts";
import { Column } from "../../operator/state.ts";
import { itemContextOf, ItemContext, ProgramRow } from "../rollback.ts";
import { Factors, Products, RowEntries, Scans } from "../team/records.ts";

/**
 * The choices that determine the code of an equation's kernel: the variant, and the division of an instance among work
 * items.
 */
export interface EquationPlan {
  readonly variant: EquationVariant;
  /** The team of items that solve an instance together; undefined where a single item does. */
  readonly team: Team | undefined;
  /** The number of items that solve an instance. */
  readonly items: number;
  /** The number of nodes of each item of a team; undefined where a single item has all nodes. */
  readonly rows: number | undefined;
  /** True with exercise at all times; `penalty` and `splitting` say by which method. */
  readonly early: boolean;
  readonly penalty: boolean;
  readonly splitting: boolean;
  /** True where the values of some nodes may be prescribed. */
  readonly pins: boolean;
}

/** The choices for a kernel in which a team of items solves an instance. */
export interface TeamEquationPlan extends EquationPlan {
  readonly team: Team;
  readonly rows: number;
}

/** Tells whether a team of items solves an instance. */
export const isTeam = (plan: EquationPlan): plan is TeamEquationPlan => plan.team !== undefined;

/** Returns the choices for a variant and a team; undefined for a single item. */
export function planOf(variant: EquationVariant, team: Team | undefined): EquationPlan {
  const { exercise, first, last, region, capacity } = variant;
  return {
    variant,
    team,
    items: team?.items ?? 1,
    rows: team && Math.ceil(capacity / team.items),
    early: exercise !== "none",
    penalty: exercise === "penalty",
    splitting: exercise === "operator-splitting",
    pins: first.kind === "dirichlet" || last.kind === "dirichlet" || region !== undefined,
  };
}

/** The number of integers of each item in `AllNodes.faults`. */
export const FAULT_INTEGERS = 4;

/**
 * Returns the number of bytes of workgroup memory of a team: nodes and steps, three or four arrays, the memory of
 * scans, faults, and two counters.
 */
export function equationBytes(team: Team, { hasSource, capacity }: EquationVariant, precision: Precision): number {
  const perNode = hasSource ? 6 : 5;
  const kept = precision === "f32" ? 0 : 2 * multiplierReals(team, false);
  const words = perNode * capacity + kept + scratchReals(team);
  return words * (precision === "f32" ? 4 : 8) + 4 * (FAULT_INTEGERS * team.items + 2);
}

/** The launch parameters of an equation's kernel (`equationKernel` describes their layout). */
export const equationParams = {
  instances: i32,
  pitch: i32,
  nodes: i32,
  rows: i32,
  dates: i32,
  first: i32,
  end: i32,
  recorded: i32,
  table: read(real),
  parameters: read(real),
  words: read(i32),
  reals: read(real),
  out: write(real),
  status: write(i32),
  state: write(real),
} as const;

/** The launch parameters of an equation's kernel as one record. */
export const Launch = record(equationParams);

/**
 * The arrays of all nodes of an instance, in a team's workgroup memory. Users' functions are evaluated on all nodes in
 * a strided loop that compilers do not unroll, so that the kernel contains their code once; `gather` and `spread`
 * exchange values with the items' own arrays. Code that uses an array must leave a barrier after it. Without a team `u`
 * and `obstacle` are the item's own arrays, and `third`, `fourth` and `faults` are not used.
 */
export const AllNodes = record({
  /** S of the nodes, then, in a team, the steps of the coordinate. Without a team it is filled where jumps are. */
  mesh: write(real),
  /** One array in a team. */
  u: write(real),
  obstacle: write(real),
  beside: write(real),
  third: write(real),
  fourth: write(real),
  /** `FAULT_INTEGERS` an item; during the time loop whether its first node is exercised. */
  faults: write(i32),
});

/** The arrays of an item's own nodes; 0 beyond the last node. */
const State = record({
  u: write(real),
  /** The stage's y. */
  z: write(real),
  /** The right-hand side: z itself, unless the penalty method needs it longer. */
  right: write(real),
  /** u before the first of two stages. */
  v: write(real),
  /** h·d, of the matrix. */
  source: write(real),
  obstacle: write(real),
  /** The multiplier of operator splitting. */
  lambda: write(real),
});

/**
 * The arrays of the penalty method: 1 + hc of each matrix row, 1 where the row is penalised, and, without a team,
 * a/pivot with the penalty.
 */
const Penalty = record({ decays: write(real), active: write(real), factor: write(real) });

/** The arrays of the time loop. Arrays that a variant or an item does not use have one element. */
export const Memory = record({
  /** The column of S of the nodes, then of the steps of the coordinate. */
  table: Column,
  all: AllNodes,
  state: State,
  /**
   * Rows (−a, 1 + hc + a + c, −c), in a team divided by 1 + hc, unless they are those of the penalty method. Without a
   * team they are in the arrays of their factors.
   */
  rows: RowEntries,
  factors: Factors,
  products: Products,
  scans: Scans,
  penalty: Penalty,
});

/** The first fault that a work item has found (0 for none), with its node and its row of the time program. */
export const FirstFault = record({ fault: i32, node: i32, row: i32 });

/**
 * The numbers that change from row to row of the time program. `isNew`: whether u has changed since the last stage.
 * `record`: the index of the next recorded value of the exercise boundary. A team also has the reach of its scans, and
 * the largest number of limited rows (`limited`) in a matrix so far.
 */
export const LoopState = record({ found: FirstFault, isNew: bool, record: i32, reach: i32, limitedRows: i32 });

/** The parameters of functions that run before the first row of the time program. */
export const atStart = { launch: Launch, context: ItemContext, memory: Memory };
/** The parameters of functions that run for each row of the time program. */
export const atRow = { ...atStart, loopState: LoopState, programRow: ProgramRow };

/** Returns the fault `before` if there is one. Otherwise it returns `fault` at `node` if that node is not `ok`. */
export const firstFault = fn({
  name: "firstFault",
  params: { before: FirstFault, ok: bool, fault: i32, node: i32, row: i32 },
  body({ before, ok, fault, node, row }) {
    const isNew = !ok && before.fault === 0;
    return {
      fault: isNew ? fault : before.fault,
      node: isNew ? node : before.node,
      row: isNew ? row : before.row,
    };
  },
});

/** Returns the function that computes the context of a work item: its instance and its nodes. */
export const contextOf = ({ team, rows }: EquationPlan) =>
  fn({
    name: "contextOf",
    params: { launch: Launch, globalId: i32 },
    env: { itemContextOf: itemContextOf(team, rows) },
    body({ launch: { instances, pitch, first, end, table, parameters }, globalId }, _gpu, { itemContextOf }) {
      return itemContextOf({ instances, pitch, first, end, table, parameters, globalId });
    },
  });

/** Returns the function that allocates the arrays of a work item (`Memory`). */
export function allocate({ team, variant, rows, early, penalty, splitting }: EquationPlan) {
  const { capacity, twoStages, hasSource, recordsEvents, jump } = variant;
  const own = rows ?? capacity;
  const where = (used: boolean): number => (used ? own : 1);
  return fn({
    name: "allocate",
    params: [ItemContext],
    env: {
      alone: team === undefined,
      capacity,
      own,
      parts: rows === undefined ? 1 : partsOf(rows).count,
      spots: jump === undefined ? 1 : capacity,
      fourth: hasSource ? capacity : 1,
      stages: where(twoStages),
      sources: where(hasSource),
      obstacles: where(early || recordsEvents),
      splits: where(splitting),
      isPenalty: penalty,
      penalties: where(penalty),
      faultIntegers: team ? FAULT_INTEGERS * team.items : 1,
      multipliers: team ? multiplierCount(team, false) : 1,
      multiplierReals: team ? multiplierReals(team, false) : 1,
      scratchReals: team ? scratchReals(team) : 1,
    },
    body([{ table }], gpu, env) {
      const { alone, capacity, own, parts } = env;
      const u = gpu.privateReal(own);
      const z = gpu.privateReal(own);
      const gain = gpu.privateReal(own);
      const lower = gpu.privateReal(own);
      const upper = gpu.privateReal(own);
      const v = gpu.privateReal(env.stages);
      const source = gpu.privateReal(env.sources);
      const obstacle = gpu.privateReal(env.obstacles);
      // Without a team one array that nobody reads takes the place of those of workgroup memory.
      const none = gpu.privateReal(1);
      const noIntegers = gpu.privateI32(1);
      const mesh = alone ? gpu.privateReal(env.spots) : gpu.sharedReal(2 * capacity);
      const values = alone ? u : gpu.sharedReal(capacity);
      // As in the kernels of options: registers have no room for them in f64.
      const inRegisters = alone || gpu.precision === "f32";
      return {
        table: {
          values: alone ? table.values : mesh,
          pitch: alone ? table.pitch : 1,
          instance: alone ? table.instance : 0,
        },
        all: {
          mesh,
          u: values,
          obstacle: alone ? obstacle : values,
          beside: alone ? lower : gpu.sharedReal(capacity),
          third: alone ? none : gpu.sharedReal(capacity),
          fourth: alone ? none : gpu.sharedReal(env.fourth),
          faults: alone ? noIntegers : gpu.sharedI32(env.faultIntegers),
        },
        state: {
          u,
          z,
          right: env.isPenalty ? gpu.privateReal(own) : z,
          v,
          source,
          obstacle,
          lambda: gpu.privateReal(env.splits),
        },
        rows: { a: alone ? lower : gpu.privateReal(own), c: alone ? upper : gpu.privateReal(own) },
        factors: { gain, lower, upper },
        products: {
          downProduct: gpu.privateReal(parts),
          upProduct: gpu.privateReal(parts),
          downTo: none,
          upTo: none,
        },
        scans: {
          above: inRegisters ? gpu.privateReal(env.multipliers) : gpu.sharedReal(env.multiplierReals),
          below: inRegisters ? gpu.privateReal(env.multipliers) : gpu.sharedReal(env.multiplierReals),
          scratch: alone ? none : gpu.sharedReal(env.scratchReals),
          counter: alone ? noIntegers : gpu.sharedI32(1),
          result: alone ? noIntegers : gpu.sharedI32(1),
        },
        penalty: {
          decays: alone ? gain : gpu.privateReal(env.penalties),
          active: gpu.privateReal(env.penalties),
          factor: alone ? gpu.privateReal(env.penalties) : none,
        },
      };
    },
  });
}

/**
 * Returns the function that copies an item's own nodes, and `beyond` for nodes past the last one, from an array of all
 * nodes that the team has filled. Without a team it does nothing, because both are one array.
 */
export function gather({ rows }: EquationPlan) {
  return fn({
    name: "gather",
    params: { context: ItemContext, nodes: i32, all: read(real), own: write(real), beyond: real },
    env: { rows },
    *body({ context: { first }, nodes, all, own, beyond }, _gpu, { rows }) {
      if (rows !== undefined) {
        yield;
        for (let k = 0; k < rows; k++) own[k] = first + k < nodes ? all[Math.min(first + k, nodes - 1)] : beyond;
        yield;
      }
    },
  });
}

/** Returns the function that copies the values of an item's own nodes into an array of all nodes, for the team. */
export function spread({ rows }: EquationPlan) {
  return fn({
    name: "spread",
    params: { context: ItemContext, nodes: i32, own: read(real), all: write(real) },
    env: { rows },
    *body({ context: { first }, nodes, own, all }, _gpu, { rows }) {
      if (rows !== undefined) {
        for (let k = 0; k < rows; k++) if (first + k < nodes) all[first + k] = own[k];
        yield;
      }
    },
  });
}

/** Copies an item's array to or from the `slot`-th array that is kept between launches. */
const copyKept = (rows: number | undefined, load: boolean) =>
  fn({
    name: load ? "loadKept" : "saveKept",
    params: { launch: Launch, context: ItemContext, array: write(real), slot: i32, beyond: real },
    env: { rows, load },
    body({ launch: { state, nodes, pitch }, context: { instance, first }, array, slot, beyond }, _gpu, env) {
      const rows = env.rows ?? nodes;
      for (let k = 0; k < rows; k++) {
        const at = (slot * nodes + Math.min(first + k, nodes - 1)) * pitch + instance;
        if (env.load) array[k] = first + k < nodes ? state[at] : beyond;
        else if (first + k < nodes) state[at] = array[k];
      }
    },
  });

/**
 * Returns the function that loads (`load`) or stores the arrays that are kept between launches (`keptArrayCount`).
 * Their order is always the same.
 */
export function copyState({ rows, variant, early, penalty, splitting }: EquationPlan, load: boolean) {
  const { twoStages, hasSource } = variant;
  return fn({
    name: "copyState",
    params: atStart,
    env: { twoStages, hasSource, early, isPenalty: penalty, splitting, NEVER_EXERCISED, copy: copyKept(rows, load) },
    body({ launch, context, memory }, _gpu, env) {
      const { state, rows, factors, penalty } = memory;
      env.copy({ launch, context, array: state.u, slot: 0, beyond: 0 });
      env.copy({ launch, context, array: env.isPenalty ? penalty.decays : factors.gain, slot: 1, beyond: 1 });
      env.copy({ launch, context, array: env.isPenalty ? rows.a : factors.lower, slot: 2, beyond: 0 });
      env.copy({ launch, context, array: env.isPenalty ? rows.c : factors.upper, slot: 3, beyond: 0 });
      let slot = 4;
      if (env.twoStages) {
        env.copy({ launch, context, array: state.v, slot, beyond: 0 });
        slot++;
      }
      if (env.hasSource) {
        env.copy({ launch, context, array: state.source, slot, beyond: 0 });
        slot++;
      }
      if (env.early) {
        env.copy({ launch, context, array: state.obstacle, slot, beyond: env.NEVER_EXERCISED });
        slot++;
      }
      if (env.isPenalty) env.copy({ launch, context, array: penalty.active, slot, beyond: 0 });
      if (env.splitting) env.copy({ launch, context, array: state.lambda, slot, beyond: 0 });
    },
  });
}
