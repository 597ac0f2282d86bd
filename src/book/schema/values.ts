/** Building blocks of the schemas: values with one wording of errors, "expected …, got …". */
import * as z from "zod";
import { didYouMean, quote, show } from "../names.ts";
import { MOST_YEARS, parseTime, type TimeSpec } from "../time.ts";

/** A schema whose output is T, whatever comes in. */
export type Schema<T> = z.ZodType<T>;

function expected(what: string): { error: (issue: { input?: unknown }) => string } {
  return { error: (issue) => `expected ${what}, got ${show(issue.input)}` };
}

/** A value as it is, if it passes. */
function checked<T>(what: string, test: (value: unknown) => boolean): Schema<T> {
  return z.custom<T>(test, expected(what));
}

export function numberWhere(what: string, test: (value: number) => boolean): Schema<number> {
  return checked(what, (value) => typeof value === "number" && Number.isFinite(value) && test(value));
}

/** Rates and volatilities beyond 10,000 % are mistakes, and would overflow what is made of them. */
const MOST_RATE = 100;

export const finite = numberWhere("a finite number", () => true);
export const positive = numberWhere("a positive number", (value) => value > 0);
export const notNegative = numberWhere("a number ≥ 0", (value) => value >= 0);
export const rate = numberWhere(
  `a rate between −${MOST_RATE} and ${MOST_RATE} (0.03 is 3 %)`,
  (value) => Math.abs(value) <= MOST_RATE,
);
export const volatility = numberWhere(
  `a volatility from 0 to ${MOST_RATE} (0.2 is 20 %)`,
  (value) => value >= 0 && value <= MOST_RATE,
);
export const positiveVolatility = numberWhere(
  `a volatility above 0, up to ${MOST_RATE} (0.2 is 20 %)`,
  (value) => value > 0 && value <= MOST_RATE,
);
export const fraction = numberWhere("a number from 0 to 1", (value) => value >= 0 && value <= 1);
export const correlation = numberWhere("a correlation from −1 to 1", (value) => value >= -1 && value <= 1);

export const name: Schema<string> = checked(
  "a name (a string that is not empty)",
  (value) => typeof value === "string" && value !== "",
);
export const formula: Schema<string> = checked(
  "a formula (a string of 1 to 10,000 characters)",
  (value) => typeof value === "string" && value.trim() !== "" && value.length <= 10_000,
);

/** One of several words, the nearest of which is suggested. */
export function word<const W extends string>(...words: W[]): Schema<W> {
  const what = words
    .map((known) => `"${known}"`)
    .join(", ")
    .replace(/, (?=[^,]*$)/, " or ");
  return z.custom<W>((value) => words.includes(value as W), {
    error: ({ input }) =>
      `expected ${what}, got ${show(input)}${typeof input === "string" ? didYouMean(input, words) : ""}`,
  });
}

/** An ISO date or instant, or a number of years from asOf. */
export const time: Schema<TimeSpec> = z.unknown().transform((value, context): TimeSpec => {
  if (typeof value === "number" && Math.abs(value) <= MOST_YEARS) return { kind: "years", years: value };
  const parsed = typeof value === "string" ? parseTime(value) : undefined;
  if (parsed !== undefined) return parsed;
  const what = `an ISO date or instant ("2027-11-20", "2027-11-20T16:00:00Z"), or years from asOf up to ${MOST_YEARS}`;
  context.addIssue({ code: "custom", message: `expected ${what}, got ${show(value)}` });
  return z.NEVER;
});

/** An object with exactly these fields; another field is an error that names the nearest known one. */
export function object<S extends z.core.$ZodLooseShape>(shape: S): z.ZodObject<S, z.core.$strict> {
  const known = Object.keys(shape);
  return z.strictObject(shape, {
    error: (issue) => {
      if (issue.code !== "unrecognized_keys") return `expected an object, got ${show(issue.input)}`;
      return `unknown field${didYouMean(issue.keys[0], known) || `; known are ${known.join(", ")}`}`;
    },
  });
}

export function list<T>(item: Schema<T>, what: string, least = 0): Schema<T[]> {
  return z.array(item, expected(what)).min(least, expected(what));
}

/** Whatever the names, one schema for every value. A Map, so that no name (`__proto__`, `constructor`) means anything. */
export function mapOf<T>(item: Schema<T>, what: string): Schema<ReadonlyMap<string, T>> {
  return z.unknown().transform((value, context): ReadonlyMap<string, T> => {
    if (!isPlainObject(value)) {
      context.addIssue({ code: "custom", message: `expected ${what}, got ${show(value)}` });
      return z.NEVER;
    }
    const entries = new Map<string, T>();
    for (const [key, entry] of Object.entries(value)) {
      const result = item.safeParse(entry);
      if (result.success) entries.set(key, result.data);
      else addIssues(context, result.error, key);
    }
    return entries;
  });
}

/** Schemas by what a value looks like: objects by the field that marks their form. */
interface Forms<T> {
  readonly number?: Schema<T>;
  readonly string?: Schema<T>;
  readonly list?: Schema<T>;
  readonly marked?: Readonly<Record<string, Schema<T>>>;
}

/**
 * One of several forms, told apart by a look at the value, so that errors speak of the form that was meant (a plain union
 * could only say that none of them fits).
 */
export function choose<T>(what: string, forms: Forms<T>): Schema<T> {
  return z.unknown().transform((value, context): T => {
    const schema = formOf(value, forms);
    if (schema === undefined) {
      context.addIssue({ code: "custom", message: `expected ${what}, got ${show(value)}${suggestForm(value, forms)}` });
      return z.NEVER;
    }
    const result = schema.safeParse(value);
    if (result.success) return result.data;
    addIssues(context, result.error);
    return z.NEVER;
  });
}

function formOf<T>(value: unknown, { number, string, list: array, marked = {} }: Forms<T>): Schema<T> | undefined {
  if (typeof value === "number") return number;
  if (typeof value === "string") return string;
  if (Array.isArray(value)) return array;
  if (!isPlainObject(value)) return undefined;
  const mark = Object.keys(marked).find((field) => Object.hasOwn(value, field));
  return mark === undefined ? undefined : marked[mark];
}

function suggestForm<T>(value: unknown, { marked = {} }: Forms<T>): string {
  if (!isPlainObject(value)) return "";
  const [field] = Object.keys(value);
  return field === undefined ? "" : ` with ${quote(field)}${didYouMean(field, Object.keys(marked))}`;
}

export function isPlainObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function addIssues(context: z.RefinementCtx, error: z.ZodError, ...prefix: PropertyKey[]): void {
  for (const issue of error.issues) {
    context.addIssue({ code: "custom", message: issue.message, path: [...prefix, ...pathOf(issue)] });
  }
}

/** Where a problem is; for an unknown field, the field itself. */
export function pathOf(issue: z.core.$ZodIssue): PropertyKey[] {
  return issue.code === "unrecognized_keys" ? [...issue.path, issue.keys[0]] : issue.path;
}
