/** What a user writes, functions, formulas and numbers, as kernel functions of (t, S, parameters of the lane). */
import { SpecError } from "../../errors.ts";
import {
  formula,
  functionFromSource,
  i32,
  type KernelFunction,
  kernelFromSource,
  lower,
  read,
  real,
  userFunction,
  write,
} from "../../kernel/index.ts";

/** A function of the state as the user gave it, with the place it stands at. */
export interface Given {
  readonly path: string;
  /** Of t, the axis and the parameters, in this order; runs in f64 on the host, too. */
  readonly call: KernelFunction<any, any>;
  readonly dependsOnTime: boolean;
}

/** What an adapter takes: t, S, the parameters' buffer, its pitch, the lane. */
export const stateParams = [real, real, read(real), i32, i32] as const;

/** "t, S, parameters[lane], parameters[pitch + lane], …": the arguments of a user's function inside an adapter. */
const argumentsText = (parameters: number): string =>
  ["t", "S", ...Array.from({ length: parameters }, (_, k) => `parameters[${k} * pitch + lane]`)].join(", ");

/** @throws KernelError, at once, for what is not in the kernel language | SpecError for what is no function */
export function givenNumber(path: string, value: unknown, names: readonly string[]): Given {
  const call = numberFunction(path, value, names);
  return { path, call, dependsOnTime: usesTime(path, call, names.length, ["k"]) };
}

function numberFunction(path: string, value: unknown, names: readonly string[]): KernelFunction<any, any> {
  if (typeof value === "number") {
    if (!Number.isFinite(value)) throw new SpecError(`${path}: got ${value}, expected a finite number`);
    return formula(String(value), names);
  }
  if (typeof value === "string") return atPath(path, () => formula(value, names));
  if (typeof value === "function") return userFunction(names, value as never);
  throw new SpecError(`${path}: got ${typeof value}, expected a function of the state, a formula or a number`);
}

/** The equation's coefficients: which there are, and a function that returns them as the object the user names them in. */
export interface GivenEquation extends Given {
  /** a, b, c, d: the text that reads each from `k`, what the user's function returned; "0.0" where there is none. */
  readonly reads: Readonly<Record<"a" | "b" | "c" | "d", string>>;
  /** Names as the user knows them, for messages. */
  readonly labels: Readonly<Record<"a" | "b" | "c" | "d", string>>;
}

/** @throws KernelError | SpecError (an unknown coefficient) */
export function givenEquation(equation: unknown, axis: string, names: readonly string[]): GivenEquation {
  const labels = { a: `${axis}${axis}`, b: axis, c: "V", d: "source" };
  const call =
    typeof equation === "function" ? userFunction(names, equation as never) : composed(equation, labels, names);
  // Lowered before it is run: what is not in the kernel language is said with its place.
  usesTime("equation", call, names.length, []);
  const returned: unknown = call(...names.map(() => 1));
  const known: readonly string[] = Object.values(labels);
  if (typeof returned !== "object" || returned === null)
    throw new SpecError(`equation: returned ${typeof returned}, expected an object with some of ${known.join(", ")}`);
  const unknown = Object.keys(returned).find((key) => !known.includes(key));
  if (unknown !== undefined)
    throw new SpecError(`equation.${unknown}: unknown; the coefficients on the axis ${axis} are ${known.join(", ")}`);
  const text = (label: string): string => (Object.hasOwn(returned, label) ? `k.${label}` : "0.0");
  const reads = { a: text(labels.a), b: text(labels.b), c: text(labels.c), d: text(labels.d) };
  const used = Object.values(reads).filter((read) => read !== "0.0");
  return { path: "equation", call, dependsOnTime: usesTime("equation", call, names.length, used), reads, labels };
}

/** One function of formulas by name, runnable on the host, too. */
function composed(
  equation: unknown,
  labels: GivenEquation["labels"],
  names: readonly string[],
): KernelFunction<any, any> {
  if (typeof equation !== "object" || equation === null)
    throw new SpecError(`equation: got ${typeof equation}, expected a function of the state or formulas by name`);
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

/** A kernel function (t, S, parameters, pitch, lane) → number. */
export function numberAdapter({ call, path }: Given, names: readonly string[]): KernelFunction<any, number> {
  return functionFromSource({
    name: path,
    params: stateParams,
    env: { f: call },
    source: `([t, S, parameters, pitch, lane], gpu, { f }) => f(${argumentsText(names.length - 2)})`,
  });
}

/** A kernel function (t, S, parameters, pitch, lane) → { a, b, c, d }. */
export function equationAdapter({ call, reads }: GivenEquation, names: readonly string[]): KernelFunction<any, any> {
  return functionFromSource({
    name: "equation",
    params: stateParams,
    env: { f: call },
    source:
      `([t, S, parameters, pitch, lane], gpu, { f }) => { const k = f(${argumentsText(names.length - 2)}); ` +
      `return { a: ${reads.a}, b: ${reads.b}, c: ${reads.c}, d: ${reads.d} }; }`,
  });
}

/** Whether a function's results, or those of them that `reads` names, depend on its first argument: whether its lowered code reads it. */
function usesTime(path: string, call: KernelFunction<any, any>, count: number, reads: readonly string[]): boolean {
  const args = Array.from({ length: count }, (_, k) => `x${k}`);
  const stores = reads.map((text, k) => `out[${k}] = ${text};`).join(" ");
  const params = Object.fromEntries([...args.map((name) => [name, real] as const), ["out", write(real)] as const]);
  const probe = kernelFromSource({
    name: path,
    params,
    env: { f: call },
    source: `({ ${args.join(", ")}, out }, gpu, { f }) => { const k = f(${args.join(", ")}); ${stores} }`,
  });
  const ir = atPath(path, () => lower(probe, "f64"));
  const time = ir.scalars.findIndex(({ name }) => name === "x0");
  return readsParam(ir.body, time);
}

/** Whether scalar parameter `id` stands anywhere in a piece of lowered code. */
function readsParam(code: unknown, id: number): boolean {
  if (typeof code !== "object" || code === null) return false;
  const node = code as { readonly kind?: unknown; readonly id?: unknown };
  if (node.kind === "param" && node.id === id) return true;
  return Object.values(code).some((child) => readsParam(child, id));
}

/** Puts the place before the message of an error about a formula or a function. */
function atPath<T>(path: string, f: () => T): T {
  try {
    return f();
  } catch (error) {
    if (error instanceof Error && !error.message.startsWith(path)) error.message = `${path}: ${error.message}`;
    throw error;
  }
}
