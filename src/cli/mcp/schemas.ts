/** The schema of a book for assistants, whose context it must not fill: parts of it, to the depth that fits. */
import { isDeepStrictEqual } from "node:util";
import { CliError } from "../failure.ts";
import { bookJsonSchema, didYouMean, quote } from "../../book/index.ts";

/** A JSON Schema, or a part of one. */
export type Json = Readonly<Record<string, unknown>>;

const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** The fields of a JSON Schema that are kept where the rest is cut off. */
const HEAD = ["type", "description", "enum", "minimum", "maximum"] as const;

/** Returns a schema whose inner parts end after some levels. What is cut off keeps its description. */
function cut(schema: unknown, levels: number): unknown {
  if (!isObject(schema)) return schema;
  const { properties, anyOf, items, additionalProperties: rest, ...own } = schema;
  if (levels === 0) return Object.fromEntries(HEAD.flatMap((name) => (name in schema ? [[name, schema[name]]] : [])));
  const inner = (part: unknown): unknown => cut(part, levels - 1);
  return {
    ...own,
    ...(isObject(properties)
      ? { properties: Object.fromEntries(Object.entries(properties).map(([name, part]) => [name, inner(part)])) }
      : {}),
    ...(Array.isArray(anyOf) ? { anyOf: anyOf.map(inner) } : {}),
    ...(items === undefined ? {} : { items: inner(items) }),
    ...(rest === undefined ? {} : { additionalProperties: isObject(rest) ? inner(rest) : rest }),
  };
}

/** Returns a schema to the largest depth at which its text has at most so many characters. */
export function fitted(schema: Json, characters: number): Json {
  let found = cut(schema, 1);
  for (let levels = 2; ; levels++) {
    const deeper = cut(schema, levels);
    const text = JSON.stringify(deeper);
    if (text.length > characters) return found as Json;
    if (text === JSON.stringify(found)) return deeper as Json;
    found = deeper;
  }
}

/** Returns the schema of a part of a book, such as `market.rates` or `trades.swap`. @throws CliError an unknown name */
export function partOf(path: string): Json {
  let schema: Json = bookJsonSchema();
  const done: string[] = [];
  for (const name of path.split(".").filter((one) => one !== "")) {
    const found = childOf(schema, name);
    if (found === undefined) {
      const known = [...new Set(namesOf(schema))];
      const place = done.length === 0 ? "a book" : done.join(".");
      throw new CliError(`${place} has no ${quote(name)}${didYouMean(name, known)}; it has ${known.join(", ")}`);
    }
    done.push(name);
    schema = found;
  }
  return schema;
}

/** The forms that a value may have. Those of lists and of objects by any name are those of their items. */
function formsOf(schema: Json): Json[] {
  const { anyOf, items, additionalProperties: rest } = schema;
  const inner = [...(Array.isArray(anyOf) ? (anyOf as Json[]) : []), ...[items, rest].filter(isObject)];
  return [schema, ...inner.flatMap(formsOf)];
}

const namesOf = (schema: Json): string[] =>
  formsOf(schema).flatMap(({ properties }) => (isObject(properties) ? Object.keys(properties) : []));

/** The schema of a field, with all that forms of the value have for it. */
function childOf(schema: Json, name: string): Json | undefined {
  const found = formsOf(schema).flatMap(({ properties }) =>
    isObject(properties) && isObject(properties[name]) ? [properties[name]] : [],
  );
  const distinct = found.filter((one, i) => found.findIndex((other) => isDeepStrictEqual(one, other)) === i);
  return distinct.length > 1 ? { anyOf: distinct } : distinct[0];
}
