/** Building blocks of the schemas. Their error messages have the form "expected …, got …". */
import * as z from "zod";
import { didYouMean, quote, show } from "../names.ts";
import type { Tags } from "../types.ts";
import { pathOf } from "../paths.ts";
import { type AsOf, ISO, MAX_YEARS, parseAsOf, parseTime, TENOR, type TimeSpec } from "../time.ts";
import {
  type Context,
  converting,
  type Inside,
  type Input,
  listing,
  ObjectSchema,
  type Output,
  REFUSED,
  type Schema,
  type Shape,
  ZodBacked,
} from "./schema.ts";

export type { Input, Output, Schema } from "./schema.ts";

/** A JSON Schema for a value, as far as zod cannot generate it. */
type Json = z.core.JSONSchema.JSONSchema;

function expected(what: string): { error: (issue: { input?: unknown }) => string } {
  return { error: (issue) => `expected ${what}, got ${show(issue.input)}` };
}

/** Returns the schema of values that pass a test. They are not converted. */
export function checked<T>(what: string, json: Json, test: (value: unknown) => boolean): Schema<T> {
  return new ZodBacked<z.ZodType<T, T>>(
    (value) => (test(value) ? (value as T) : REFUSED),
    () => z.custom<T>(test, expected(what)).meta({ description: what, ...json }),
  );
}

/** Returns the schema of finite numbers within bounds. `what` describes them in error messages. */
export function numberWhere(what: string, bounds: Bounds): Schema<number> {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity } = bounds;
  const passes = (value: number): boolean => value >= minimum && value <= maximum && value > exclusiveMinimum;
  return checked(
    what,
    { type: "number", ...bounds },
    (value) => typeof value === "number" && Number.isFinite(value) && passes(value),
  );
}

interface Bounds {
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
}

/** The maximum of rates and volatilities, 10,000 %. Larger ones are mistakes and would overflow in computations. */
const MAX_RATE = 100;

/** The schema of a finite number. */
export const finite = numberWhere("a finite number", {});
/** The schema of a positive number. */
export const positive = numberWhere("a positive number", { exclusiveMinimum: 0 });
/** The schema of a nonnegative number. */
export const notNegative = numberWhere("a number ≥ 0", { minimum: 0 });
/** The schema of an interest rate, a decimal per year. */
export const rate = numberWhere(`a rate between −${MAX_RATE} and ${MAX_RATE} (0.03 is 3 %)`, {
  minimum: -MAX_RATE,
  maximum: MAX_RATE,
});
/** The schema of a volatility, a decimal per √year, which may be 0. */
export const volatility = numberWhere(`a volatility from 0 to ${MAX_RATE} (0.2 is 20 %)`, {
  minimum: 0,
  maximum: MAX_RATE,
});
/** The schema of a positive volatility. */
export const positiveVolatility = numberWhere(`a volatility above 0, up to ${MAX_RATE} (0.2 is 20 %)`, {
  exclusiveMinimum: 0,
  maximum: MAX_RATE,
});
/** The schema of counts and seeds, up to the largest exact integer. */
export const wholeNumber: Schema<number> = checked(
  "a whole number from 0",
  { type: "integer", minimum: 0, maximum: Number.MAX_SAFE_INTEGER },
  (value) => Number.isSafeInteger(value) && (value as number) >= 0,
);
/** Returns the schema of a whole number between bounds. `what` describes the number in error messages. */
export const wholeNumberFrom = (minimum: number, maximum: number, what: string): Schema<number> =>
  checked(
    what,
    { type: "integer", minimum, maximum },
    (value) => Number.isSafeInteger(value) && (value as number) >= minimum && (value as number) <= maximum,
  );
