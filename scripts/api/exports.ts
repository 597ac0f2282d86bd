/** What the package's entries export, read from the sources by TypeScript's own checker. */
import { readFileSync } from "node:fs";
import { join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { API, type Project, type Symbol as TypeScriptSymbol } from "typescript/unstable/sync";
import type { Node } from "typescript/unstable/ast";
import { wrapped } from "../markdown.ts";
import { type DocComment, parseComment, splitComment } from "./comment.ts";

export const root = fileURLToPath(new URL("../..", import.meta.url));

export type Kind = "function" | "class" | "type" | "constant";

/** One exported name. */
export interface Export {
  readonly name: string;
  readonly kind: Kind;
  /** What it is to TypeScript: its declarations, without bodies and private members. */
  readonly declaration: string;
  readonly doc: DocComment | undefined;
  /** Names of a function's parameters, in order; "" for one that is destructured. */
  readonly parameters: readonly string[];
  /** The source file, from the root, to compare what two entries export. */
  readonly file: string;
}

export interface Entry {
  /** "feynkac/kernel". */
  readonly name: string;
  /** What the entry's own first comment says. */
  readonly about: string;
  readonly exports: readonly Export[];
  /** The types that stable exports are made of and no entry exports. */
  readonly mentioned: readonly Export[];
  /** Names that serve other folders of the package, by `@internal` in their own comment or in that of the entry. */
  readonly internal: readonly string[];
}

/** TypeScript's flags of symbols. */
const ALIAS = 1 << 21;
const KINDS: readonly (readonly [flag: number, kind: Kind])[] = [
  [1 << 5, "class"],
  [1 << 4, "function"],
  [(1 << 6) | (1 << 19), "type"],
  [(1 << 0) | (1 << 1), "constant"],
];

/** The entries that package.json names, with all that they export. */
export function readEntries(): Entry[] {
  const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as {
    readonly exports: Readonly<Record<string, string | { readonly default: string }>>;
  };
  const api = new API({ cwd: root });
  try {
    const project = api.updateSnapshot({ openProjects: [join(root, "tsconfig.json")] }).getProjects()[0];
    if (project === undefined) throw new Error("tsconfig.json: TypeScript opened no project");
    const entries = Object.entries(exports).flatMap(([path, target]) =>
      typeof target === "string"
        ? []
        : [
            readEntry(
              project,
              `feynkac${path.slice(1)}`,
              target.default.replace(/^\.\/dist/, "src").replace(/js$/, "ts"),
            ),
          ],
    );
    const known = new Set(entries.flatMap(({ exports: all }) => all.map(placeOf)));
    return entries.map((entry) => ({ ...entry, mentioned: readMentioned(project, entry.exports, known) }));
  } finally {
    api.close();
  }
}

const placeOf = ({ file, name }: Export): string => `${file}: ${name}`;

/** TypeScript's flags of symbols that are types: classes, interfaces and aliases. */
const TYPE = (1 << 5) | (1 << 6) | (1 << 19);

/** The types of the sources in the declarations of what is stable, and in those of these types, but for known ones. */
function readMentioned(project: Project, exports: readonly Export[], known: ReadonlySet<string>): Export[] {
  const found = new Map<string, Export>();
  const left = exports.filter(({ doc }) => doc?.stability !== "experimental");
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    const names = new Set(one.declaration.replaceAll(/"[^"]*"/g, "").match(/(?<![\w.])[A-Z]\w*/g));
    for (const name of names) {
      const symbol = project.checker.resolveName(name, TYPE, { document: join(root, one.file), position: 0 }, true);
      if (symbol === undefined) continue;
      const read = readExport(project, symbol);
      const place = placeOf(read);
      if (!read.file.startsWith("src/") || known.has(place) || found.has(place)) continue;
      found.set(place, read);
      left.push(read);
    }
  }
  return [...found.values()].sort((a, b) => (placeOf(a) < placeOf(b) ? -1 : 1));
}

function readEntry(project: Project, name: string, file: string): Omit<Entry, "mentioned"> {
  const source = project.program.getSourceFile(join(root, file));
  const module = source && project.checker.getSymbolAtLocation(source);
  if (source === undefined || module === undefined) throw new Error(`${file}: not part of the project`);
  const named = internalNames(source.text);
  const all = project.checker
    .getExportsOfModule(module)
    .filter((symbol) => !named.includes(symbol.name))
    .map((symbol) => readExport(project, symbol));
  const exported = all.filter(({ doc }) => doc?.internal !== true);
  const internal = [...named, ...all.flatMap(({ name, doc }) => (doc?.internal === true ? [name] : []))];
  return { name, about: parseComment(splitComment(source.text).comment)?.text ?? "", exports: exported, internal };
}

/** The names of `export { … }` declarations that follow a comment with `@internal`. */
const internalNames = (text: string): string[] =>
  [...text.matchAll(/\/\*\*[^/]*@internal[^/]*\*\/\s*export (?:type )?\{([^}]*)\}/g)].flatMap(([, names = ""]) =>
    names.split(",").flatMap((part) => /(\w+)\s*$/.exec(part.trim())?.[1] ?? []),
  );

