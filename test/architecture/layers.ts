import { posix } from "node:path";

/**
 * The rooms of ARCHITECTURE.md, highest first. An import may only point to a lower line. `index.ts` is the package's
 * own entry, which no source imports.
 */
export const rooms: readonly string[] = [
  "index.ts",
  "cli",
  "service",
  "output",
  "pricing",
  "book",
  "calibration",
  "pde",
  "quadrature",
  "montecarlo",
  "numerics",
  "market",
  "device",
  "kernel",
  "base",
];

/** Folders and files of a folder in ranks, highest first; those of one rank do not know each other. "*" is any file. */
type Ranks = Readonly<Record<string, readonly (readonly string[])[]>>;

/** Rooms of several parts: each part has a door of its own. */
const parted: Ranks = {
  service: [["cluster", "http"], ["pipeline"], ["runs", "monitoring"]],
  output: [["report"], ["formats"], ["charts"]],
  pde: [["sparsegrid", "convertible", "short-rates", "scripts"], ["fdm"]],
  quadrature: [["integral", "quantization", "rates"]],
  numerics: [["random"], ["linalg"]],
  market: [["*", "models", "products", "scripts"], ["linear"], ["conventions"]],
  base: [
    ["threads"],
    ["event-loop.ts"],
    ["accuracy.ts", "argument-checks.ts", "memoize.ts"],
    ["business-days.ts", "differences.ts", "elementary.ts", "errors.ts", "search.ts", "version.ts"],
  ],
};

/** The ranks inside of folders whose files import each other freely. */
const ranked: Ranks = {
  "pde/fdm": [
    ["*"],
    ["adaptive"],
    ["execute"],
    ["read"],
    ["conditions", "model"],
    ["mesh", "operator"],
    ["time"],
    ["problem"],
  ],
  pricing: [
    ["*"],
    ["explain", "risk"],
    ["price-book.ts"],
    ["workers"],
    ["reporting.ts", "scenario-values.ts"],
    ["scenarios"],
    ["batch.ts"],
    ["buckets.ts"],
    ["kinds.ts", "output-row.ts"],
    ["guard"],
    ["methods"],
    ["equations", "market-moves.ts", "rights"],
    ["plan"],
    ["variance.ts"],
    ["trade-problem.ts"],
    ["moved-quotes.ts", "trade-barriers.ts"],
    ["settlement"],
    ["columns"],
    ["backend.ts", "terms.ts"],
    ["options.ts", "settlement-moves.ts", "term-warnings.ts"],
  ],
};

/** Every room, or part of one, highest first. */
export const parts: readonly string[] = rooms.flatMap((room) =>
  (parted[room]?.flat() ?? ["*"]).map((part) => (part === "*" ? room : `${room}/${part}`)),
);

/**
 * Doors besides a folder's `index.ts`, by who may use them. A device loads the emitter of its own target only: the
 * CPU's start does not wait for WGSL. A command loads the published results, which lie beside the benchmarks.
 */
const sideDoors: readonly { readonly from: RegExp; readonly to: RegExp }[] = [
  { from: /^device\//, to: /^kernel\/emit\/[^/]+\/index\.ts$/ },
  { from: /^cli\/commands\/reproduce\.ts$/, to: /^\.\.\/bench\/reproduce\/index\.ts$/ },
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

function resolve(from: string, specifier: string): string {
  return posix.normalize(posix.join(posix.dirname(from), specifier)).replace(/\.js$/, ".ts");
}

/** The room, or the entry, that a path below `src/` belongs to. */
const roomOf = (path: string): string => path.split("/")[0];

/** The part of a folder in ranks that a path belongs to, and its rank, from the top; undefined outside of them. */
function placeIn(folder: string, ranks: readonly (readonly string[])[], path: string) {
  const [name, ...rest] = path.slice(folder.length + 1).split("/");
  const rankOf = (part: string): number => ranks.findIndex((rank) => rank.includes(part));
  const part = rankOf(name) < 0 && rest.length === 0 ? "*" : name;
  return rankOf(part) < 0 ? undefined : { part, rank: rankOf(part) };
}

/** What is wrong with an import inside of a folder in ranks, or with its place there. */
function betweenRanks(folder: string, ranks: readonly (readonly string[])[], from: string, to: string) {
  const [here, there] = [placeIn(folder, ranks, from), placeIn(folder, ranks, to)];
  if (here === undefined) return `: ${from} is in no rank of ${folder}`;
  if (there === undefined) return `: ${to} is in no rank of ${folder}`;
  if (here.part === there.part) return undefined;
  if (there.rank < here.rank) return ` points up in ${folder}, from ${here.part} to ${there.part}`;
  if (there.rank === here.rank) return ` points sideways in ${folder}, from ${here.part} to ${there.part}`;
  return undefined;
}

/** Whether a path is the door of a room, or of a part of one. */
function isDoor(path: string): boolean {
  const [room, part, ...rest] = path.split("/");
  if (path === `${room}/index.ts`) return true;
  if (!(parted[room]?.flat().includes(part) ?? false)) return false;
  return rest.length === 0 || (rest.length === 1 && rest[0] === "index.ts");
}

const partOf = (path: string): string =>
  parts.find((part) => part.includes("/") && (path === part || path.startsWith(`${part}/`))) ?? roomOf(path);

/**
 * package.json is as far from `dist/` as from `src/`; nothing else outside is packed in the same place. The build
 * writes commit.json.
 */
function violationOf(from: string, { specifier, line }: Import): string | undefined {
  if (!specifier.startsWith(".")) return undefined;
  const to = resolve(from, specifier);
  const [here, there] = [roomOf(from), roomOf(to)];
  const where = `src/${from}:${line}: "${specifier}"`;
  if (to === "../package.json" || to === "commit.json") return undefined;
  if (sideDoors.some((door) => door.from.test(from) && door.to.test(to))) return undefined;
  if (there === "..") return `${where} leaves src/`;
  if (!rooms.includes(there)) return `${where}: ${there} is no room`;
  if (rooms.indexOf(there) < rooms.indexOf(here)) return `${where} points up, from ${here} to ${there}`;
  if (partOf(from) !== partOf(to) && !isDoor(to)) return `${where} reaches past ${partOf(to)}/index.ts`;
  for (const [folder, ranks] of [...Object.entries(parted), ...Object.entries(ranked)]) {
    if (!from.startsWith(`${folder}/`) || !to.startsWith(`${folder}/`)) continue;
    const message = betweenRanks(folder, ranks, from, to);
    if (message !== undefined) return where + message;
  }
  return undefined;
}

/** One message for every import that breaks a rule, and for every folder or file of `src/` that is no room. */
export function violations(sources: Sources): string[] {
  const strays = [...new Set([...sources.keys()].map(roomOf))].filter((room) => !rooms.includes(room));
  return [
    ...strays.map((room) => `src/${room} is no room`),
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