/** The schema of a lag; every day of it is looked up in a calendar. */
export const businessDays = wholeNumberFrom(0, 366, "business days, a whole number from 0 to 366");
/** The schema of a boolean. */
export const trueOrFalse: Schema<boolean> = checked(
  "true or false",
  { type: "boolean" },
  (value) => typeof value === "boolean",
);
/** The schema of a number from 0 to 1. */
export const fraction = numberWhere("a number from 0 to 1", { minimum: 0, maximum: 1 });
/** The schema of a correlation. */
export const correlation = numberWhere("a correlation from −1 to 1", { minimum: -1, maximum: 1 });

/** The schema of a name, a string that is not empty. */
export const name: Schema<string> = checked(
  "a name (a string that is not empty)",
  { type: "string", minLength: 1 },
  (value) => typeof value === "string" && value !== "",
);
/** The schema of a formula's text; its syntax is checked later. */
export const formula: Schema<string> = checked(
  "a formula (a string of 1 to 10,000 characters)",
  { type: "string", pattern: "\\S", maxLength: 10_000 },
  (value) => typeof value === "string" && value.trim() !== "" && value.length <= 10_000,
);

/** Common abbreviations with the words that they mean. They are not accepted, but the words are suggested. */
const ABBREVIATED: ReadonlyMap<string, string> = new Map([
  ["c", "call"],
  ["p", "put"],
  ["e", "european"],
  ["a", "american"],
  ["uo", "up-and-out"],
  ["ui", "up-and-in"],
  ["do", "down-and-out"],
  ["di", "down-and-in"],
]);

/**
 * Suggests the word that was probably meant: that of an abbreviation, or else the most similar one. The text is empty
 * if there is none.
 */
function suggestWord(text: string, words: readonly string[]): string {
  const meant = ABBREVIATED.get(text.trim().toLowerCase());
  return meant !== undefined && words.includes(meant)
    ? ` (did you mean ${quote(meant)}?)`
    : didYouMean(text.trim(), words);
}

/**
 * `or` describes the values that are allowed besides the words. `remedies` says what to write instead of some words
 * that are not allowed.
 */
interface Otherwise {
  readonly or?: string;
  readonly remedies?: Readonly<Record<string, string>>;
}

/** Returns the schema of one of several words. Error messages suggest the word nearest to the given one. */
export function word<const W extends string>(words: readonly W[], { or, remedies = {} }: Otherwise = {}): Schema<W> {
  const known = words.map((one) => `"${one}"`);
  const what = (or === undefined ? known : [...known, or]).join(", ").replace(/, (?=[^,]*$)/, " or ");
  const remedyOf = (text: string): string => {
    const key = text.trim().toLowerCase();
    return Object.hasOwn(remedies, key) ? `; ${remedies[key]}` : suggestWord(text, words);
  };
  const isKnown = (value: unknown): boolean => words.includes(value as W);
  return new ZodBacked<z.ZodType<W, W>>(
    (value) => (isKnown(value) ? (value as W) : REFUSED),
    () =>
      z
        .custom<W>(isKnown, {
          error: ({ input }) =>
            `expected ${what}, got ${show(input)}${typeof input === "string" ? remedyOf(input) : ""}`,
        })
        .meta({ enum: [...words] }),
  );
}

/** Returns the schema of values that are validated and converted by a function. */
function made<T, I>(json: Json, make: (value: unknown, context: Context) => T, inside: Inside = {}): Schema<T, I> {
  const zod = (): z.ZodType =>
    z
      .unknown()
      .transform((value, context) => make(value, context))
      .meta(json);
  return new ZodBacked<z.ZodType<T, I>>(converting(make), () => zod() as z.ZodType<T, I>, inside);
}

/** The JSON Schema of a date or instant. It does not check the calendar, which the parser does. */
const ISO_TEXT = { type: "string", pattern: ISO.source } as const;

/** The schema of the valuation date or instant. */
export const asOf = made<AsOf, string>(
  { description: "an ISO date or instant", ...ISO_TEXT },
  (value, context): AsOf => {
    const parsed = typeof value === "string" ? parseAsOf(value) : undefined;
    if (parsed !== undefined) return parsed;
    const what = `an ISO date or instant ("2026-11-20T16:00:00Z")`;
    context.addIssue({ code: "custom", message: `expected ${what}, got ${show(value)}` });
    return z.NEVER;
  },
);

