/** A kernel's specification as text: all that its IR is made of, but for the precision. */
import {
  type Environment,
  type EnvironmentValue,
  type FunctionSpec,
  isFunctionSpec,
  isList,
  type Kernel,
} from "./language.ts";

/**
 * Returns a text that is equal for two kernels only if they compute the same. It costs no parsing, so it finds a
 * compiled kernel on disk. Two different texts may still mean the same computation, which `canonicalText` tells.
 */
export function specificationText(kernel: Kernel): string {
  const { name, params, groupSize, residentGroups, loopBudget, source, env } = kernel;
  const writer = new Writer();
  writer.write("kernel", [name, params, groupSize, residentGroups, loopBudget, source], env);
  return writer.lines.join("\n");
}

class Writer {
  readonly lines: string[] = [];
  /** Functions that have been written, by number: many are used in several places. */
  readonly #numbers = new Map<FunctionSpec, number>();

  write(what: string, parts: readonly unknown[], env: Environment): void {
    this.lines.push([what, ...parts.map((part) => JSON.stringify(part)), ...this.#values(env)].join("\n"));
  }

  #values(env: Environment): string[] {
    return Object.entries(env).map(([name, value]) => `${name}=${this.#valueOf(value)}`);
  }

  #valueOf(value: EnvironmentValue): string {
    if (typeof value === "number") return Object.is(value, -0) ? "-0" : String(value); // reads back as itself
    if (typeof value === "string") return JSON.stringify(value);
    if (typeof value === "boolean" || value === undefined) return String(value);
    if (isFunctionSpec(value)) return `function ${this.#numberOf(value)}`;
    if (isList(value)) return `[${value.map((item) => this.#valueOf(item)).join()}]`;
    return `{${this.#values(value).join()}}`;
  }

  #numberOf(fn: FunctionSpec): number {
    const known = this.#numbers.get(fn);
    if (known !== undefined) return known;
    const number = this.#numbers.size;
    this.#numbers.set(fn, number);
    const { functionName, params, argumentNames, source, lifted, env } = fn;
    const literals = lifted === undefined ? undefined : [...lifted.places];
    this.write(`function ${number}`, [functionName, params, argumentNames, source, literals], env);
    return number;
  }
}
