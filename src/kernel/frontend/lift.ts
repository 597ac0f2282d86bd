/** Turns literals into run-time parameters, so that functions that differ only in literals share one compilation. */
import { SpecError } from "../../base/errors.ts";
import { keyOf, memoize, memoizeBy } from "../../base/memoize.ts";
import { canonicalText } from "../canonical.ts";
import { declareFunction } from "../declared.ts";
import type { KernelIR } from "../ir.ts";
import {
  type FunctionSpec,
  type FunctionResult,
  type ParamTuple,
  type RealFunction,
  real,
  write,
} from "../language.ts";
import { kernelFromSource } from "./declare.ts";
import type { FunctionLiterals } from "./draft.ts";
import { LiftedLiteralTable } from "./literals.ts";
import { lowerInContext, newContext } from "./lower.ts";
import { typeVariable } from "./types.ts";

/** A function of reals whose real literals have become its last parameters. Only kernels can call it. */
export interface LiftedFunction<R extends FunctionResult = number> {
  readonly call: RealFunction<R>;
  /** The values of the literals, in the order of their parameters. */
  readonly values: readonly number[];
  /**
   * A kernel that calls the function, lowered in f64. Its scalars are the arguments `x0`, `x1`, … and the literals
   * `literal0`, `literal1`, …; its buffer `out` receives the requested results.
   */
  readonly ir: KernelIR;
}

/**
 * Returns a function in which the real literals of another function's own text, and constants folded from them, are
 * parameters. Functions that differ only in these literals become equal code, with equal `lifted.shape`. Exponents of
 * `**` or `Math.pow`, loop bounds, array lengths, indexes and other integers stay constants, as do 0, ±½, ±1 and ±2.
 *
 * @param reads the results that are used, as expressions of the function's result `k`: "k" itself, or "k.S", for
 * example.
 * @param loopBudget the maximum number of loop iterations, see `KernelDefinition`.
 * @throws KernelError as `lower` does
 */
export function liftLiterals<R extends FunctionResult = number>(
  fn: FunctionSpec,
  reads: readonly string[] = ["k"],
  loopBudget?: number,
): LiftedFunction<R> {
  const { functionName, params, env, source, argumentNames, userWritten } = fn;
  const args = (params as ParamTuple).map((_, k) => `x${k}`);
  const stores = reads.map((text, k) => `out[${k}] = ${text};`).join(" ");
  const alone = kernelFromSource({
    name: functionName,
    params: Object.fromEntries([...args.map((name) => [name, real] as const), ["out", write(real)] as const]),
    env: { f: fn },
    ...(loopBudget === undefined ? {} : { loopBudget }),
    source: `({ ${[...args, "out"].join(", ")} }, gpu, { f }) => { const k = f(${args.join(", ")}); ${stores} }`,
  });
  const found = new LiftedLiteralTable();
  const literals: FunctionLiterals = {
    valueOf({ unit, start }, place, value) {
      const at = found.take(place, value);
      if (at === undefined) return undefined;
      for (let k = ctx.scalars.length - args.length; k <= at; k++)
        ctx.scalars.push({ name: `literal${k}`, type: "real" });
      return { kind: "param", id: args.length + at, type: typeVariable("real"), unit, start };
    },
  };
  const ctx = newContext(alone, "f64", (declared) => (declared === fn ? literals : undefined));
  const ir = lowerInContext(ctx, alone);
  // Where the precision decides, one in which other branches are taken may differ, too.
  const shape = `${canonicalText(ir)}${source.includes("precision") ? source : ""}`;
  const call = declareFunction({
    run: refusal(functionName),
    functionName,
    params: [...(params as ParamTuple), ...found.values.map(() => real)],
    env,
    source,
    argumentNames,
    userWritten,
    lifted: { places: found.numbers, shape },
    entry: liftLiterals,
  });
  return { call: call as unknown as RealFunction<R>, values: found.values, ir };
}

/**
 * Returns a function that throws. It is made here so that it does not keep the lifted function, and everything that
 * this refers to, alive.
 */
const refusal = (name: string) => (): never => {
  throw new SpecError(`function "${name}" takes its literals as arguments and has no function to run`);
};

/** Returns a key of the code of a function. Functions with equal keys lower to the same code. */
export const codeKeyOf = (fn: FunctionSpec): string => fn.lifted?.shape ?? shapeByParts(fn);

const shapeByParts = memoizeBy(
  ({ params, source, argumentNames, env, derivative, differentiated }: FunctionSpec): string =>
    keyOf([params, argumentNames, source, env, derivative, differentiated], ofFunction),
);

const ofFunction = (f: object): string => codeKeyOf(f as FunctionSpec);

/**
 * Returns a version of `make` that caches its 64 most recent results. Arguments that contain functions share a result
 * if these functions lower to the same code, whatever the values of their lifted literals are.
 */
export const memoizeByCode = <T, R>(make: (of: T) => R): ((of: T) => R) =>
  memoize(make, 64, (of) => keyOf(of, ofFunction));
