/**
 * CUDA helper functions, in the namespace `fk`, for operations that C++ or CUDA leaves undefined in cases that the IR
 * defines. Only the helpers that a kernel uses are printed.
 */
import type { KernelIR } from "../../../ir.ts";
import type { HelperText } from "./inline.ts";
import { integerHelpers } from "./integers.ts";
import { memoryHelpers } from "./memory.ts";
import { realHelpers } from "./reals.ts";
import { subgroupHelpers } from "./subgroups.ts";

const helpers = { ...integerHelpers, ...realHelpers, ...memoryHelpers, ...subgroupHelpers };

/** The names of the CUDA helper functions. */
export type HelperName = keyof typeof helpers;

/** The CUDA helper functions that a kernel calls, collected while it is printed. */
export class Helpers {
  readonly #ir: KernelIR;
  readonly #used = new Set<HelperName>();

  constructor(ir: KernelIR) {
    this.#ir = ir;
  }

  call(name: HelperName, ...args: readonly string[]): string {
    return `${this.named(name)}(${args.join(", ")})`;
  }

  named(name: HelperName): string {
    this.#use(name);
    return `fk::${name}`;
  }

  #use(name: HelperName): void {
    if (this.#used.has(name)) return;
    this.#used.add(name);
    for (const needed of helpers[name].needs) this.#use(needed as HelperName);
  }

  /** Returns the definitions of the collected helpers. Their order is fixed, so that equal kernels give equal text. */
  definitions(): string {
    const used = (Object.keys(helpers) as HelperName[]).filter((name) => this.#used.has(name));
    if (used.length === 0) return "";
    const texts = used.map((name) => this.#textOf(helpers[name]));
    return ["namespace fk {", ...texts, "}"].join("\n");
  }

  #textOf({ text }: HelperText): string {
    return typeof text === "string" ? text : text(this.#ir);
  }
}
