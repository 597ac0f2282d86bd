/** What a user writes, functions, formulas and numbers, as kernel functions of (t, S, parameters of the instance). */
import { type KernelError, SpecError } from "../../errors.ts";
import {
  errorInFunction,
  formula,
  functionFromSource,
  i32,
  type KernelFunction,
  kernelFromSource,
  lower,
  read,
  real,
  type ResultKind,
  resultOf,
  runWithin,
  userFunction,
  write,
} from "../../kernel/index.ts";
import { shownType } from "./checks.ts";

/** A function of the state as the user gave it, with the place it stands at. */
export interface Given {
  readonly path: string;
  /** Of t, the axis and the parameters, in this order. */
  readonly call: KernelFunction<any, any>;
  /** Its value, or values by name, in f64 on the host; NaN where a loop did not end. */
  readonly at: (...state: readonly number[]) => any;
  readonly dependsOnTime: boolean;
}

/**
 * Rounds that the loops of a user's function may make in one call before they count as endless: a tenth of a second
 * at most.
 */
export const LOOP_BUDGET = 1_000_000;

/** What an adapter takes: t, S, the parameters' buffer, its pitch, the instance. */
export const stateParams = [real, real, read(real), i32, i32] as const;

/**
 * "t, S, parameters[instance], parameters[pitch + instance], …": the arguments of a user's function inside an adapter.
 */
const argumentsText = (parameters: number): string =>
  ["t", "S", ...Array.from({ length: parameters }, (_, k) => `parameters[${k} * pitch + instance]`)].join(", ");

/** @throws KernelError, at once, for what is not in the kernel language | SpecError for what is no function */
export function givenNumber(path: string, value: unknown, names: readonly string[]): Given {
  const call = numberFunction(path, value, names);
  const kind = resultOf(call, "f64");
  if (kind !== "number") throw wrongResult(path, value, kind, "a number", names);
  return { path, call, ...probed(path, call, names.length, ["k"], ([value]) => value) };
}

function wrongResult(
  path: string,
  given: unknown,
  kind: ResultKind,
  expected: string,
  names: readonly string[],
): KernelError {
  const got = typeof kind === "string" ? kind : kind.has("t") ? "the state as a whole" : [...kind.keys()].join(", ");
  return errorInFunction(path, String(given), `returns ${got}, expected ${expected}`, remedyFor(kind, expected, names));
}

function remedyFor(kind: ResultKind, expected: string, names: readonly string[]): string {
  if (kind === "true or false") return "write condition ? 1 : 0";
  if (kind === "nothing") return `return ${expected}; without braces an arrow function returns its expression`;
  if (kind === "an integer") return "convert it: gpu.real(…)";
  return typeof kind !== "string" && kind.has("t")
    ? `take what is needed of the state by name, in braces: ({ ${names[1]} }) => …`
    : `return ${expected}`;
}

function numberFunction(path: string, value: unknown, names: readonly string[]): KernelFunction<any, any> {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new SpecError(`${path}: got ${value}, expected a finite number`);
    return formula(String(value), names);
  }
  if (typeof value === "string") return formula(value, names, path);
  if (typeof value === "function") return userFunction(names, value as never, path);
  throw new SpecError(`${path}: got ${shownType(value)}, expected a function of the state, a formula or a number`);
}

/**
 * The equation's coefficients: which there are, and a function that returns them as the object the user names them in.
 */
export interface GivenEquation extends Given {
  /** a, b, c, d: the text that reads each from `k`, what the user's function returned; "0.0" where there is none. */
  readonly reads: Readonly<Record<"a" | "b" | "c" | "d", string>>;
  /** Names as the user knows them, for messages. */
  readonly labels: Readonly<Record<"a" | "b" | "c" | "d", string>>;
}

/** @throws KernelError | SpecError (an unknown coefficient) */
export function givenEquation(equation: unknown, axis: string, names: readonly string[]): GivenEquation {
  const path = "equation";
  const labels = { a: `${axis}${axis}`, b: axis, c: "V", d: "source" };
  const call: KernelFunction<any, any> =
    typeof equation === "function" ? userFunction(names, equation as never, path) : composed(equation, labels, names);
  const known: readonly string[] = Object.values(labels);
  const kind = resultOf(call, "f64");
  if (typeof kind === "string" || kind.has("t"))
    throw wrongResult(path, equation, kind, `an object with some of ${known.join(", ")}`, names);
  for (const [name, field] of kind) {
    if (!known.includes(name))
      throw new SpecError(`equation.${name}: unknown; the coefficients on the axis ${axis} are ${known.join(", ")}`);
    if (field !== "number")
      throw new SpecError(
        `equation.${name}: ${typeof field === "string" ? field : "several values"}, expected a number; ${remedyFor(field, "a number", names)}`,
      );
  }
  const text = (label: string): string => (kind.has(label) ? `k.${label}` : "0.0");
  const reads = { a: text(labels.a), b: text(labels.b), c: text(labels.c), d: text(labels.d) };
  const fields = [...kind.keys()];
  const byName = (values: Float64Array): object => Object.fromEntries(fields.map((name, k) => [name, values[k]]));
  const used = fields.map((name) => `k.${name}`);
  return { path, call, ...probed(path, call, names.length, used, byName), reads, labels };
}

