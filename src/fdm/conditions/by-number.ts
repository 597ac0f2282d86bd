/**
 * Kernel functions that apply conditions by number: adapters, generated, since there may be any number of conditions.
 */
import { type FunctionSpec, functionFromSource, i32, real } from "../../kernel/index.ts";
import type { GivenCondition } from "../problem/conditions.ts";
import { type Given, numberAdapter, stateParams } from "../problem/functions.ts";
import type { IsJump, JumpTarget, Pointwise, RegionCode } from "../operator/equation-variant.ts";

type Environment = Record<string, FunctionSpec>;

const STATE = "t, S, parameters, pitch, instance";
/** How far from its edge a region still is: a node on the edge may have been rounded to its other side. */
const SLACK = 'const slack = gpu.precision === "f32" ? 1e-6 : 1e-12;';

/** Text that is true inside a knock-out's region, for functions `below{k}` and `above{k}` of `env`, which it adds. */
function regionText(condition: GivenCondition & { kind: "knock-out" }, k: number, env: Environment): string {
  const edge = (name: "below" | "above", given: Given | undefined): string[] => {
    if (given === undefined) return [];
    env[`${name}${k}`] = numberAdapter(given);
    const level = `env.${name}${k}(${STATE})`;
    return [name === "below" ? `S - slack * Math.abs(S) <= ${level}` : `S + slack * Math.abs(S) >= ${level}`];
  };
  return [...edge("below", condition.below), ...edge("above", condition.above)].join(" || ");
}

/** Statements that run `otherwise` where an edge of a knock-out is NaN, which no S is beyond. */
function edgeTests({ below, above }: GivenCondition & { kind: "knock-out" }, k: number, otherwise: string): string {
  const test = (name: "below" | "above", given: Given | undefined): string =>
    given === undefined ? "" : `if (Number.isNaN(env.${name}${k}(${STATE}))) ${otherwise};`;
  return `${test("below", below)} ${test("above", above)}`;
}

/** The knock-outs at all times. Undefined where there are none. */
export function regionFunctions(conditions: readonly GivenCondition[]): RegionCode | undefined {
  const regions = conditions.flatMap((condition) =>
    condition.kind === "knock-out" && condition.dates === undefined ? [condition] : [],
  );
  if (regions.length === 0) return undefined;
  const env: Environment = {};
  const inside = regions.map((region, k) => `(mask & ${1 << k}) !== 0 && (${regionText(region, k, env)})`);
  const values: Environment = { ...env };
  const edges = regions.map((region, k) => `if ((mask & ${1 << k}) !== 0) { ${edgeTests(region, k, "ok = false")} }`);
  const cases = regions.map((region, k) => {
    values[`value${k}`] = numberAdapter(region.value);
    return `if (${inside[k]}) value = env.value${k}(${STATE});`;
  });
  const params = [...stateParams, i32];
  return {
    inside: functionFromSource({
      name: "knocked out",
      params,
      env,
      source: `([${STATE}, mask], gpu, env) => { ${SLACK} let inside = false; ${inside.map((text) => `if (${text}) inside = true;`).join(" ")} return inside; }`,
    }),
    hasEdges: functionFromSource({
      name: "edges of knock-outs",
      params,
      env,
      source: `([${STATE}, mask], gpu, env) => { let ok = true; ${edges.join(" ")} return ok; }`,
    }),
    value: functionFromSource({
      name: "value of a knock-out",
      params,
      env: values,
      source: `([${STATE}, mask], gpu, env) => { ${SLACK} let value = 0.0; ${cases.join(" ")} return value; }`,
    }),
  };
}

/**
 * (t, S, …, k, u) → { value, ok }: exercise and knock-outs on dates, by the number of the condition; u where that
 * is neither.
 */
export function pointwiseFunction(conditions: readonly GivenCondition[]): Pointwise | undefined {
  const env: Environment = {};
  const cases = conditions.flatMap((condition, k) => {
    if (condition.kind === "jump" || condition.dates === undefined) return [];
    if (condition.kind === "exercise") {
      env[`payoff${k}`] = numberAdapter(condition.payoff);
      return [
        `if (k === ${k}) { const payoff = env.payoff${k}(${STATE}); ok = Number.isFinite(payoff); value = Math.max(u, payoff); }`,
      ];
    }
    env[`value${k}`] = numberAdapter(condition.value);
    const inside = regionText(condition, k, env);
    const paid = `value = env.value${k}(${STATE}); ok = Number.isFinite(value);`;
    return [`if (k === ${k}) { if (${inside}) { ${paid} } ${edgeTests(condition, k, "ok = false")} }`];
  });
  if (cases.length === 0) return undefined;
  return functionFromSource({
    name: "conditions on dates",
    params: [...stateParams, i32, real],
    env,
    source: `([${STATE}, k, u], gpu, env) => { ${SLACK} let value = u; let ok = true; ${cases.join(" ")} return { value, ok }; }`,
  });
}

/** (t, S, …, k) → where S jumps to under condition k; and whether k is a jump. Undefined where there are none. */
export function jumpFunctions(
  conditions: readonly GivenCondition[],
): { readonly jump: JumpTarget; readonly isJump: IsJump } | undefined {
  const jumps = conditions.flatMap((condition, k) => (condition.kind === "jump" ? [{ k, to: condition.to }] : []));
  if (jumps.length === 0) return undefined;
  const env: Environment = Object.fromEntries(jumps.map(({ k, to }) => [`to${k}`, numberAdapter(to)]));
  const cases = jumps.map(({ k }) => `if (k === ${k}) value = env.to${k}(${STATE});`);
  return {
    jump: functionFromSource({
      name: "jumps",
      params: [...stateParams, i32],
      env,
      source: `([${STATE}, k], gpu, env) => { let value = S; ${cases.join(" ")} return value; }`,
    }),
    isJump: functionFromSource({
      name: "isJump",
      params: [i32],
      source: `([k]) => ${jumps.map(({ k }) => `k === ${k}`).join(" || ")}`,
    }),
  };
}