function readExport(project: Project, symbol: TypeScriptSymbol): Export {
  const target = (symbol.flags & ALIAS) === 0 ? symbol : project.checker.getAliasedSymbol(symbol);
  const kind = KINDS.find(([flag]) => (target.flags & flag) !== 0)?.[1];
  const nodes = target.declarations.flatMap((handle) => handle.resolve(project) ?? []);
  if (kind === undefined || nodes[0] === undefined) throw new Error(`${symbol.name}: no declaration`);
  // Of a variable the statement has the comment; of overloads the last declaration is the implementation.
  const declared = nodes.length > 1 && kind === "function" ? nodes.slice(0, -1) : nodes;
  const texts = declared.map((node) => splitComment(textOf(kind === "constant" ? node.parent.parent : node)));
  const written = declared.map((node, i) => withoutBody(node, texts[i]?.code ?? "", kind)).join("\n");
  return {
    name: symbol.name,
    kind,
    declaration: (spelledOut(project, target, kind) ?? written).replaceAll(/^export /gm, ""),
    doc: parseComment(texts.findLast(({ comment }) => comment !== "")?.comment ?? ""),
    parameters: kind === "function" ? parametersOf(declared[0]) : [],
    file: relative(root, nodes[0].getSourceFile().fileName),
  };
}

/** TypeScript's flags of types as text: whole, and the right-hand side of an alias. */
const NO_TRUNCATION = 1 << 0;
const IN_ALIAS = 1 << 23;

/** The type of a constant, and of an alias that is made from a list of values (`typeof NAMES`). */
function spelledOut({ checker }: Project, symbol: TypeScriptSymbol, kind: Kind): string | undefined {
  if (kind === "constant") {
    const type = checker.getTypeOfSymbol(symbol);
    return type && wrapped(`const ${symbol.name}: ${checker.typeToString(type, undefined, NO_TRUNCATION)};`, "", "  ");
  }
  const [node] = symbol.declarations.flatMap((handle) => handle.resolve() ?? []);
  if (kind !== "type" || node === undefined || !/\btypeof [A-Z_]+\b/.test(splitComment(textOf(node)).code))
    return undefined;
  const type = checker.typeToString(checker.getDeclaredTypeOfSymbol(symbol), undefined, NO_TRUNCATION | IN_ALIAS);
  return wrapped(`type ${symbol.name} = ${type};`, "", "  ");
}

/** With the comments before it. */
const textOf = (node: Node): string => node.getSourceFile().text.slice(node.pos, node.end).trim();

interface Member extends Node {
  readonly body?: Node;
  readonly name?: Node;
  readonly initializer?: Node;
  readonly type?: Node;
  readonly members?: Iterable<Member>;
  readonly parameters?: Iterable<Member>;
}

function parametersOf(node: Node): string[] {
  const { text } = node.getSourceFile();
  return [...((node as Member).parameters ?? [])].map(({ name }) => {
    const written = name === undefined ? "" : text.slice(name.pos, name.end).trim();
    return /^\w+$/.test(written) ? written : "";
  });
}

/** A function without its body; a class with its public members, without theirs. */
function withoutBody(node: Member, code: string, kind: Kind): string {
  const bodyLength = ({ body, end }: Member): number => (body === undefined ? 0 : end - body.pos);
  if (kind === "function") return cut(code, bodyLength(node)).replace(/;?$/, ";"); // an overload has one already
  if (kind !== "class") return code;
  const members = [...(node.members ?? [])].flatMap((member) => {
    const { comment, code: written } = splitComment(textOf(member));
    if (/^(readonly )?(#|private |protected |static \{|override readonly name\b)/.test(written)) return [];
    if (comment.includes("@internal")) return [];
    // Without a type its value says what a property is: `code = "BOOK"`.
    const initial = member.type !== undefined && member.initializer ? member.end - member.initializer.pos : 0;
    const signature = cut(written, Math.max(bodyLength(member), initial))
      .replace(/\s*=$/, "")
      .replace(/;?$/, ";");
    // The first line has lost its indentation already.
    return [`  ${comment === "" ? "" : `${comment}\n  `}${signature}`];
  });
  return `${code.slice(0, code.indexOf("{") + 1)}\n${members.join("\n")}\n}`;
}

const cut = (code: string, length: number): string => code.slice(0, code.length - length).trimEnd();
