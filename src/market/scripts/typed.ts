/** Scripts written as TypeScript functions. */
import { type Node, parse } from "acorn";
import { SpecError } from "../../base/errors.ts";
import type { EventInput, ScriptInput, StateInput } from "./input.ts";

/** The kinds of data in a typed script: numbers may be lists with one for each date of an event. */
type TypedData = { readonly [name: string]: "number" | "each" | "date" | "dates" };
type TypedState = { readonly [name: string]: StateInput };

/** The value of a state in an event. */
type StateValue<U extends string, V> = V extends boolean
  ? boolean
  : V extends { readonly each: number }
    ? { [name in U]: number }
    : number;

/** The words that an event of a typed script may use, and its data by name. @experimental */
export type EventWords<U extends string, D extends TypedData, T extends TypedState> = {
  /** The spots now, and the initial fixings. */
  readonly S: { readonly [name in U]: number };
  readonly S0: { readonly [name in U]: number };
  /** One number for each underlying that the script sets; the initial fixings at first. */
  readonly last: { [name in U]: number };
  /** The time of the event in years from `asOf`. */
  readonly t: number;
  /** The smallest and the largest performance S/S0. */
  readonly worst: number;
  readonly best: number;
  /** Returns the k-th largest performance, from 1. */
  rank(k: number): number;
  readonly state: { -readonly [name in keyof T]: StateValue<U, T[name]> };
  /** Pays the holder an amount, on the date of the event or on a date of the data. */
  pay(amount: number, options?: { readonly on?: string; readonly currency?: string }): void;
  /** Ends the trade. */
  stop(): void;
  /** The holder's right to end the trade for a value. */
  exercise(value: number): void;
  /** The issuer's right to end the trade for a value. */
  call(value: number): void;
} & {
  readonly [name in keyof D]: D[name] extends "number"
    ? number
    : D[name] extends "each"
      ? { readonly [name in U]: number }
      : string;
};

/** The settings of `script`. @experimental */
export interface TypedScript<U extends string, D extends TypedData, T extends TypedState> {
  /** The names of the underlyings; any names by default. */
  readonly underlyings?: readonly U[];
  /** The kinds of the data by name. */
  readonly data?: D;
  readonly state?: T;
  readonly events: readonly {
    /** The name of a date or of a list of dates of the data. */
    readonly on: keyof D & string;
    do(words: EventWords<U, D, T>): void;
  }[];
}

/**
 * Returns the script, as books contain it, of events that are written as TypeScript functions. Their data, states and
 * underlyings are checked by the compiler of TypeScript; they are not run, but read. Each takes the words that it uses
 * from its one argument, and may use nothing else but `Math`.
 *
 * @param typed the data by kind, the states, and the events.
 * @throws SpecError for a function that is not of this form.
 * @example
 * import { script } from "feynkac/montecarlo";
 *
 * const digital = script({
 *   data: { maturity: "date", strike: "number" },
 *   events: [
 *     {
 *       on: "maturity",
 *       do({ S, strike, pay }) {
 *         if (S["A"]! > strike) pay(100);
 *       },
 *     },
 *   ],
 * });
 * console.log(digital.events[0]!.on); // maturity
 * @experimental
 */
export function script<
  const D extends TypedData = Record<never, never>,
  const T extends TypedState = Record<never, never>,
  const U extends string = string,
>(typed: TypedScript<U, D, T>): ScriptInput {
  const { state, events } = typed;
  const read = events.map((event, k): EventInput => ({ on: event.on, do: textOf(event.do, k) }));
  return { ...(state === undefined ? {} : { state }), events: read };
}

/** The statements of a function, with the words that it destructures under their own names. */
function textOf(run: (...words: never[]) => void, event: number): string {
  const text = Function.prototype.toString.call(run);
  const where = `script, event ${event + 1}`;
  const { node, source } = functionIn(text, where);
  const [words] = node.params;
  if (node.params.length > 1 || (words !== undefined && words.type !== "ObjectPattern"))
    throw new SpecError(`${where}: expected do({ S, pay, … }) { … }, with the words that it uses in braces`);
  const names = new Map<string, string>();
  for (const { type, key, value, computed } of words?.properties ?? []) {
    if (type !== "Property" || computed || value.type !== "Identifier")
      throw new SpecError(`${where}: expected names in the braces of its argument, without defaults`);
    names.set(value.name as string, key.name as string);
  }
  const { body } = node;
  const [from, to] = body.type === "BlockStatement" ? [body.start + 1, body.end - 1] : [body.start, body.end];
  let [written, at] = ["", from as number];
  for (const { start, end, name } of identifiersIn(body)) {
    written += source.slice(at, start) + (names.get(name) ?? name);
    at = end;
  }
  return (written + source.slice(at, to as number)).trim();
}

function functionIn(text: string, where: string): { readonly node: any; readonly source: string } {
  for (const [prefix, suffix] of [
    ["({", "})"],
    ["(", ")"],
  ]) {
    try {
      const source = prefix + text + suffix;
      const [statement] = parse(source, { ecmaVersion: 2023 }).body as any[];
      const { expression } = statement;
      const node = expression.type === "ObjectExpression" ? expression.properties[0].value : expression;
      if (/Function/.test(node.type) && !node.async && !node.generator) return { node, source };
    } catch {
      // The other form.
    }
  }
  throw new SpecError(`${where}: cannot be read as a function; expected do({ S, pay, … }) { … }`);
}

interface Identifier {
  readonly start: number;
  readonly end: number;
  readonly name: string;
}

/** The identifiers that stand for values, in the order of the text. */
function identifiersIn(node: any): readonly Identifier[] {
  const found: Identifier[] = [];
  const visit = (one: any): void => {
    if (one.type === "Identifier") found.push(one as Identifier);
    for (const [field, child] of Object.entries(one as Node)) {
      const isName = (field === "property" && one.computed === false) || (field === "key" && one.computed !== true);
      if (isName) continue;
      for (const each of Array.isArray(child) ? (child as unknown[]) : [child])
        if (typeof each === "object" && each !== null && "type" in each) visit(each);
    }
  };
  visit(node);
  return found.toSorted((a, b) => a.start - b.start);
}
