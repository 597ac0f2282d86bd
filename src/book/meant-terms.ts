/** The terms of a trade that columns and tags with names of a desk's own seem to mean. */
import { BARRIERS, columnTerms } from "./column-terms.ts";
import { nearestName } from "./names.ts";
import type { BarrierType } from "./types.ts";

/** What tables of desks usually call a term, in small letters. Barriers have too many names for a list. */
const ALIASES: Readonly<Record<string, string>> = {
  id: "traderef tradeid trade ref reference dealid dealref dealnumber tradenumber",
  underlying: "ticker underlier asset symbol stock undl",
  payoff: "callput cp putcall pc optiontype right",
  strike: "strikeprice k",
  expiry: "maturity maturitydate expirydate expiration expirationdate exercisedate",
  exercise: "style exercisestyle optionstyle",
  quantity: "qty position units size lots",
  currency: "ccy",
  notional: "nominal",
  "swap.pay.rate": "payrate fixedrate",
  "swap.receive.index": "receiveindex floatindex",
  "swap.end": "swapend",
};

const plain = (name: string): string => name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, "");

/** The terms by other names for them: those of desks, and their own without dots, and whatever their letter case is. */
const byOtherName = (): ReadonlyMap<string, string> =>
  new Map([
    ...columnTerms().map((term) => [plain(term), term] as const),
    ...Object.entries(ALIASES).flatMap(([term, names]) => names.split(" ").map((name) => [name, term] as const)),
  ]);

/** What names of barriers have in common; Barra, barrels and Barrick are none. */
const BARRIER = /barr(?!a(?!ct)|el|ick)|knock|^k[io](?:ko)?$|^rebate/;
/** The same, for a word of a name such as `KOLevel` or `ki_level`. */
const BARRIER_WORD = /(?:^|[^\p{L}])k[io](?![\p{L}])|(?:^|[^\p{L}])K[IO](?=\p{Lu}\p{Ll}|[^\p{L}]|$)/u;

/** The parts of a barrier by what their names contain, the first that fits. What is nothing else is the level. */
const PARTS: readonly (readonly [RegExp, string])[] = [
  [/reb/, "rebate"],
  [/typ|kind|style|dir/, "type"],
  [/monit|obs|freq/, "monitoring"],
  [/breach|hit|knocked/, "breached"],
  [/undl|under|asset/, "underlying"],
  [/start|from|begin/, "from"],
  [/end|until/, "to"],
];

/** Whether a name of a desk's own seems to be that of a barrier or a part of one. */
export const namesBarrier = (name: string): boolean => BARRIER.test(plain(name)) || BARRIER_WORD.test(name);

/** The part of a barrier that a name means; of a second barrier if the name says so, or if the first is taken. */
function barrierTerm(name: string, taken: ReadonlySet<string>): string {
  const part = PARTS.find(([words]) => words.test(plain(name)))?.[1] ?? "level";
  const [first, second] = BARRIERS.map((barrier) => `${barrier}.${part}`);
  const others = [...taken].filter((other) => other !== name && namesBarrier(other));
  const isLower = /low|down/i.test(name) && others.some((other) => /up|high/i.test(other));
  const wanted = isLower || /2|second/i.test(name) ? [second, first] : [first, second];
  return wanted.find((term) => !taken.has(term)) ?? wanted[0];
}

const EXERCISES = ["european", "american", "bermudan"] as const;
const PAYOFFS = ["call", "put"] as const;
type Word =
  | { readonly term: "barrier.type"; readonly sides: readonly BarrierType[] }
  | { readonly term: "exercise"; readonly kind: (typeof EXERCISES)[number] }
  | { readonly term: "payoff"; readonly kind: (typeof PAYOFFS)[number] };

/** The words of terms, without dashes, spaces and capitals. */
const WORDS: ReadonlyMap<string, Word> = new Map<string, Word>([
  ...EXERCISES.map((kind) => [kind, { term: "exercise", kind }] as const),
  ...PAYOFFS.map((kind) => [kind, { term: "payoff", kind }] as const),
  ...(["out", "in"] as const).flatMap((way) => {
    const all = (["up", "down"] as const).map((side) => {
      const word: Word = { term: "barrier.type", sides: [`${side}-and-${way}`] };
      return [side, word] as const;
    });
    const either: Word = { term: "barrier.type", sides: [`up-and-${way}`, `down-and-${way}`] };
    return [
      ...all.flatMap(([side, word]) => [[`${side}and${way}`, word] as const, [`${side}${way}`, word] as const]),
      [`knock${way}`, either] as const,
    ];
  }),
]);

/** The longest text that is looked up among the words. */
const MAX_WORD = 20;

/** Returns the meaning of a text that is a word of a term, such as "Up and Out"; undefined for any other. */
export function wordOf(value: unknown): Word | undefined {
  return typeof value === "string" && value.length <= MAX_WORD ? WORDS.get(plain(value)) : undefined;
}

/**
 * Returns the term that a column seems to mean by its name, or by cells that are words of terms; undefined if there is
 * none. Names that desks use for terms in `taken` may mean something else.
 */
export function nearestTerm(
  name: string,
  taken: ReadonlySet<string>,
  cells: readonly unknown[] = [],
): string | undefined {
  const usual = byOtherName().get(plain(name));
  if (usual !== undefined && !taken.has(usual)) return usual;
  if (namesBarrier(name)) return barrierTerm(name, taken);
  const word = cells.map(wordOf).find((one) => one !== undefined);
  if (word !== undefined) return word.term === "barrier.type" ? barrierTerm("type", taken) : word.term;
  return nearestName(name, columnTerms());
}