const TIME: Json = {
  description: "an ISO date or instant, a tenor (1Y, 6M, 2W, 10D), or years from asOf",
  anyOf: [
    ISO_TEXT,
    { type: "string", pattern: TENOR.source },
    { type: "number", minimum: -MAX_YEARS, maximum: MAX_YEARS },
  ],
};

/** The schema of a time: an ISO date or instant, a tenor, or a number of years from asOf. */
export const time = made<TimeSpec, string | number>(TIME, (value, context): TimeSpec => {
  if (typeof value === "number" && Math.abs(value) <= MAX_YEARS) return { kind: "years", years: value };
  const parsed = typeof value === "string" ? parseTime(value) : undefined;
  if (parsed !== undefined) return parsed;
  const what =
    `an ISO date or instant ("2027-11-20", "2027-11-20T16:00:00Z"), a tenor ("1Y", "6M", "2W", "10D"), ` +
    `or years from asOf up to ${MAX_YEARS}`;
  context.addIssue({ code: "custom", message: `expected ${what}, got ${show(value)}` });
  return z.NEVER;
});

/**
 * Returns the schema of an object with exactly the given fields. The error message for any other field names the
 * nearest known field.
 */
export function object<S extends Shape>(shape: S): ObjectSchema<S> {
  return new ObjectSchema(shape, (issue) => {
    if (issue.code !== "unrecognized_keys") return `expected an object, got ${show(issue.input)}`;
    const known = Object.keys(shape);
    return `unknown field${didYouMean(issue.keys[0], known) || `; known are ${known.join(", ")}`}`;
  });
}

/**
 * Returns the schema of a model given by its name and its parameters, `{ [kind]: of }`, converted to `{ kind, ...of }`.
 */
export function named<const K extends string, T extends object, I>(
  kind: K,
  of: Schema<T, I>,
): Schema<{ kind: K } & T, { readonly [P in K]: I }> {
  return object({ [kind]: of }).transform((given) => ({ kind, ...given[kind] })) as never;
}

/** Returns the schema of a list with at least `min` items. `what` describes the list in error messages. */
export function list<T, I>(item: Schema<T, I>, what: string, min = 0): Schema<T[], readonly I[]> {
  return new ZodBacked<z.ZodType<T[], readonly I[]>>(listing(item, min), () =>
    z.array(item.zod, expected(what)).min(min, expected(what)).meta({ description: what }),
  );
}

/** Returns the schema of a list with one item for each of `items`. `what` describes the list in error messages. */
export function tuple<const T extends readonly [ZodBacked<z.ZodType>, ...ZodBacked<z.ZodType>[]]>(
  items: T,
  what: string,
): Schema<{ readonly [K in keyof T]: Output<T[K]> }, { readonly [K in keyof T]: Input<T[K]> }> {
  const read = (value: unknown): unknown => {
    if (!Array.isArray(value) || value.length !== items.length) return REFUSED;
    const accepted = items.map((item, i) => item.read(value[i]));
    return accepted.includes(REFUSED) ? REFUSED : Object.freeze(accepted);
  };
  return new ZodBacked(read as never, () => {
    const [first, ...others] = items.map(({ zod }) => zod);
    return z.tuple([first, ...others], expected(what)).readonly() as never;
  });
}

/**
 * Returns the schema of a record with arbitrary names, whose values all have the schema `item`. The result is a Map, so
 * that names such as `__proto__` or `constructor` are harmless.
 */
