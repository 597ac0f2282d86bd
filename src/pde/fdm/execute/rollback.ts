import {
  type EnvironmentValue,
  type FunctionOf,
  type Kernel,
  kernel,
  type KernelBody,
  type KernelDefinition,
  type Params,
  type ParamValues,
  type ResultRecord,
  type Results,
} from "../../../kernel/index.ts";

/** The instance of a work item, and the rows of the time program that a launch performs. */
export interface Place extends ResultRecord {
  /** False where the work item's index is beyond the number of instances. */
  readonly isActive: boolean;
  readonly firstRun: number;
  readonly endRun: number;
}

/**
 * A row of the time program: a number of equal steps, perhaps none, with the factorisation before and the events after
 * them.
 */
export interface Run extends ResultRecord {
  /** True where the matrix is assembled and factored before the steps. */
  readonly refactor: boolean;
  /** True where an event follows the last step. */
  readonly event: boolean;
}

/**
 * The arguments of every function of a time loop; `cursor` holds the numbers that change from row to row of the
 * program.
 */
export interface At<L, P, M, C> {
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
export interface RollbackParts<
  L,
  P extends Place,
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
  P extends Place,
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
