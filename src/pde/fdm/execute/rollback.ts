import {
  bool,
  type EnvironmentValue,
  fn,
  type FunctionOf,
  i32,
  type Kernel,
  kernel,
  type KernelBody,
  type KernelDefinition,
  type Params,
  type ParamValues,
  read,
  real,
  record,
  type ResultRecord,
  type Results,
} from "../../../kernel/index.ts";
import { Column, valueAt } from "../operator/state.ts";
import { placeIn, type Team } from "./team/team.ts";
import { Stage } from "../operator/equation-row.ts";
import { CONDITION_SHIFT, MASK_SHIFT, PROGRAM_BITS, ROW_REALS } from "../time/timeline.ts";

/** The instance of a work item, and the rows of the time program that a launch performs. */
interface InstancePlace extends ResultRecord {
  /** False where the work item's index is beyond the number of instances. */
  readonly isActive: boolean;
  readonly firstRun: number;
  readonly endRun: number;
}

/**
 * A row of the time program: a number of equal steps, perhaps none, with the factorisation before and the events after
 * them.
 */
interface Run extends ResultRecord {
  /** True where the matrix is assembled and factored before the steps. */
  readonly refactor: boolean;
  /** True where an event follows the last step. */
  readonly event: boolean;
}

/**
 * The arguments of every function of a time loop; `cursor` holds the numbers that change from row to row of the
 * program.
 */
interface At<L, P, M, C> {
  readonly launch: L;
  readonly place: P;
  readonly memory: M;
  readonly cursor: C;
}

type Part<T, R extends Results> = FunctionOf<(of: T) => KernelBody<R>>;

/**
 * The functions of a time loop, which `rollbackKernel` calls. L is the type of the kernel's launch parameters, P of the
 * place of a work item, M of the arrays of the time loop, C of the numbers that change from row to row, and R of a row.
 */
interface RollbackParts<
  L,
  P extends InstancePlace,
  M extends ResultRecord,
  C extends ResultRecord,
  R extends Run,
> extends Readonly<Record<string, EnvironmentValue>> {
  readonly placeOf: FunctionOf<(of: { readonly launch: L; readonly globalId: number }) => P>;
  readonly allocate: FunctionOf<(place: P) => M>;
  /** Sets the nodes and the terminal values. */
  readonly begin: Part<Omit<At<L, P, M, C>, "cursor">, C>;
  readonly runAt: FunctionOf<(of: At<L, P, M, C> & { readonly run: number }) => R>;
  /** Assembles and factors I − hL. */
  readonly factor: Part<At<L, P, M, C> & { readonly step: R }, C>;
  readonly advance: Part<At<L, P, M, C> & { readonly step: R }, C>;
  /** Applies exercise, jumps and barriers on a date: V ← g(V). */
  readonly applyEvents: Part<At<L, P, M, C> & { readonly step: R }, C>;
  readonly read: Part<At<L, P, M, C>, void>;
}

type Settings<Q extends Params> = Omit<KernelDefinition<Q, Record<never, never>>, "env" | "body">;

/**
 * Returns the kernel of the backward time loop from expiry to today, which every problem and every executor shares:
 *
 *   (I − hL)·y = r(u),   u ← u + e·(y − u)   for each stage,   u ← g(u)   at each event.
 *
 * A launch has a time program: series of equal steps that events end. The functions in `parts` define the operator,
 * where the arrays are, and which work items solve an instance: `item/` has one item for each instance, `team/`
 * several.
 */
export function rollbackKernel<
  const Q extends Params,
  P extends InstancePlace,
  M extends ResultRecord,
  C extends ResultRecord,
  R extends Run,
>(settings: Settings<Q>, parts: RollbackParts<ParamValues<Q>, P, M, C, R>): Kernel<Q> {
  return kernel({
    ...settings,
    env: parts,
    *body(launch: ParamValues<Q>, gpu, env: RollbackParts<ParamValues<Q>, P, M, C, R>) {
      const place = env.placeOf({ launch, globalId: gpu.globalId() });
      if (!place.isActive) return;
      const memory = env.allocate(place);
      let cursor = yield* env.begin({ launch, place, memory });
      for (let run = place.firstRun; run < place.endRun; run++) {
        const step = env.runAt({ launch, place, memory, cursor, run });
        if (step.refactor) cursor = yield* env.factor({ launch, place, memory, cursor, step });
        cursor = yield* env.advance({ launch, place, memory, cursor, step });
        if (step.event) cursor = yield* env.applyEvents({ launch, place, memory, cursor, step });
      }
      yield* env.read({ launch, place, memory, cursor });
    },
  });
}

