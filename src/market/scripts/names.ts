/** The names of a script: words of the language, states, data and local values. */
import { SpecError } from "../../base/errors.ts";
import type { DataKinds, ScriptInput, StateInput } from "./input.ts";

/** The words that a script cannot use as names of its own; functions have other places than names. */
const WORDS: ReadonlySet<string> = new Set(["S", "S0", "last", "t", "state", "worst", "best", "Math"]);

/** A state of a script: its place among the carried numbers, and how it begins. */
export interface State {
  readonly name: string;
  /** The index of its first number (`Program.running`), and how many it has: one, or one for each underlying. */
  readonly at: number;
  readonly count: number;
  readonly isEach: boolean;
  readonly type: "number" | "truth";
  /** Its initial value: a number, or the name of one of the data. */
  readonly initial: number | string;
}

/** The indices of carried numbers that every script has: what was paid, discounted; 1 until `stop()`, then 0. */
export const PAID = 0;
/** The index of the flag that the trade has not been stopped. */
export const ALIVE = 1;
const FIRST_STATE = 2;

/** Returns the states of a script on some number of underlyings. `who` is the script's name. @throws SpecError */
export function statesOf(script: ScriptInput, underlyings: number, data: DataKinds, who: string): readonly State[] {
  let at = FIRST_STATE;
  return Object.entries(script.state ?? {}).map(([name, given]) => {
    const where = `${who}: state.${name}`;
    checkName(name, where);
    if (data.has(name)) throw new SpecError(`${where}: the data have the same name; rename one of them`);
    const isEach = typeof given === "object";
    const state: State = {
      name,
      at,
      isEach,
      count: isEach ? underlyings : 1,
      type: typeof given === "boolean" ? "truth" : "number",
      initial: initialOf(given, data, where),
    };
    at += state.count;
    return state;
  });
}

function initialOf(given: StateInput, data: DataKinds, where: string): number | string {
  const value = typeof given === "object" ? given.each : given;
  if (typeof value === "boolean") return value ? 1 : 0;
  if (typeof value === "string") {
    if (data.get(value) === "number") return value;
    throw new SpecError(
      `${where}: got "${value}", expected a number, true, false, or the name of a number of the data`,
    );
  }
  if (Number.isFinite(value)) return value;
  throw new SpecError(`${where}: got ${String(value)}, expected a finite number`);
}

/** Checks a name of a state or of data. `where` is its place in messages. @throws SpecError */
export function checkName(name: string, where: string): void {
  if (!/^[A-Za-z_][A-Za-z0-9_]*$/.test(name))
    throw new SpecError(`${where}: "${name}" is no name; expected letters, digits and _, a letter first`);
  if (WORDS.has(name)) throw new SpecError(`${where}: ${name} is a word of the language; rename it`);
}

/** Returns the first of some names for underlyings: A, B, C … */
export const letters = (count: number): readonly string[] =>
  Array.from({ length: count }, (_, i) => (i < 26 ? String.fromCodePoint(65 + i) : `X${i + 1}`));
