/**
 * The front end on 20,000 random inputs, or 100,000: whatever it is given, it answers with IR or with a KernelError.
 * FEYNKAC_SEED chooses other inputs, FEYNKAC_FUZZ how many; a failure prints the input.
 */
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { KernelError } from "../../src/base/errors.ts";
import {
  canonicalText,
  formula,
  kernelFromSource,
  lower,
  type Params,
  read,
  real,
  write,
} from "../../src/kernel/index.ts";
import type { Environment } from "../../src/kernel/language.ts";
import { counted } from "../support/extent.ts";
import { ENV, expression, generated, mutated, PARAMS, Random, soup, WORDS } from "./fuzz-inputs.ts";

const COUNT = counted("FEYNKAC_FUZZ", 8_000, 100_000);
const SEED = Number(process.env["FEYNKAC_SEED"] ?? 20261121);

/** Lowers; anything thrown but a KernelError is a failure that shows the input. */
function attempt(source: string, params: Params = PARAMS, env: Environment = ENV): "ir" | "error" {
  try {
    const ir = lower(kernelFromSource({ name: "fuzz", params, env, groupSize: 32, source }), "f64");
    canonicalText(ir);
    return "ir";
  } catch (error) {
    if (error instanceof KernelError) return "error";
    throw new Error(`${String(error)}\non the input:\n${source}`, { cause: error });
  }
}

// Formatting stacks takes longer than everything else here.
const { stackTraceLimit } = Error;
beforeAll(() => {
  Error.stackTraceLimit = 0;
});
afterAll(() => {
  Error.stackTraceLimit = stackTraceLimit;
});

describe("IR or a KernelError, nothing else", () => {
  test("token soup", () => {
    const random = new Random(SEED);
    for (let k = 0; k < 0.5 * COUNT; k++) attempt(soup(random));
  });

  test("mutations of kernels", () => {
    const random = new Random(SEED + 1);
    const outcomes = { ir: 0, error: 0 };
    for (let k = 0; k < 0.3 * COUNT; k++) {
      const { source, params, env } = mutated(random);
      outcomes[attempt(source, params, env)]++;
    }
    // Some mutations are harmless: the inputs are near kernels.
    expect(outcomes.ir).toBeGreaterThan(0.05 * outcomes.error);
  });

  test("random syntax", () => {
    const random = new Random(SEED + 2);
    for (let k = 0; k < 0.15 * COUNT; k++) attempt(generated(random));
  });

  test("random formulas", () => {
    const random = new Random(SEED + 3);
    for (let k = 0; k < 0.05 * COUNT; k++) {
      const text = random.below(2) === 0 ? expression(random, 3) : random.many(0, 12, () => random.pick(WORDS), " ");
      try {
        formula(text, ["x", "n", "t"]);
      } catch (error) {
        if (!(error instanceof KernelError))
          throw new Error(`${String(error)}\non the formula:\n${text}`, { cause: error });
      }
    }
  });
});

describe("inputs that are large or deep", () => {
  const body = (text: string): string => `({ x, u, out }, gpu) => { ${text} }`;
  const DEEP = 20_000;
  test.each([
    ["parentheses", body(`out[0] = ${"(".repeat(DEEP)}x${")".repeat(DEEP)};`)],
    ["a long sum", body(`out[0] = x${" + x".repeat(DEEP)};`)],
    ["negations", body(`out[0] = ${"- ".repeat(DEEP)}x;`)],
    ["blocks", body(`${"{".repeat(DEEP)}out[0] = x;${"}".repeat(DEEP)}`)],
    ["ifs", body(`${"if (x > 0) ".repeat(DEEP)}out[0] = x;`)],
    ["else-ifs", body(`${"if (x > 0) out[0] = 1; else ".repeat(DEEP)}out[0] = x;`)],
    ["conditionals", body(`out[0] = ${"x > 0 ? 1 : ".repeat(DEEP)}2;`)],
    ["returns", body("if (x > 0) return; ".repeat(2000))],
    ["many statements", body("out[0] = x; ".repeat(DEEP))],
  ])("%s", (_, source) => {
    expect(["ir", "error"]).toContain(attempt(source, { x: real, u: read(real), out: write(real) }, {}));
  });

  test("nested short loops are not unrolled into one another without end", () => {
    const source = body(`${["a", "b", "c"].map((v) => `for (let ${v} = 0; ${v} < 32; ${v}++) `).join("")}out[0] = x;`);
    const ir = lower(
      kernelFromSource({ name: "nest", params: { x: real, u: read(real), out: write(real) }, source }),
      "f64",
    );
    expect(canonicalText(ir).split("\n").length).toBeLessThan(10_000);
  });
});
