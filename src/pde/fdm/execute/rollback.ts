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
import { itemIndex, type Team } from "./team/team.ts";
import { Stage } from "../operator/equation-row.ts";
import { CONDITION_SHIFT, MASK_SHIFT, PROGRAM_BITS, ROW_REALS } from "../time/timeline.ts";

/**
 * The part of a work item's context that every executor has: whether it has an instance, and the rows of the time
 * program that a launch performs.
 */
interface BaseContext extends ResultRecord {
  /** False where the work item's index is beyond the number of instances. */
  readonly isActive: boolean;
  readonly firstRow: number;
  readonly endRow: number;
}

/**
 * The part of a row of the time program that every executor has. A row is a number of equal steps, perhaps none, with
 * the factorisation before them and the events after them.
 */
interface BaseRow extends ResultRecord {
  /** True where the matrix is assembled and factored before the steps. */
  readonly refactor: boolean;
  /** True where an event follows the last step. */
  readonly event: boolean;
}

/**
 * The arguments of every function of a time loop; `loopState` holds the numbers that change from row to row of the
 * program.
 */
interface At<L, P, M, C> {
  readonly launch: L;
  readonly context: P;
  readonly memory: M;
  readonly loopState: C;
}

type Part<T, R extends Results> = FunctionOf<(of: T) => KernelBody<R>>;

/**
 * The functions of a time loop, which `rollbackKernel` calls. L is the type of the kernel's launch parameters, P of the
 * context of a work item, M of the arrays of the time loop, C of the numbers that change from row to row, and R of a
 * row.
 */
interface RollbackParts<
  L,
  P extends BaseContext,
  M extends ResultRecord,
  C extends ResultRecord,
  R extends BaseRow,
> extends Readonly<Record<string, EnvironmentValue>> {
  readonly contextOf: FunctionOf<(of: { readonly launch: L; readonly globalId: number }) => P>;
  readonly allocate: FunctionOf<(context: P) => M>;
  /** Sets the nodes and the terminal values. */
  readonly begin: Part<Omit<At<L, P, M, C>, "loopState">, C>;
  readonly rowAt: FunctionOf<(of: At<L, P, M, C> & { readonly index: number }) => R>;
  /** Assembles and factors I − hL. */
  readonly factor: Part<At<L, P, M, C> & { readonly programRow: R }, C>;
  readonly advance: Part<At<L, P, M, C> & { readonly programRow: R }, C>;
  /** Applies exercise, jumps and barriers on a date: V ← g(V). */
  readonly applyEvents: Part<At<L, P, M, C> & { readonly programRow: R }, C>;
  readonly read: Part<At<L, P, M, C>, void>;
}

type Settings<Q extends Params> = Omit<KernelDefinition<Q, Record<never, never>>, "env" | "body">;

/**
 * Returns the kernel of the backward time loop from expiry to today, which every problem and every executor shares:
 *
 *   (I − hL)·y = r(u),   u ← u + e·(y − u)   for each stage,   u ← g(u)   at each event.
 *
 * A launch has a time program, whose rows are series of equal steps that may end with events. The functions in `parts`
 * define the operator, where the arrays are, and which work items solve an instance: `item/` has one item for each
 * instance, `team/` several.
 */
export function rollbackKernel<
  const Q extends Params,
  P extends BaseContext,
  M extends ResultRecord,
  C extends ResultRecord,
  R extends BaseRow,
>(settings: Settings<Q>, parts: RollbackParts<ParamValues<Q>, P, M, C, R>): Kernel<Q> {
  return kernel({
    ...settings,
    env: parts,
    *body(launch: ParamValues<Q>, gpu, env: RollbackParts<ParamValues<Q>, P, M, C, R>) {
      const context = env.contextOf({ launch, globalId: gpu.globalId() });
      if (!context.isActive) return;
      const memory = env.allocate(context);
      let loopState = yield* env.begin({ launch, context, memory });
      for (let index = context.firstRow; index < context.endRow; index++) {
        const programRow = env.rowAt({ launch, context, memory, loopState, index });
        if (programRow.refactor) loopState = yield* env.factor({ launch, context, memory, loopState, programRow });
        loopState = yield* env.advance({ launch, context, memory, loopState, programRow });
        if (programRow.event) loopState = yield* env.applyEvents({ launch, context, memory, loopState, programRow });
      }
      yield* env.read({ launch, context, memory, loopState });
    },
  });
}

/**
 * The context of a work item: its instance, that instance's columns in the launch's buffers, and the nodes that the
 * item solves.
 */
export const ItemContext = record({
  isActive: bool,
  firstRow: i32,
  endRow: i32,
  instance: i32,
  /** True where the item writes results. It is false where it repeats the work of other items. */
  isOwner: bool,
  table: Column,
  parameters: Column,
  /** The index of the item among those of its instance, and of the instance among those of the group. */
  item: i32,
  option: i32,
  /** The first node that the item holds. */
  first: i32,
});

/**
 * The parameters of a launch from which contexts are computed: rows `first` … `end` − 1 of the time program, and
 * buffers of columns.
 */
const contextParams = { instances: i32, pitch: i32, first: i32, end: i32, table: read(real), parameters: read(real) };

/**
 * Returns the function that computes the context of a work item, its instance and its nodes: a single item solves an
 * instance, or a team does, each item of which has `rows` consecutive nodes.
 */
export function itemContextOf(team: Team | undefined, rows: number | undefined) {
  return fn({
    name: "itemContextOf",
    params: { ...contextParams, globalId: i32 },
    env: { options: team?.options ?? 1, rows, itemIndex: team && itemIndex(team) },
    body({ instances, pitch, first, end, table, parameters, globalId }, gpu, { options, rows, itemIndex }) {
      const { item, option } = itemIndex === undefined ? { item: 0, option: 0 } : itemIndex();
      const own = itemIndex === undefined ? globalId : gpu.groupId() * options + option;
      // Without an instance of its own a group's second option does again what the first does, for both take part in
      // what is collective.
      const instance = options === 1 ? own : Math.min(own, instances - 1);
      return {
        isActive: (itemIndex === undefined ? globalId : gpu.groupId() * options) < instances,
        firstRow: first,
        endRow: end,
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
 * A row of an equation's time program: a stage of a step, or an event, which applies the condition with number
 * `condition` on the date `date`.
 */
export const ProgramRow = record({
  index: i32,
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
export const readProgramRow = (count: number) =>
  fn({
    name: "readProgramRow",
    params: { words: read(i32), reals: read(real), parameters: Column, index: i32 },
    env: { ...PROGRAM_BITS, CONDITION_SHIFT, MASK_SHIFT, ROW_REALS, dates: count, valueAt },
    body({ words, reals, parameters, index }, _gpu, env) {
      const flags = words[2 * index];
      const segment = words[2 * index + 1];
      const event = (flags & env.EVENT) !== 0;
      const date = env.valueAt(parameters, env.dates + segment);
      // An event has no stage, and its date may be the last.
      let length = 0.0;
      if (!event) length = env.valueAt(parameters, env.dates + segment + 1) - date;
      const at = env.ROW_REALS * index;
      return {
        index,
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