export function mapOf<T, I>(
  item: Schema<T, I>,
  what: string,
): Schema<ReadonlyMap<string, T>, { readonly [name: string]: I }> {
  const json: Json = { description: what, type: "object" };
  const make = (value: unknown, context: Context): ReadonlyMap<string, T> => {
    if (!isPlainObject(value)) {
      context.addIssue({ code: "custom", message: `expected ${what}, got ${show(value)}` });
      return z.NEVER;
    }
    const entries = new Map<string, T>();
    for (const [key, entry] of Object.entries(value)) entries.set(key, inner(item, entry, context, key));
    return entries;
  };
  return made(json, make, { values: item });
}

const isTag = (value: unknown): value is string | number =>
  typeof value === "string" || (typeof value === "number" && Number.isFinite(value));

/** The schema of a trade's tags. */
export const tags: Schema<Tags> = checked(
  'an object of texts and numbers, { "desk": "Paris" }',
  { type: "object", additionalProperties: { type: ["string", "number"] } },
  (value) => isPlainObject(value) && Object.values(value).every(isTag),
);

/**
 * The schemas of the alternative forms of a value, by its type. Objects are distinguished by a field that only one form
 * has (`marked`).
 */
interface Forms<T> {
  readonly number?: Schema<T, unknown>;
  readonly string?: Schema<T, unknown>;
  readonly list?: Schema<T, unknown>;
  /** The schema of objects without such a field. */
  readonly object?: Schema<T, unknown>;
  readonly marked?: Readonly<Record<string, Schema<T, unknown>>>;
}

/** The union of the schemas in `F`. */
type SchemasOf<F> = Extract<
  F[Exclude<keyof F, "marked">] | (F extends { readonly marked: infer M } ? M[keyof M] : never),
  ZodBacked<z.ZodType>
>;

/**
 * Returns the schema of a value that may have one of several forms. The form is chosen by inspecting the value, so that
 * error messages refer to the intended form, which they do not with a plain union.
 */
export function choose<const F extends Forms<unknown>>(
  what: string,
  forms: F,
  /** Returns a suggestion for a value that has none of these forms. */
  remedyOf: (value: unknown) => string = () => "",
): Schema<Output<SchemasOf<F>>, Input<SchemasOf<F>>> {
  const { marked = {}, ...plain }: Forms<unknown> = forms;
  type T = Output<SchemasOf<F>>;
  const make = (value: unknown, context: Context): T => {
    const schema = formOf(value, forms);
    if (schema === undefined) {
      const got = `${show(value)}${suggestForm(value, forms)}${remedyOf(value)}`;
      context.addIssue({ code: "custom", message: `expected ${what}, got ${got}` });
      return z.NEVER;
    }
    return inner(schema, value, context) as T;
  };
  return made({ description: what }, make, {
    forms: [...new Set([...Object.values(plain), ...Object.values(marked)])],
  });
}

function formOf<T>(
  value: unknown,
  { number, string, list: array, object: plain, marked = {} }: Forms<T>,
): Schema<T, unknown> | undefined {
  if (typeof value === "number") return number;
  if (typeof value === "string") return string;
  if (Array.isArray(value)) return array;
  if (!isPlainObject(value)) return undefined;
  const mark = Object.keys(marked).find((field) => Object.hasOwn(value, field));
  return mark === undefined ? plain : marked[mark];
}

function suggestForm<T>(value: unknown, { marked = {} }: Forms<T>): string {
  if (!isPlainObject(value)) return "";
  const [field] = Object.keys(value);
  return field === undefined ? "" : ` with ${quote(field)}${didYouMean(field, Object.keys(marked))}`;
}

/** Tells whether a value is an object other than a list. */
export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Validates a value inside a larger one by its schema. Problems are added to those of the larger value. */
function inner<T>(schema: Schema<T, unknown>, value: unknown, context: Context, ...prefix: readonly PropertyKey[]): T {
  const accepted = schema.read(value);
  if (accepted !== REFUSED) return accepted;
  const result = schema.zod.safeParse(value);
  if (result.success) return result.data;
  for (const issue of result.error.issues)
    context.addIssue({ code: "custom", message: issue.message, path: [...prefix, ...pathOf(issue)] });
  return z.NEVER;
}
