/** What a form reads of the book's JSON Schema: which form a value has, what a new one begins with, and names. */

/** The part of JSON Schema that the book's schema uses. */
export interface Schema {
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly pattern?: string;
}

export type Plain = Readonly<Record<string, unknown>>;

/** What a form knows of the book beside the value: names to choose from, the currency of amounts, today. */
export interface FormContext {
  /** Names of the market by the field that takes them: `underlying`, `currency`, `curve`. */
  readonly names: Readonly<Record<string, readonly string[]>>;
  readonly currency: string | undefined;
  readonly asOf: string;
  /** What new fields begin with, by their names. */
  readonly starts: Plain;
}

export function isTime({ description, anyOf }: Schema): boolean {
  return anyOf !== undefined && description?.startsWith("an ISO date or instant, a tenor") === true;
}

/** Whether the schema's numbers are parts of one that are read as percent: rates and volatilities. */
export function isShare({ description }: Schema): boolean {
  return / is \d+ %\)/.test(description ?? "");
}

/** How well a value has a form: more fields of it, fewer others. −Infinity where its type is another. */
export function likeness(schema: Schema, value: unknown): number {
  if (schema.enum !== undefined) return schema.enum.includes(value as string) ? 1 : -Infinity;
  if (schema.anyOf !== undefined) return Math.max(...schema.anyOf.map((option) => likeness(option, value)));
  const type = Array.isArray(value) ? "array" : typeof value;
  if (type === "string" && schema.pattern !== undefined && !new RegExp(schema.pattern).test(String(value))) return -1;
  const types = [schema.type ?? type].flat().map((one) => (one === "integer" ? "number" : one));
  if (!types.includes(type) || value === null) return -Infinity;
  if (type !== "object" || schema.properties === undefined) return 0;
  const { properties, required = [] } = schema;
  const present = required.filter((key) => Object.hasOwn(value as object, key)).length;
  const unknown = Object.keys(value as object).filter((key) => !Object.hasOwn(properties, key)).length;
  return 2 * present - required.length - unknown;
}

/** The option of several that a value has most of. */
export function closest<T>(options: readonly T[], schemaOf: (option: T) => Schema, value: unknown): T {
  const scores = options.map((option) => likeness(schemaOf(option), value));
  return options[scores.indexOf(Math.max(...scores))];
}

/** What a new value begins with. `key` is the field it is for. */
export function blank(schema: Schema, context: FormContext, key = ""): unknown {
  const start = context.starts[key] ?? context.names[key]?.[0];
  const isAmount = typeof start === "number" && start > 1;
  if (start !== undefined && likeness(schema, start) > -Infinity && !(isAmount && isShare(schema))) return start;
  if (schema.enum !== undefined) return schema.enum[0];
  if (isTime(schema)) return "1Y";
  if (schema.anyOf !== undefined) return blank(schema.anyOf[0], context, key);
  if (schema.prefixItems !== undefined) return schema.prefixItems.map((item) => blank(item, context));
  switch ([schema.type].flat()[0]) {
    case "object":
      return Object.fromEntries(
        (schema.required ?? []).map((name) => [name, blank(schema.properties?.[name] ?? {}, context, name)]),
      );
    case "array":
      return Array.from({ length: Math.max(schema.minItems ?? 0, 1) }, () => blank(schema.items ?? {}, context));
    case "number":
    case "integer":
      return isShare(schema) ? 0.03 : schema.exclusiveMinimum === undefined ? (schema.minimum ?? 0) : 1;
    case "boolean":
      return true;
    default:
      return "";
  }
}

const WORDS: Readonly<Record<string, string>> = {
  id: "Name",
  cev: "CEV",
  sabr: "SABR",
  fra: "forward rate agreement",
  cds: "credit default swap",
  on: "Of",
  v0: "v₀",
  every: "Paid every",
  from: "From",
  to: "To",
  do: "Do",
  at: "Paid at",
  hit: "at the breach",
  dirty: "with accrued interest",
  clean: "without accrued interest",
  cashflows: "cash flows",
  local: "formula",
  expression: "formula",
};

/** A name of the format in words: "payment lag" of `paymentLag`. Names such as "EURIBOR-3M" stay as they are. */
export function words(name: string): string {
  if (Object.hasOwn(WORDS, name)) return WORDS[name];
  if (/^[a-z][a-zA-Z]*$/.test(name)) return name.replace(/([A-Z])/g, " $1").toLowerCase();
  return /^[a-z]+(?:-[a-z]+)+$/.test(name) ? name.replaceAll("-", " ") : name;
}

/** Field names begin with a capital. */
export function titleOf(name: string): string {
  const text = words(name);
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A form that a value may have, with its name in a menu. */
export interface Choice {
  readonly label: string;
  readonly schema: Schema;
  /** The word that is the value, where the form is a word. */
  readonly word?: string;
}

/** The forms of a value; each word of an enumeration is one. */
export function choicesOf(options: readonly Schema[]): Choice[] {
  return options.flatMap((schema): Choice[] =>
    schema.enum === undefined
      ? [{ label: formTitle(schema, options), schema }]
      : schema.enum.map((word) => ({ label: words(word), schema, word })),
  );
}

/** What a form has that the others have not, in words. */
function formTitle(schema: Schema, options: readonly Schema[]): string {
  const others = options.filter((one) => one !== schema).flatMap(({ required = [] }) => required);
  const { required = [], properties = {}, items } = schema;
  switch ([schema.type].flat()[0]) {
    case "object": {
      const own = required.filter((key) => !others.includes(key));
      return (own.length > 0 ? own : [required[0] ?? Object.keys(properties)[0] ?? "fields"]).map(words).join(", ");
    }
    case "array":
      return items !== undefined && isTime(items) ? "dates" : "a list";
    case "number":
    case "integer":
      return "a number";
    case "boolean":
      return "yes or no";
    default:
      return "a name";
  }
}
