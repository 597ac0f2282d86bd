/** Checks the scripts of a book, or a script in a file of its own, and says what is in them. */
import { BookError } from "../base/errors.ts";
import {
  checkScript,
  type DataKind,
  letters,
  library,
  type Program,
  type ScriptInput,
  type ScriptMistake,
} from "../market/scripts/index.ts";
import { type BookHeader, readHeader } from "./book.ts";
import { show } from "./names.ts";
import { accept, inBook, type PathOf } from "./paths.ts";
import {
  isPlainObject,
  REFUSED,
  type ScriptedTradeSpec,
  scriptedTradeSchema,
  scriptSchema,
  scriptDatumSchema,
} from "./schema/index.ts";

/** A script that was checked. */
export interface ScriptCheck {
  /** The position of the script or of its trade in the file: `trades[3]`, `market.scripts.note`; empty for the file. */
  readonly where: string;
  /** The id of the trade, or the name of the script; undefined for a file of one script. */
  readonly name: string | undefined;
  /** What is wrong, each with the index of its event if it is in one. */
  readonly mistakes: readonly { readonly event: number | undefined; readonly message: string }[];
  readonly script: ScriptInput | undefined;
  /** The compiled script, unless it has mistakes. */
  readonly program: Program | undefined;
  /** The kinds of the data, and the names of those that are only assumed, because nothing says what they are. */
  readonly data: ReadonlyMap<string, DataKind>;
  readonly assumed: readonly string[];
}

type Fields = Readonly<Record<string, unknown>>;

/**
 * Checks all scripts of a file: those of a book's trades and of its market, that of one trade, or one script. Data that
 * are not given are assumed to be dates where an event or a payment is on them, and numbers elsewhere.
 *
 * @throws BookError for a file that contains nothing of these
 */
export function checkScripts(value: unknown): ScriptCheck[] {
  if (isPlainObject(value)) {
    const fields: Fields = value;
    if (fields["asOf"] !== undefined || fields["market"] !== undefined) return checkBook(readHeader(value));
    if (fields["events"] !== undefined) return [checkAlone(fields)];
    if (fields["script"] !== undefined) {
      const spec = accept(scriptedTradeSchema, { id: "-", ...fields }, inBook());
      return [checkTrade(spec, undefined, "", undefined)];
    }
  }
  throw new BookError(
    "",
    `expected a script (an object with state and events), a trade with a script, or a book, got ${show(value)}`,
  );
}

function checkBook(header: BookHeader): ScriptCheck[] {
  const used = new Set<string>();
  const trades = header.trades.flatMap((entry, i): ScriptCheck[] => {
    if (!isPlainObject(entry) || (entry as Fields)["script"] === undefined) return [];
    const spec = scriptedTradeSchema.read(entry);
    const parsed = header.readEntry(entry, i);
    const problem = parsed.ok ? undefined : parsed.error.message;
    const where = inBook("trades", i)();
    if (spec === REFUSED) return [{ ...NOTHING, where, name: idOf(entry), mistakes: whole(problem ?? "") }];
    if (typeof spec.script === "string") used.add(spec.script);
    return [checkTrade(spec, header, where, problem)];
  });
  const others = [...header.market.scripts].filter(([name]) => !used.has(name));
  const checked = others.map(([name, script]) =>
    check(script, lettersIn(script), undefined, { where: inBook("market", "scripts", name)(), name }),
  );
  return [...trades, ...checked];
}

const idOf = ({ id }: Fields): string | undefined => (typeof id === "string" ? id : undefined);

const NOTHING = { script: undefined, program: undefined, data: new Map<string, DataKind>(), assumed: [] } as const;

const whole = (message: string): ScriptCheck["mistakes"] => [{ event: undefined, message }];

/** Checks the script of a trade. `problem` is what keeps the trade from being read, if something does. */
function checkTrade(
  { id, script, underlyings, data }: ScriptedTradeSpec,
  header: BookHeader | undefined,
  where: string,
  problem: string | undefined,
): ScriptCheck {
  const name = id === "-" ? undefined : id;
  const known = typeof script === "string" ? (header?.market.scripts.get(script) ?? ofLibrary(script)) : script;
  if (known === undefined) return { ...NOTHING, where, name, mistakes: whole(problem ?? "unknown script") };
  const own =
    underlyings === undefined
      ? letters(1)
      : Array.isArray(underlyings)
        ? letters(underlyings.length)
        : [...underlyings.keys()];
  const kinds = new Map([...(data ?? [])].map(([datum, { kind }]): [string, DataKind] => [datum, kind]));
  const found = check(known, own, kinds, { where, name });
  return found.mistakes.length > 0 || problem === undefined ? found : { ...found, mistakes: whole(problem) };
}