/** One function of formulas by name, runnable on the host, too. */
function composed(
  equation: unknown,
  labels: GivenEquation["labels"],
  names: readonly string[],
): KernelFunction<any, any> {
  if (typeof equation !== "object" || equation === null)
    throw new SpecError(`equation: got ${shownType(equation)}, expected a function of the state or formulas by name`);
  const known: readonly string[] = Object.values(labels);
  const unknown = Object.keys(equation).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new SpecError(`equation.${unknown}: unknown; the coefficients are ${known.join(", ")}`);
  const parts = Object.entries(equation).map(
    ([key, value]) => [key, numberFunction(`equation.${key}`, value, names)] as const,
  );
  const args = names.map((_, k) => `x${k}`).join(", ");
  const fields = parts.map(([key], k) => `${key}: f${k}(${args})`).join(", ");
  return functionFromSource({
    name: "equation",
    params: names.map(() => real),
    env: Object.fromEntries(parts.map(([, part], k) => [`f${k}`, part])),
    source: `([${args}], gpu, { ${parts.map((_, k) => `f${k}`).join(", ")} }) => ({ ${fields} })`,
    run: (...state: number[]) => Object.fromEntries(parts.map(([key, part]) => [key, part(...state)])),
  });
}

/** A kernel function (t, S, parameters, pitch, instance) → number. */
export function numberAdapter({ call, path }: Given, names: readonly string[]): KernelFunction<any, number> {
  return functionFromSource({
    name: path,
    params: stateParams,
    env: { f: call },
    source: `([t, S, parameters, pitch, instance], gpu, { f }) => f(${argumentsText(names.length - 2)})`,
  });
}

/** A kernel function (t, S, parameters, pitch, instance) → { a, b, c, d }. */
export function equationAdapter({ call, reads }: GivenEquation, names: readonly string[]): KernelFunction<any, any> {
  return functionFromSource({
    name: "equation",
    params: stateParams,
    env: { f: call },
    source:
      `([t, S, parameters, pitch, instance], gpu, { f }) => { const k = f(${argumentsText(names.length - 2)}); ` +
      `return { a: ${reads.a}, b: ${reads.b}, c: ${reads.c}, d: ${reads.d} }; }`,
  });
}

/** What is found out about a function by lowering it alone, with those of its results that `reads` names. */
function probed(
  path: string,
  call: KernelFunction<any, any>,
  count: number,
  reads: readonly string[],
  resultOf: (values: Float64Array) => unknown,
): Pick<Given, "at" | "dependsOnTime"> {
  const args = Array.from({ length: count }, (_, k) => `x${k}`);
  const stores = reads.map((text, k) => `out[${k}] = ${text};`).join(" ");
  const params = Object.fromEntries([...args.map((name) => [name, real] as const), ["out", write(real)] as const]);
  const probe = kernelFromSource({
    name: path,
    params,
    env: { f: call },
    loopBudget: LOOP_BUDGET,
    source: `({ ${args.join(", ")}, out }, gpu, { f }) => { const k = f(${args.join(", ")}); ${stores} }`,
  });
  const ir = lower(probe, "f64");
  const time = ir.scalars.findIndex(({ name }) => name === "x0");
  const within = (...state: readonly number[]): unknown => {
    const out = new Float64Array(reads.length);
    const values = Object.fromEntries(state.map((value, k) => [`x${k}`, value]));
    return resultOf(runWithin(ir, { ...values, out }, LOOP_BUDGET) ? out : out.fill(NaN));
  };
  return { at: ir.countedLoops === undefined ? call : within, dependsOnTime: readsParam(ir.body, time) };
}

/** Whether scalar parameter `id` stands anywhere in a piece of lowered code. */
function readsParam(code: unknown, id: number): boolean {
  if (typeof code !== "object" || code === null) return false;
  const node = code as { readonly kind?: unknown; readonly id?: unknown };
  if (node.kind === "param" && node.id === id) return true;
  return Object.values(code).some((child) => readsParam(child, id));
}
