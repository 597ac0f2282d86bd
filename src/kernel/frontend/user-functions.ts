/**
 * Functions that a user of a solver gives by name in `functions`, in addition to the equation, payoff or formula that
 * calls them.
 */
import { SpecError } from "../../base/errors.ts";
import { declareFunction } from "../declared.ts";
import { type FunctionResult, type FunctionSpec, isTuple, type RealFunction, real } from "../language.ts";
import { mathFunctions } from "../math/index.ts";
import { FORMULA_CONSTANTS, FORMULA_FUNCTIONS } from "./formula-names.ts";

/**
 * A user's own functions by name. Each is a plain function of numbers, `(S, t) => …`, that uses only its arguments and
 * `Math`, or a kernel function of reals (`fn`). A user's equation or payoff takes them from its third argument, by
 * name. Formulas call them by name.
 * @stable
 */
export type UserFunctions = { readonly [name: string]: (...args: never) => FunctionResult };

/** A user's own functions by name, converted to kernel functions. */
export type DeclaredFunctions = Readonly<Record<string, RealFunction<FunctionResult>>>;

/** The kernel function of each user's function, so that equal functions give identical kernel functions. */
const declared = new WeakMap<object, RealFunction<FunctionResult>>();

/**
 * Converts a user's functions to kernel functions.
 *
 * @param path the name of the record in error messages.
 * @throws SpecError for a value that is not a function, for a name with another meaning in formulas or kernels, and for
 * a kernel function with parameters other than reals.
 */
export function declaredFunctions(given: unknown, path = "functions"): DeclaredFunctions {
  if (given === undefined) return {};
  if (typeof given !== "object" || given === null || Array.isArray(given))
    throw new SpecError(`${path}: got ${shown(given)}, expected functions by name: { sigmaOf }`);
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, declaredAs(name, one, path)]));
}

function declaredAs(name: string, given: unknown, path: string): RealFunction<FunctionResult> {
  const at = `${path}.${name}`;
  if (!/^[A-Za-z_$][\w$]*$/.test(name)) throw new SpecError(`${at}: not an identifier; rename it`);
  if (
    [
      ...FORMULA_FUNCTIONS,
      ...Object.keys(mathFunctions),
      ...Object.keys(FORMULA_CONSTANTS),
      "Math",
      "Number",
      "gpu",
      "t",
    ].includes(name)
  )
    throw new SpecError(`${at}: formulas know another ${name}; rename it`);
  if (typeof given !== "function")
    throw new SpecError(`${at}: got ${shown(given)}, expected a function of numbers, (S, t) => …`);
  const known = declared.get(given);
  if (known !== undefined) return known;
  const spec = given as RealFunction<FunctionResult>;
  if (spec.userWritten !== undefined) return spec;
  if (spec.kind === "function" && !(isTuple(spec.params) && spec.params.every(isReal)))
    throw new SpecError(`${at}: a kernel function of other things than numbers; expected params: [real, …]`);
  const made = spec.kind === "function" ? usersOwn(spec) : plainFunction(name, spec);
  declared.set(given, made);
  return made;
}

const isReal = (one: { readonly kind: string; readonly type?: unknown }): boolean =>
  one.kind === "scalar" && one.type === "real";

function plainFunction(name: string, run: (...args: never[]) => unknown): RealFunction<FunctionResult> {
  return declareFunction({
    run: (...args: never[]) => run(...args),
    functionName: name,
    params: Array.from({ length: run.length }, () => real),
    env: {},
    source: Function.prototype.toString.call(run),
    userWritten: "plain",
    entry: declaredFunctions,
  });
}

/** Marks a kernel function, and the functions that it calls, as a user's code, whose loop iterations are counted. */
function usersOwn(spec: FunctionSpec): RealFunction<FunctionResult> {
  const { functionName, params, env, source, argumentNames, lifted } = spec;
  const call = spec as FunctionSpec & ((...args: never[]) => unknown);
  const inner = Object.entries(env).map(([name, value]) => [
    name,
    typeof value === "function" ? (usersOwn(value) as FunctionSpec) : value,
  ]);
  return declareFunction({
    run: (...args: never[]) => call(...args),
    functionName,
    params,
    env: Object.fromEntries(inner) as typeof env,
    source,
    argumentNames,
    lifted,
    userWritten: "declared",
    entry: declaredFunctions,
  }) as unknown as RealFunction<FunctionResult>;
}

function shown(value: unknown): string {
  return value === null ? "null" : Array.isArray(value) ? "an array" : typeof value;
}
