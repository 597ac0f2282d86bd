import { posix } from "node:path";

/**
 * The layers of ARCHITECTURE.md, highest first. An import may only point to a lower line; folders of one line do not
 * know each other. `index.ts` is the package's own entry.
 */
export const layers: readonly (readonly string[])[] = [
  ["cli", "web"],
  ["cluster", "service"],
  ["pipeline"],
  ["runs", "serving"],
  ["report"],
  ["formats"],
  ["index.ts"],
  ["pricing"],
  ["book"],
  ["sparsegrid", "convertible", "short-rates"],
  ["calibration"],
  ["fdm", "integral", "quantization", "montecarlo", "rates"],
  ["models", "products", "market"],
  ["random"],
  ["linalg"],
  ["device"],
  ["kernel"],
  ["charts", "threads"],
  ["turns.ts"],
  ["accuracy.ts", "given.ts", "remembered.ts"],
  ["all-of.ts", "elementary.ts", "errors.ts", "last-used.ts"],
];

/**
 * Doors besides a folder's `index.ts`, by who may use them. A device loads the emitter of its own target only: the
 * CPU's start does not wait for WGSL.
 */
const sideDoors: readonly { readonly from: string; readonly to: RegExp }[] = [
  { from: "device", to: /^kernel\/emit\/[^/]+\/index\.ts$/ },
];

/** The sources to check: text by path, relative to `src/`, with forward slashes. */
export type Sources = ReadonlyMap<string, string>;

export interface Import {
  readonly specifier: string;
  readonly line: number;
  /** Whether the module is loaded at once, on demand (`import()`, `new URL(…, import.meta.url)`), or is a type. */
  readonly loading: "at once" | "on demand" | "type";
}

const patterns: readonly { readonly expression: RegExp; readonly loading: Import["loading"] }[] = [
  // import … from "x", export … from "x"; the clause holds no quote and no semicolon.
  { expression: /^[ \t]*(?:import|export)\s(?!\s*type\b)[^;'"`()]*?\bfrom\s*(["'])(.+?)\1/gm, loading: "at once" },
  { expression: /^[ \t]*(?:import|export)\s+type\s[^;'"`()]*?\bfrom\s*(["'])(.+?)\1/gm, loading: "type" },
  { expression: /^[ \t]*import\s*(["'])(.+?)\1/gm, loading: "at once" },
  { expression: /\bimport\s*\(\s*(["'`])(.+?)\1/g, loading: "on demand" },
  { expression: /\bnew\s+URL\(\s*(["'`])(.+?)\1\s*,\s*import\.meta\.url/g, loading: "on demand" },
];

/** Every module that a source names: static, type-only and dynamic imports, re-exports, worker URLs. */
export function importsOf(text: string): Import[] {
  return patterns
    .flatMap(({ expression, loading }) =>
      [...text.matchAll(expression)].map((match) => ({
        specifier: match[2],
        line: text.slice(0, match.index + match[0].length).split("\n").length,
        loading,
      })),
    )
    .sort((a, b) => a.line - b.line);
}

/** The folder, or file of the root, that a path below `src/` belongs to. */
const topOf = (path: string): string => path.split("/")[0];
const levelOf = (top: string): number => layers.findIndex((layer) => layer.includes(top));

function resolve(from: string, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(from), specifier)).replace(/\.js$/, ".ts");
}

/**
 * package.json is as far from `dist/` as from `src/`; nothing else outside is packed in the same place. The build
 * writes commit.json.
 */
function violationOf(from: string, { specifier, line }: Import): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const to = resolve(from, specifier);
  const [here, there] = [topOf(from), topOf(to)];
  const where = `src/${from}:${line}: "${specifier}"`;
  if (to === "../package.json" || to === "commit.json" || here === there) return undefined;
  if (there === "..") return `${where} leaves src/`;
  if (levelOf(there) < 0) return `${where}: ${there} is in no layer`;
  if (levelOf(there) < levelOf(here)) return `${where} points up, from ${here} to ${there}`;
  if (levelOf(there) === levelOf(here)) return `${where} points sideways, from ${here} to ${there}`;
  const isDoor = to === there || to === `${there}/index.ts`;
  if (!isDoor && !sideDoors.some((door) => door.from === here && door.to.test(to)))
    return `${where} reaches past ${there}/index.ts`;
  return undefined;
}

/** One message for every import that breaks a rule, and for every folder of `src/` that no layer names. */
export function violations(sources: Sources): string[] {
  const strays = [...new Set([...sources.keys()].map(topOf))].filter((top) => levelOf(top) < 0);
  return [
    ...strays.map((top) => `src/${top} is in no layer`),
    ...[...sources].flatMap(([path, text]) => importsOf(text).flatMap((found) => violationOf(path, found) ?? [])),
  ];
}

/** Cycles among files by imports, as "a → b → a"; types count, what is loaded on demand does not. */
export function cycles(sources: Sources): string[] {
  const found: string[] = [];
  const done = new Set<string>();
  const visit = (path: string, trail: readonly string[]): void => {
    if (trail.includes(path)) {
      found.push([...trail.slice(trail.indexOf(path)), path].join(" → "));
      return;
    }
    if (done.has(path) || !sources.has(path)) return;
    for (const next of filesOf(path, sources.get(path)!, ["at once", "type"])) visit(next, [...trail, path]);
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
  return found;
}

function filesOf(path: string, text: string, wanted: readonly Import["loading"][]): string[] {
  return importsOf(text)
    .filter(({ specifier, loading }) => wanted.includes(loading) && specifier.startsWith("."))
    .map(({ specifier }) => resolve(path, specifier));
}

/**
 * What `entry` loads at once, through static imports: "file: package" for every package and Node module outside
 * `allowed`.
 */
export function eagerPackages(sources: Sources, entry: string, allowed: readonly string[]): string[] {
  const reached = new Set<string>();
  const visit = (path: string): void => {
    if (reached.has(path) || !sources.has(path)) return;
    reached.add(path);
    for (const next of filesOf(path, sources.get(path)!, ["at once"])) visit(next);
  };
  visit(entry);
  return [...reached].flatMap((path) =>
    importsOf(sources.get(path)!)
      .filter(
        ({ specifier, loading }) => loading === "at once" && !specifier.startsWith(".") && !allowed.includes(specifier),
      )
      .map(({ specifier }) => `src/${path}: ${specifier}`),
  );
}
