/** Scripts compiled for a shape: what they do on dates, and in which order they take and carry numbers. */
import { KernelError, SpecError } from "../../base/errors.ts";
import { keyOf, memoize } from "../../base/memoize.ts";
import { factsOf, type Jump } from "./facts.ts";
import type { DataKinds, EventInput, ScriptInput } from "./input.ts";
import { checkName, PAID, type State, statesOf } from "./names.ts";
import { EventScope, type Findings, type PaidRate, type PaySite, type ScriptMistake, type Usage } from "./scope.ts";
import { EventSource } from "./source.ts";
import { readStatements } from "./statements.ts";
import type { Statement } from "./tree.ts";

/** A number that each date has: a column of the data of all trades of a shape. */
export type DatedColumn =
  /** 1 on the dates of an event, 0 on others; "start" sets the initial fixings. */
  | { readonly kind: "happens"; readonly event: number | "start" }
  /** The time of the date in years from `asOf`. */
  | { readonly kind: "time" }
  /** The number of a list of the data on the dates of an event. */
  | { readonly kind: "dated"; readonly event: number; readonly name: string }
  /** The discount factor from the date to that of a payment, in its currency. */
  | { readonly kind: "delay"; readonly site: number };

/** A state of a script, and what is known about its values. */
export interface ProgramState extends State {
  /**
   * "flag" for two values; "finite" where only the conditions that held decide the value, which so has finitely many;
   * "real" where a spot enters it.
   */
  readonly values: "flag" | "finite" | "real";
}

/** An event of a compiled script. */
export interface ProgramEvent {
  readonly on: EventInput["on"];
  readonly body: readonly Statement[];
}

/** A script compiled for a number of underlyings and kinds of data. Equal shapes share one program. */
export interface Program {
  readonly name: string;
  /** A text that is equal for equal programs only. */
  readonly key: string;
  /** The names of the underlyings in the script. */
  readonly letters: readonly string[];
  /** The number of underlyings that it reads, exchange rates of payments included. */
  readonly assets: number;
  readonly events: readonly ProgramEvent[];
  readonly states: readonly ProgramState[];
  /**
   * The number of carried numbers: what was paid, whether the trade is alive, states, initial fixings, `last`, and two
   * of early rights.
   */
  readonly running: number;
  /** The index of the first initial fixing among the carried numbers; undefined where the script reads none. */
  readonly initialAt: number | undefined;
  /** The index of the first number of `last`; undefined where the script does not use it. */
  readonly lastAt: number | undefined;
  /** The numbers of the data that do not depend on the date, in the order of kernels. */
  readonly scalars: readonly { readonly name: string; readonly part: number }[];
  /** The numbers of each date, in the order of kernels. */
  readonly columns: readonly DatedColumn[];
  readonly sites: readonly PaySite[];
  readonly stops: boolean;
  /**
   * The index of two carried numbers of early rights: whose right the date has, 1 for the holder's, −1 for the issuer's
   * and 0 for none, and what will have been paid, discounted, if it is used. Undefined where there are no rights.
   */
  readonly rightAt: number | undefined;
  /** The early rights: of the holder (exercise) and of the issuer (call). */
  readonly rights: readonly { readonly event: number; readonly of: "exercise" | "call" }[];
  /** The conditions at which the payments jump. */
  readonly jumps: readonly Jump[];
  /** The names of data that the script uses: as dates, and as numbers. */
  readonly uses: ReadonlySet<string>;
}

/**
 * Compiles a script for underlyings with the given names and data of the given kinds. Programs are remembered by their
 * contents. `name` is the script's name in messages, and `paid` are the exchange rates of the currencies in which it
 * pays, but for that of the trade.
 *
 * @throws KernelError with line, column, a caret and a remedy; SpecError for states, names and dates
 */
export function compileScript(
  script: ScriptInput,
  underlyings: readonly string[],
  data: DataKinds,
  name: string,
  paid: readonly PaidRate[] = [],
): Program {
  return compiled(script, underlyings, data, paid, name);
}

type Shape = readonly [ScriptInput, readonly string[], DataKinds, readonly PaidRate[]];

const keyOfScript = (...[script, underlyings, data, paid]: Shape): string =>
  keyOf([
    script.state ?? {},
    script.events.map(({ on, do: text }) => [on, text]),
    underlyings,
    [...data],
    ...paid.map(({ currency, asset, power }) => [currency, asset, power]),
  ]);

const compiled = memoize(
  (...[script, underlyings, data, paid, name]: readonly [...Shape, name: string]): Program =>
    compile(script, underlyings, data, name, paid),
  256,
  (...[script, underlyings, data, paid]) => keyOfScript(script, underlyings, data, paid),
);

/** What a check of a script finds: all of its mistakes, or else the program. */
export type CheckedScript =
  | { readonly mistakes: readonly [ScriptMistake, ...ScriptMistake[]] }
  | { readonly mistakes: readonly []; readonly program: Program };

/**
 * Checks a script to its end: a statement with a mistake is left out, and the others are read. `assume` is called for a
 * name that nothing has, and may add it to `data`.
 */
