/** The API reference: one page of Markdown for each entry of the package, and a page that lists them. */
import { reflowed, wrapped } from "../markdown.ts";
import { reflowedComments } from "./comment.ts";
import type { Entry, Export, Kind } from "./exports.ts";

export interface Page {
  /** In docs/api. */
  readonly file: string;
  readonly text: string;
}

const TITLES: Readonly<Record<Kind, string>> = {
  function: "Functions",
  class: "Classes",
  constant: "Constants",
  type: "Types",
};
const ORDER: readonly Kind[] = ["function", "class", "constant", "type"];

const NOTE = "<!-- written by npm run docs from the docstrings in src; do not edit -->";

export function pagesOf(entries: readonly Entry[]): Page[] {
  const homes = homesOf(entries);
  return [overview(entries, homes), ...entries.map((entry) => ({ file: fileOf(entry), text: pageOf(entry, homes) }))];
}

const fileOf = ({ name }: Entry): string => `${name.replace(/^.*\//, "")}.md`;

/** Where each declaration is described: in the most special entry that exports it, which is the last. */
function homesOf(entries: readonly Entry[]): ReadonlyMap<string, Entry> {
  return new Map(entries.flatMap((entry) => entry.exports.map((one) => [keyOf(one), entry] as const)));
}

const keyOf = ({ name, file }: Export): string => `${file}:${name}`;

type Homes = ReadonlyMap<string, Entry>;

const linkTo = (one: Export, homes: Homes, from?: Entry): string => {
  const home = homes.get(keyOf(one));
  const page = home === undefined || home === from ? "" : fileOf(home);
  return `[\`${one.name}\`](${page}#${one.name.toLowerCase()})`;
};

function overview(entries: readonly Entry[], homes: Homes): Page {
  const parts = entries.flatMap((entry) => [
    `## [\`${entry.name}\`](${fileOf(entry)})`,
    reflowed(entry.about),
    contents(entry, homes),
  ]);
  const introduction =
    "Every export of the package, by entry. Units: times are years from `asOf` or from today, rates and volatilities " +
    "are decimals per year and per √year, and amounts are in the currency of the trade. Shapes are written " +
    "`[rows, columns]`, in row-major order.";
  return { file: "README.md", text: text(NOTE, "# API reference", wrapped(introduction), CALLS, ...parts) };
}

/** What all calls that compute on a device have in common. */
const CALLS = `## One way to call

Calls that compute take \`device\`, \`precision\`, \`signal\`, \`onProgress\` and \`seed\` among their options, as far as
they have them, and each name means the same everywhere.

* \`device\` is borrowed. Without one, a device is opened for the call and disposed afterwards. A class that keeps
  memory on a device, such as \`QuantizationTree\`, is made by \`create(device, …)\`.
* \`precision\` is \`"f64"\` by default. On WebGPU that is f32x2, emulated double, or a \`PrecisionError\` where results
  have the same bits on every device ([the table](#f64-on-webgpu)).
* \`accuracy\` is the error that a value may have, \`{ absolute: 0.01 }\` in its units, \`{ relative: 1e-3 }\` as a part
  of its size, or the larger of both. \`tolerance\`, where an iteration ends, has the same form. A book's is relative to
  the spot or the notional, and a number in the command line and the service.
* \`errorEstimate\` stands beside each value: a bound that the error should keep, undefined where none was asked for.
  Values on one quantization tree have none: a tree does not know its own error. Neither has the solution of a linear
  system, which has its residual.
* \`signal\` ends the work between two launches: the call throws the signal's reason.
* \`onProgress({ done, total })\` is called while the work goes on, and when it is complete.
* One bad entry of a batch ends no call, and changes no other entry ([the table](#one-bad-entry)). What has no meaning
  as a whole throws: an unknown option, an array of another length.
* \`seed\` is a whole number from 0, a number up to 2⁵³ or a bigint below 2⁶⁴.

| call | without a device | \`onProgress\` counts | \`signal\` |
| --- | --- | --- | --- |
| \`priceBook\`, \`priceTrades\`, \`explainBook\` | the best of the machine | trades | yes |
| \`solve\`, \`solveOnSparseGrid\` | the best of the machine | stages of time steps of all entries | yes |
| \`monteCarlo\`, \`longstaffSchwartz\` | the best of the machine | paths of all instances | yes |
| \`calibrate\` | the best of the machine | iterations, fewer than \`total\` as a rule | yes |
| \`gaussianSwings\` | the best of the machine | dates | yes |
| \`QuantizationTree.create\` | it is the first argument | launches of paths | yes |
| \`normalQuantizer\`, \`sampleQuantizer\` | the CPU | iterations | yes |
| \`optimalStopping\`, \`swingOption\`, \`wholeSwings\` | that of their tree | | yes |
| \`solveSparse\` | the CPU | | yes |
| \`randomNumbers\`, \`solveTridiagonal\` | the CPU | | no |

### One bad entry

The numbers of an entry that fails are NaN, or Infinity where its status is "not-finite". Columns of results have a
\`status\` for each entry, "error" where its own numbers are out of bounds, and an \`error\` that says which. A single
result has a \`status\` or an \`error\` itself.

| call | an entry is | it fails by | where there is one only |
| --- | --- | --- | --- |
| \`priceBook\`, \`priceTrades\`, \`explainBook\` | a trade | \`status\`, \`error\` of its row | the same |
| \`solve\`, \`solveOnSparseGrid\` | a set of parameters | \`entries[i].error\`, \`status[i]\` of columns | the same |
| \`monteCarlo\`, \`longstaffSchwartz\` | a place in columns | \`status[i]\`, \`error[i]\` | a number is thrown |
| \`gaussianSwings\`, \`wholeSwings\` | a swing | \`status[i]\`, \`error[i]\` | the same |
| \`optimalStopping\`, \`swingOption\` | | | it is thrown |
| \`Cholesky\` | a matrix | \`status[i]\` of \`factor\` | the same |
| \`solveTridiagonal\`, \`TridiagonalSolver\` | a system | its number among \`failures\` | the same |
| \`solveSparse\`, \`KrylovSolver\`, \`KrylovBatch\` | a system | \`status\` of its result | the same |

Models and products of paths throw a number out of bounds when they are made, since it stands for all instances; in an
array, also of one element, it fails the instances that have it.

### f64 on WebGPU

\`offeredPrecision\` decides for all calls.

| asked for f64 | on WebGPU |
| --- | --- |
| \`solve\`, \`solveOnSparseGrid\`, \`calibrate\` of an equation | f32x2 |
| \`feynkac/linalg\` | f32x2 |
| \`priceBook\`, \`priceTrades\`, \`explainBook\` | f32x2, by all methods; f32 unless asked |
| \`randomNumbers\`, \`RandomGenerator\`, \`CorrelatedNormals\`, \`BrownianBridge\` | \`PrecisionError\`: take f32 |
| \`monteCarlo\`, \`longstaffSchwartz\`, \`calibrate\` of paths, \`fitLeverage\` | \`PrecisionError\`: take f32 |
| quantizers, trees and swings of \`feynkac/quantization\` | \`PrecisionError\`: take f32 |

A book that names no precision is priced in f32 on WebGPU. In f32x2 its first kernels wait for a test of the adapter,
2 s, and compile for seconds each; in f32 they take a tenth of that. Results of both say their \`precision\`, and their
\`errorEstimate\` contains its rounding.`;

