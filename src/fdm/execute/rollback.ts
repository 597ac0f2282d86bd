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
} from "../../kernel/index.ts";

/** The instance that a work item works on, and the rows of the time program that a launch runs. */
export interface Place extends ResultRecord {
  /** True unless the work item is beyond the number of instances. */
  readonly isActive: boolean;
  readonly firstRun: number;
  readonly endRun: number;
}

/**
 * A row of the time program: a number of equal steps, possibly none, with the events and factorisations around them.
 */
export interface Run extends ResultRecord {
  /** True where the matrix is made and factored before the steps. */
  readonly refactor: boolean;
  /** True where anything happens at the end of the last step. */
  readonly event: boolean;
}

/** The arguments of every part of a rollback; `cursor` holds the numbers that change from run to run. */
export interface At<L, P, M, C> {
  readonly launch: L;
  readonly place: P;
  readonly memory: M;
  readonly cursor: C;
}

type Part<T, R extends Results> = FunctionOf<(of: T) => KernelBody<R>>;

/** The parts of a rollback; L is the type of the kernel's launch parameters, M that of the arrays of the time loop. */
export interface RollbackParts<
  L,
  P extends Place,
  M extends ResultRecord,
  C extends ResultRecord,
  R extends Run,
> extends Readonly<Record<string, EnvironmentValue>> {
  readonly placeOf: FunctionOf<(of: { readonly launch: L; readonly globalId: number }) => P>;
  readonly allocate: FunctionOf<(place: P) => M>;
  /** The nodes, and the values at expiry. */
  readonly begin: Part<Omit<At<L, P, M, C>, "cursor">, C>;
  readonly runAt: FunctionOf<(of: At<L, P, M, C> & { readonly run: number }) => R>;
  /** Assembles and factors I − hL. */
  readonly factor: Part<At<L, P, M, C> & { readonly step: R }, C>;
  readonly advance: Part<At<L, P, M, C> & { readonly step: R }, C>;
  /** Applies exercise, jumps and barriers: V ← g(V). */
  readonly applyEvents: Part<At<L, P, M, C> & { readonly step: R }, C>;
  readonly read: Part<At<L, P, M, C>, void>;
}

type Settings<Q extends Params> = Omit<KernelDefinition<Q, Record<never, never>>, "env" | "body">;

/**
 * Returns the kernel of the backward time loop from expiry to today, shared by every problem and every executor:
 *
 *   (I − hL)·y = r(u),   u ← u + e·(y − u)   for each stage,   u ← g(u)   at each event.
 *
 * A launch brings a time program, runs of equal steps that events end; the parts say what the operator is, where the
 * arrays are, and how a step is shared out: `item/` one work item an instance, `team/` several.
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
