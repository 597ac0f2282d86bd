/** Pages of the site that are made: one for each product, from the schema and from what the engine answers. */
import { deflateRawSync } from "node:zlib";
import { bookJsonSchema, type TradeResult } from "../../src/book/index.ts";
import { exampleBook, PAPERS, type Product, PRODUCTS } from "./products.ts";

interface Schema {
  readonly description?: string;
  readonly type?: string;
  readonly enum?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly items?: Schema;
}

/** Where the browser page opens the example: the book travels behind `#`, as the page's own links have it. */
export function liveAddress(product: Product): string {
  const packed = deflateRawSync(JSON.stringify({ book: exampleBook(product) }));
  return `app/index.html#s=${packed.toString("base64url")}`;
}

export function productPage(product: Product, result: TradeResult): string {
  const { title, pays, method, papers, section, trade } = product;
  return [
    `# ${title}`,
    pays,
    "## Example",
    "```json\n" + JSON.stringify(exampleBook(product), undefined, 2) + "\n```",
    answer(result),
    `<LiveExample address="${liveAddress(product)}" title="${title}" />`,
    "## Terms",
    termsTable(trade),
    `The [book format](../docs/book.md#${section}) has the rules, and the other fields that a trade may have.`,
    "## Method",
    method,
    "## Accuracy",
    accuracy(result),
    "## Papers",
    papers.map((key) => `* ${PAPERS[key]}`).join("\n"),
    "",
  ].join("\n\n");
}

/** What the engine answers to the example, computed when the site is built. */
function answer(result: TradeResult): string {
  if (result.status !== "ok") throw new Error(`${result.id}: ${result.error.message}`);
  const { value, errorEstimate, delta, gamma, theta, vega, rho, method } = result;
  const cell = (x: number | null): string => (x === null ? "–" : String(Number(x.toPrecision(7))));
  return [
    "| value | error estimate | delta | gamma | theta | vega | rho | method |",
    "| --- | --- | --- | --- | --- | --- | --- | --- |",
    `| ${[value, Number(errorEstimate.toPrecision(2)), delta, gamma, theta, vega, rho].map(cell).join(" | ")} | \`${method}\` |`,
  ].join("\n");
}

/** What is aimed at by default, by the method of a result (docs/book.md, Accuracy). */
const DEFAULT_ACCURACY: Readonly<Record<string, string>> = {
  "black-scholes": "1e-5 of the spot",
  integral: "1e-5 of the spot",
  fdm: "1e-5 of the spot",
  heston: "1e-5 of the spot",
  adi: "1e-4 of the largest spot",
  montecarlo: "1e-3 of the spot",
  convolution: "1e-3 of the spot times `max`",
};

function accuracy(result: TradeResult): string {
  if (result.status !== "ok") return "";
  const aim = DEFAULT_ACCURACY[result.method];
  if (aim === undefined) throw new Error(`${result.id}: no default accuracy is known for ${result.method}`);
  return (
    `What is aimed at by default is ${aim}. The error of the example is estimated as ` +
    `${result.errorEstimate.toExponential(1)}. [Accuracy](../docs/book.md#accuracy) says how to ask for more or less.`
  );
}

/** The fields of an example with what the book's schema says about them. */
function termsTable(trade: Readonly<Record<string, unknown>>): string {
  const forms = (bookJsonSchema() as Schema).properties?.["trades"]?.items?.anyOf ?? [];
  const form = forms.find(({ properties = {} }) => Object.keys(trade).every((key) => key in properties));
  if (form === undefined) throw new Error(`no form of a trade has the fields ${Object.keys(trade).join(", ")}`);
  const rows = Object.entries(trade).flatMap(([key, value]) => rowsOf(key, form.properties?.[key] ?? {}, value));
  return ["| field | value |", "| --- | --- |", ...rows].join("\n");
}

function rowsOf(path: string, schema: Schema, value: unknown): string[] {
  const form = schema.anyOf?.find((option) => fits(option, value)) ?? schema;
  const what =
    schema.description ?? form.description ?? form.enum?.map((word) => `"${word}"`).join(", ") ?? form.type ?? "";
  const row = `| \`${path}\` | ${what.replaceAll("|", "\\|").replaceAll(/[{}<>]/g, (c) => `&#${c.codePointAt(0)};`)} |`;
  if (form.type === "object")
    return [
      row,
      ...Object.entries(form.properties ?? {}).flatMap(([key, inner]) => rowsOf(`${path}.${key}`, inner, undefined)),
    ];
  if (form.type === "array" && form.items?.type === "object")
    return [
      row,
      ...Object.entries(form.items.properties ?? {}).flatMap(([key, inner]) =>
        rowsOf(`${path}[].${key}`, inner, undefined),
      ),
    ];
  return [row];
}

function fits(schema: Schema, value: unknown): boolean {
  if (schema.enum !== undefined) return schema.enum.includes(value as string);
  if (schema.type === "array") return Array.isArray(value);
  if (schema.type !== "object") return typeof value === schema.type;
  return typeof value === "object" && value !== null && (schema.required ?? []).every((key) => key in value);
}

export function productIndex(): string {
  const rows = PRODUCTS.map(({ slug, title, pays }) => `| [${title}](${slug}.md) | ${pays} |`);
  return ["# Products", ["| | pays |", "| --- | --- |", ...rows].join("\n"), ""].join("\n\n");
}