const named = (entry: Entry, kind: Kind): Export[] =>
  entry.exports.filter((one) => one.kind === kind).toSorted((a, b) => a.name.localeCompare(b.name, "en"));

function contents(entry: Entry, homes: Homes, from?: Entry): string {
  return ORDER.filter((kind) => named(entry, kind).length > 0)
    .map((kind) =>
      wrapped(
        `**${TITLES[kind]}:** ${named(entry, kind)
          .map((one) => linkTo(one, homes, from))
          .join(", ")}`,
        "* ",
        "  ",
      ),
    )
    .join("\n");
}

function pageOf(entry: Entry, homes: Homes): string {
  const own = entry.exports.filter((one) => homes.get(keyOf(one)) === entry);
  const parts = ORDER.flatMap((kind) => named({ ...entry, exports: own }, kind).map((one) => describe(one)));
  const internal =
    entry.internal.length === 0
      ? []
      : [
          wrapped(
            `The entry also exports names that serve other parts of the package. They may change without notice: ` +
              `${entry.internal.map((name) => `\`${name}\``).join(", ")}.`,
          ),
        ];
  return text(NOTE, `# \`${entry.name}\``, reflowed(entry.about), contents(entry, homes, entry), ...internal, ...parts);
}

function describe({ name, doc, declaration }: Export): string {
  const parameters = doc?.parameters.map((each) => wrapped(`\`${each.name}\`: ${each.text}`, "* ", "  ")) ?? [];
  const throws = doc?.throws.map((each) => wrapped(each, "* ", "  ")) ?? [];
  return [
    `## ${name}`,
    ...(doc?.stability === "experimental" ? ["*Experimental: it may change in any version.*"] : []),
    // "ts" marks what compiles by itself, which is what scripts/check-examples.js looks for.
    fence(reflowedComments(declaration), "typescript"),
    ...(doc === undefined || doc.text === "" ? [] : [reflowed(labelled(indentedAsCode(doc.text)))]),
    ...(parameters.length === 0 ? [] : [`**Parameters**`, parameters.join("\n")]),
    ...(doc === undefined || doc.returns === "" ? [] : [wrapped(`**Returns** ${doc.returns}`)]),
    ...(throws.length === 0 ? [] : [`**Throws**`, throws.join("\n")]),
    ...(doc?.examples ?? []).flatMap((example) => [`**Example**`, fence(example)]),
  ].join("\n\n");
}

/** "Cost: …" and its like, at the start of a line, as list items. */
const labelled = (lines: string): string =>
  lines.replaceAll(/^(Accuracy|Cost|Design|Memory|Method|Shapes|Source|Verified): /gm, "* **$1.** ");

/** Lines that a comment indents, by two at least, are equations and lists of words: code blocks in Markdown. */
const indentedAsCode = (lines: string): string =>
  lines.replaceAll(/^ {2,}(?=\S)/gm, (spaces) => `    ${spaces.slice(2)}`);

const fence = (code: string, language = "ts"): string => `\`\`\`${language}\n${code}\n\`\`\``;

const text = (...parts: readonly string[]): string =>
  `${parts
    .filter((part) => part !== "")
    .join("\n\n")
    .replaceAll(/\n{3,}/g, "\n\n")}\n`;
