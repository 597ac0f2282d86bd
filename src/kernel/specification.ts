/** The text of a kernel's specification: everything that determines its IR except the precision. */
import { keyOf } from "../base/memoize.ts";
import type { FunctionSpec, Kernel } from "./language.ts";

/**
 * Returns a text that is equal for two kernels only if they compute the same. It needs no parsing, and serves to find
 * compiled kernels on disk. Kernels with different texts may still compute the same, which `canonicalText` shows.
 */
export function specificationText({
  name,
  params,
  groupSize,
  residentGroups,
  loopBudget,
  source,
  env,
}: Kernel): string {
  const lines: string[] = [];
  /** Functions that have been written, by number: many are used in several places. */
  const numbers = new Map<object, number>();
  const write = (...parts: readonly unknown[]): void => void lines.push(keyOf(parts, numberOf));
  const numberOf = (f: object): string => {
    const known = numbers.get(f);
    if (known !== undefined) return `function ${known}`;
    const number = numbers.size;
    numbers.set(f, number);
    const { functionName, params, argumentNames, source, lifted, env, derivative, differentiated } = f as FunctionSpec;
    const places = lifted && [...lifted.places];
    write(number, functionName, params, argumentNames, source, places, env, derivative, differentiated);
    return `function ${number}`;
  };
  write(name, params, groupSize, residentGroups, loopBudget, source, env);
  return lines.join("\n");
}