const ofLibrary = (name: string): ScriptInput | undefined => (Object.hasOwn(library, name) ? library[name] : undefined);

const KINDS = { number: true, numbers: true, each: true, date: true, dates: true } as const satisfies Record<
  DataKind,
  true
>;

/** Checks a script that is a file of its own. It may say which underlyings and data it has. */
function checkAlone({ underlyings, data, ...rest }: Fields): ScriptCheck {
  const script = accept(scriptSchema, rest, inBook());
  const isList =
    Array.isArray(underlyings) && underlyings.length > 0 && underlyings.every((one) => typeof one === "string");
  if (underlyings !== undefined && !isList)
    throw new BookError("underlyings", `expected a list of names in the script, got ${show(underlyings)}`);
  const own = isList ? (underlyings as readonly string[]) : lettersIn(script);
  return check(script, own, data === undefined ? undefined : kindsOf(data, inBook("data")), {
    where: "",
    name: undefined,
  });
}

function kindsOf(data: unknown, pathOf: PathOf): Map<string, DataKind> {
  if (!isPlainObject(data)) throw new BookError(pathOf(), `expected an object of data by name, got ${show(data)}`);
  return new Map(
    Object.entries(data).map(([name, given]) => {
      const isKind = typeof given === "string" && Object.hasOwn(KINDS, given);
      return [
        name,
        isKind ? (given as DataKind) : accept(scriptDatumSchema, given, (...path) => pathOf(name, ...path)).kind,
      ];
    }),
  );
}

/** The underlyings that a script names after S, S0 and last; A where it names none. */
function lettersIn({ events }: ScriptInput): readonly string[] {
  const named = events.flatMap(({ do: text }) => [...text.matchAll(/\b(?:S0?|last)\.([A-Za-z_]\w*)/g)]);
  const found = [...new Set(named.map(([, name]) => name))].toSorted();
  return found.length === 0 ? letters(1) : found;
}

function check(
  script: ScriptInput,
  own: readonly string[],
  given: ReadonlyMap<string, DataKind> | undefined,
  place: Pick<ScriptCheck, "where" | "name">,
): ScriptCheck {
  const data = new Map(given ?? []);
  const assumed: string[] = [];
  const add = (name: string, kind: DataKind): void => {
    data.set(name, kind);
    assumed.push(name);
  };
  if (given === undefined) {
    for (const { on } of script.events)
      for (const one of Array.isArray(on) ? (on as readonly (string | number)[]) : [on])
        if (typeof one === "string" && /^[A-Za-z_]\w*$/.test(one) && !data.has(one)) add(one, "dates");
    for (const state of Object.values(script.state ?? {}))
      if (typeof state === "string" && !data.has(state)) add(state, "number");
  }
  const assume = (name: string, kind: "number" | "date"): boolean => {
    if (given !== undefined) return false;
    add(name, kind);
    return true;
  };
  const found = checkScript(script, own, data, place.name ?? "of the file", assume);
  const kept = { ...place, script, data, assumed };
  if (found.mistakes.length > 0) return { ...kept, program: undefined, mistakes: messagesOf(found.mistakes) };
  const { program } = found as { readonly program: Program };
  const isPaying = program.sites.length + program.rights.length > 0;
  return {
    ...kept,
    program,
    mistakes: isPaying ? [] : whole("it pays nothing; expected pay(amount) in one of its events"),
  };
}

/** The messages of mistakes, each once: what is done for each underlying is read for each. */
function messagesOf(mistakes: readonly ScriptMistake[]): ScriptCheck["mistakes"] {
  const known = new Set<string>();
  return mistakes.flatMap(({ event, error: { message } }) => {
    const key = `${event} ${message}`;
    if (known.has(key)) return [];
    known.add(key);
    return [{ event, message }];
  });
}
