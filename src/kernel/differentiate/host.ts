/** Calls of differentiated functions from plain JavaScript. */
import { ShapeError, SpecError } from "../../base/errors.ts";
import { kernelFromSource } from "../frontend/declare.ts";
import { lower, type ResultKind, resultKindOf } from "../frontend/lower.ts";
import { interpret } from "../interpret/index.ts";
import type { KernelIR } from "../ir.ts";
import {
  type Declaration,
  type FunctionParams,
  type FunctionSpec,
  isTuple,
  type LaunchDeclaration,
  real,
  write,
} from "../language.ts";

interface HostKernel {
  readonly ir: KernelIR;
  readonly result: ResultKind;
  /** The numbers of the result. */
  readonly length: number;
}

/**
 * Returns the function that plain JavaScript runs when it calls a differentiated function. It interprets a kernel of
 * one work item, which is compiled at the first call.
 */
export function interpretedFunction(
  name: string,
  params: FunctionParams,
  spec: () => FunctionSpec,
): (...args: never[]) => unknown {
  let made: HostKernel | undefined;
  return (...args: readonly unknown[]) => {
    const leaves = leavesOf(params, isTuple(params) ? args : args[0]);
    const missing = leaves.find(({ value }) => value === undefined);
    if (missing !== undefined) throw new ShapeError(`${name}: there is no argument ${missing.path}`);
    made ??= hostKernel(name, params, spec());
    const out = new Float64Array(made.length);
    const bound = Object.fromEntries(leaves.map(({ value }, k) => [`a${k}`, value]));
    interpret(made.ir, { ...bound, out }, { items: 1 }, { races: false });
    let at = 0;
    const read = (kind: ResultKind): unknown => {
      if (typeof kind === "string") return kind === "true or false" ? out[at++] !== 0 : out[at++];
      return Object.fromEntries([...kind].map(([field, part]) => [field, read(part)]));
    };
    return read(made.result);
  };
}

/** Returns a kernel that calls the function with the arguments `a0`, `a1`, …, and stores the numbers of its result. */
function hostKernel(name: string, params: FunctionParams, spec: FunctionSpec): HostKernel {
  const result = resultKindOf(spec, "f64");
  const stores: string[] = [];
  const store = (kind: ResultKind, read: string): void => {
    if (kind === "nothing" || kind === "what is no number")
      throw new SpecError(`${name} returns ${kind}, so that only kernels can call it`);
    if (typeof kind !== "string") for (const [field, part] of kind) store(part, `${read}.${field}`);
    else stores.push(`out[${stores.length}] = ${kind === "true or false" ? `${read} ? 1 : 0` : `gpu.real(${read})`};`);
  };
  store(result, "result");
  let count = 0;
  const written = (declared: Declaration): string =>
    declared.kind === "record"
      ? `{ ${Object.entries(declared.fields)
          .map(([field, part]) => `${field}: ${written(part)}`)
          .join(", ")} }`
      : `a${count++}`;
  const call = (isTuple(params) ? params.map(written) : [written({ kind: "record", fields: params })]).join(", ");
  const leaves = leavesOf(params, undefined);
  const kernel = kernelFromSource({
    name,
    params: { ...Object.fromEntries(leaves.map(({ declared }, k) => [`a${k}`, declared])), out: write(real) },
    env: { f: spec },
    source: `({ ${leaves.map((_, k) => `a${k}, `).join("")}out }, gpu, { f }) => { const result = f(${call}); ${stores.join(" ")} }`,
  });
  return { ir: lower(kernel, "f64"), result, length: stores.length };
}

/** Returns the numbers and arrays among parameters, in order, and what a call gives for them. */
function leavesOf(
  declared: Readonly<Record<string, Declaration>> | FunctionParams,
  given: unknown,
  path = "",
): { declared: LaunchDeclaration; value: unknown; path: string }[] {
  return Object.entries(declared as Readonly<Record<string, Declaration>>).flatMap(([name, one]) => {
    const value = (given as Readonly<Record<string, unknown>> | undefined)?.[name];
    const place = path === "" ? name : `${path}.${name}`;
    return one.kind === "record" ? leavesOf(one.fields, value, place) : [{ declared: one, value, path: place }];
  });
}