/** The instance of a work item, its columns in the launch's buffers, and the nodes that the item has. */
export const Place = record({
  isActive: bool,
  firstRun: i32,
  endRun: i32,
  instance: i32,
  /** True where the item writes results: not where it does again what others do. */
  isOwner: bool,
  table: Column,
  parameters: Column,
  /** The number of the item among the instance's, and of the instance among the group's. */
  item: i32,
  option: i32,
  /** The first node that the item holds. */
  first: i32,
});

/** The arguments of a launch that decide on places: runs `first` … `end` − 1, and buffers of columns. */
const placing = { instances: i32, pitch: i32, first: i32, end: i32, table: read(real), parameters: read(real) };

/**
 * Returns the function that finds the instance of a work item and its nodes: a single item solves an instance, or a
 * team does, each item of which has `rows` consecutive nodes.
 */
export function itemAt(team: Team | undefined, rows: number | undefined) {
  return fn({
    name: "itemAt",
    params: { ...placing, globalId: i32 },
    env: { options: team?.options ?? 1, rows, placeIn: team && placeIn(team) },
    body({ instances, pitch, first, end, table, parameters, globalId }, gpu, { options, rows, placeIn }) {
      const { item, option } = placeIn === undefined ? { item: 0, option: 0 } : placeIn();
      const own = placeIn === undefined ? globalId : gpu.groupId() * options + option;
      // Without an instance of its own a group's second option does again what the first does, for both take part in
      // what is collective.
      const instance = options === 1 ? own : Math.min(own, instances - 1);
      return {
        isActive: (placeIn === undefined ? globalId : gpu.groupId() * options) < instances,
        firstRun: first,
        endRun: end,
        instance,
        isOwner: options === 1 || own < instances,
        table: { values: table, pitch, instance },
        parameters: { values: parameters, pitch, instance },
        item,
        option,
        first: item * (rows ?? 0),
      };
    },
  });
}

/**
 * A row of the time program: a stage of a step, or an event, which applies condition `condition` on the date `date`.
 */
export const Row = record({
  run: i32,
  refactor: bool,
  event: bool,
  /** The stage ends a time step; of an event: the exercise boundary is recorded. */
  stepEnd: bool,
  /** u before this stage is what the next one calls v. */
  keep: bool,
  /** The step is corrected, as schemes of alternating directions may be. */
  corrected: bool,
  /** The obstacle is another one than at the last stage. */
  obstacleChanges: bool,
  condition: i32,
  date: real,
  /** A bit for each knock-out in force. */
  mask: i32,
  stage: Stage,
});

/**
 * Returns the function that reads a row of the time program. An instance's dates follow its `count` other parameters.
 */
export const rowAt = (count: number) =>
  fn({
    name: "rowAt",
    params: { words: read(i32), reals: read(real), parameters: Column, run: i32 },
    env: { ...PROGRAM_BITS, CONDITION_SHIFT, MASK_SHIFT, ROW_REALS, dates: count, valueAt },
    body({ words, reals, parameters, run }, _gpu, env) {
      const flags = words[2 * run];
      const segment = words[2 * run + 1];
      const event = (flags & env.EVENT) !== 0;
      const date = env.valueAt(parameters, env.dates + segment);
      // An event has no stage, and its date may be the last.
      let length = 0.0;
      if (!event) length = env.valueAt(parameters, env.dates + segment + 1) - date;
      const at = env.ROW_REALS * run;
      return {
        run,
        refactor: (flags & env.FACTOR) !== 0 && !event,
        event,
        stepEnd: (flags & env.STEP_END) !== 0,
        keep: (flags & env.KEEP) !== 0,
        corrected: (flags & env.CORRECTED) !== 0,
        obstacleChanges: (flags & env.OBSTACLE) !== 0,
        condition: (flags >> env.CONDITION_SHIFT) & 255,
        date,
        mask: (flags >> env.MASK_SHIFT) & 255,
        stage: {
          t: date + reals[at] * length,
          tEnd: date + reals[at + 1] * length,
          h: reals[at + 2] * length,
          fromU: reals[at + 3],
          fromV: reals[at + 4],
          extrapolation: reals[at + 5],
        },
      };
    },
  });