export function checkScript(
  script: ScriptInput,
  underlyings: readonly string[],
  data: DataKinds,
  name: string,
  assume: Findings["assume"] = () => false,
): CheckedScript {
  const found: Findings = { mistakes: [], assume };
  try {
    const program = compile(script, underlyings, data, name, [], found);
    const [first, ...others] = found.mistakes;
    return first === undefined ? { mistakes: [], program } : { mistakes: [first, ...others] };
  } catch (error) {
    if (!(error instanceof KernelError || error instanceof SpecError)) throw error;
    // One of the whole script, such as a state without a value.
    return { mistakes: [{ event: undefined, error }, ...found.mistakes] };
  }
}

function compile(
  script: ScriptInput,
  letters: readonly string[],
  data: DataKinds,
  name: string,
  paid: readonly PaidRate[],
  found?: Findings,
): Program {
  const who = `script "${name}"`;
  for (const one of data.keys()) checkName(one, `${who}: data.${one}`);
  if (script.events.length === 0) throw new SpecError(`${who}: events: got none, expected at least one`);
  for (const letter of letters) checkName(letter, `${who}: underlyings.${letter}`);
  const states = statesOf(script, letters.length, data, who);
  const initialAt = states.reduce((at, state) => Math.max(at, state.at + state.count), PAID + 2);
  const lastAt = initialAt + letters.length;
  const named = script.events.flatMap(({ on }) => (Array.isArray(on) ? [...on] : [on]));
  const dates = new Set(named.filter((one): one is string => typeof one === "string" && data.has(one)));
  const usage: Usage = {
    sites: [],
    rights: [],
    dated: script.events.map(() => []),
    scalars: [],
    usesInitial: false,
    usesLast: false,
    usesTime: false,
    stops: false,
    locals: 0,
    nodes: 0,
  };
  const names = { letters, states, data, dates, initialAt, lastAt, paid, found };
  const events = script.events.map(({ on, do: text }, event): ProgramEvent => {
    const source = new EventSource(`${who}, event ${event + 1}`, text);
    return { on, body: readStatements(new EventScope(source, event, names, usage)) };
  });
  for (const state of states)
    if (typeof state.initial === "string" && !usage.scalars.some((one) => one.name === state.initial))
      usage.scalars.push({ name: state.initial, part: 0 });
  checkPayments(usage, data, who);
  const spotLike = letters.flatMap((_, k) => [initialAt + k, lastAt + k]);
  const { jumps, isReal } = factsOf(
    events.map(({ body }) => body),
    spotLike,
  );
  const { usesInitial, usesLast, sites, rights, stops, scalars } = usage;
  checkRights(rights, who);
  const carried = lastAt + (usesLast ? letters.length : usesInitial ? 0 : -letters.length);
  const hasRights = rights.length > 0;
  const paidOn = sites.flatMap(({ on }) => (on === undefined ? [] : [on]));
  return {
    name,
    key: keyOfScript(script, letters, data, paid),
    letters,
    assets: Math.max(letters.length, ...paid.map(({ asset }) => asset + 1)),
    events,
    states: states.map((state) => ({ ...state, values: valuesOf(state, isReal) })),
    running: carried + (hasRights ? 2 : 0),
    initialAt: usesInitial ? initialAt : undefined,
    lastAt: usesLast ? lastAt : undefined,
    scalars,
    columns: columnsOf(usage),
    sites,
    stops,
    rightAt: hasRights ? carried : undefined,
    rights,
    jumps,
    uses: new Set([...dates, ...paidOn, ...usage.dated.flat(), ...scalars.map((one) => one.name)]),
  };
}

const valuesOf = ({ at, count, type }: State, isReal: ReadonlySet<number>): ProgramState["values"] => {
  if (type === "truth") return "flag";
  return Array.from({ length: count }, (_, k) => at + k).some((one) => isReal.has(one)) ? "real" : "finite";
};

const columnsOf = ({ usesInitial, usesTime, dated, sites }: Usage): readonly DatedColumn[] => [
  ...(usesInitial ? [{ kind: "happens", event: "start" } as const] : []),
  ...dated.map((_, event) => ({ kind: "happens", event }) as const),
  ...(usesTime ? [{ kind: "time" } as const] : []),
  ...dated.flatMap((own, event) => own.map((name) => ({ kind: "dated", event, name }) as const)),
  ...sites.flatMap(({ on, rate }, site) => ((on ?? rate) === undefined ? [] : [{ kind: "delay", site } as const])),
];

/** Checks that no event has rights of both sides, of which one would have to be the first. @throws SpecError */
function checkRights(rights: Program["rights"], who: string): void {
  const both = rights.find(({ event, of }) => rights.some((one) => one.event === event && one.of !== of));
  if (both !== undefined)
    throw new SpecError(`${who}, event ${both.event + 1}: exercise(…) and call(…); give each an event of its own`);
}

/** Checks that nothing is a date and a number. @throws SpecError */
function checkPayments({ sites, scalars, dated }: Usage, data: DataKinds, who: string): void {
  for (const { on, event } of sites) {
    if (on === undefined) continue;
    const where = `${who}, event ${event + 1}: pay on ${on}`;
    if (data.get(on) === "each") throw new SpecError(`${where}: got numbers of underlyings, expected a date`);
    if (scalars.some(({ name }) => name === on) || dated.some((names) => names.includes(on)))
      throw new SpecError(`${where}: the script reads it as a number, too; give the date a name of its own`);
  }
}
