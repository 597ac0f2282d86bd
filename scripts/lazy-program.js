// Links the command line from modules that run when they are first used (design/start-up.md).
//
// Nothing happens at import in src, so that a module may run at any time before its exports are read. Each becomes a
// function. Where an import is used, the function of the module that makes it is called, unless that has run. The
// functions lie in a few scripts, the parts, which src/cli/start.ts loads when one of their modules is used.
import { build, transform } from "esbuild";
import { readFileSync } from "node:fs";
import { join, posix } from "node:path";

/** The part that has the entry, and whatever no other part has. */
const MAIN = "main";

/** What an option's price does not need, by part: the first pattern that fits a source or package. */
const PARTS = {
  compiler: /^src\/kernel\/(differentiate|emit|frontend|interpret)\/|^acorn$/,
  schema: /^zod$/,
  commands: /^src\/(service|cli\/(commands|mcp|ore|workbook)|output\/(report|charts))\/|^bench\//,
  pricing: /^src\/pricing\/(equations|explain|risk|rights|scenarios|settlement|workers)\//,
  methods: /^src\/pricing\/methods\//,
  quadrature: /^src\/quadrature\/(quantization|rates)\//,
  calibration: /^src\/calibration\//,
  montecarlo: /^src\/montecarlo\//,
  numerics: /^src\/numerics\//,
  pde: /^src\/pde\//,
};

/** What it needs in spite of that. Of each method it needs the file that says what trades the method accepts. */
const IN_MAIN = [
  /^src\/cli\/commands\/price/,
  /^src\/kernel\/frontend\/declare/,
  /^src\/numerics\/linalg\/gauss-legendre/,
  /^src\/pricing\/methods\/(integral|closed-form|deterministic)\//,
  /^src\/pricing\/methods\/(.+)\/(\1|cost)\.ts$/,
  /^src\/pricing\/workers\/pricing-pool/,
];

function partOf(id) {
  if (IN_MAIN.some((pattern) => pattern.test(id))) return MAIN;
  return Object.keys(PARTS).find((part) => PARTS[part].test(id)) ?? MAIN;
}

/** Sources are TypeScript; the rest are packages and modules of Node. */
const isSource = (specifier) => specifier.endsWith(".ts");

/**
 * Links the modules that `entry` leads to.
 *
 * @param options `root`; `define`, as esbuild's; `packages`, which become modules; `apart`, the addresses of sources
 *   that are files of their own.
 * @returns the text of each part by its name, and the files that were read as keys of `inputs`
 */
export async function lazyProgram(entry, options) {
  const modules = new Map();
  const inputs = {};
  for (let next = [entry]; next.length > 0;) {
    const read = await Promise.all(next.map((id) => (isSource(id) ? readSource : readPackage)(id, options)));
    for (const module of read) {
      modules.set(module.id, {
        ...module,
        run: `$${modules.size}`,
        made: `$${modules.size}m`,
        part: partOf(module.id),
      });
      Object.assign(inputs, module.inputs);
    }
    next = [...new Set(read.flatMap(({ uses }) => [...uses]))].filter((id) => !modules.has(id));
  }
  const names = new Set(Array.from(modules.values(), ({ part }) => part));
  const texts = Array.from(names, async (part) => [part, await new Part(part, modules).text(entry)]);
  return { parts: new Map(await Promise.all(texts)), inputs };
}

/** A package as a module, whose own modules run together. */
async function readPackage(id, { root }) {
  const entry = { contents: `export * from "${id}"`, resolveDir: root };
  const { outputFiles, metafile } = await build({
    stdin: entry,
    absWorkingDir: root,
    bundle: true,
    platform: "node",
    target: "node20.19",
    format: "cjs",
    metafile: true,
    write: false,
  });
  return { id, uses: new Set(), inputs: metafile.inputs, packaged: withoutProcesses(outputFiles[0].text) };
}

/** Commander needs `child_process` for commands that are other programs; Node takes milliseconds to load it. */
function withoutProcesses(text) {
  const [line, name] = /^ *var (\w+) = require\("node:child_process"\);$/m.exec(text) ?? [];
  return line === undefined ? text : text.replace(line, "").replaceAll(`${name}.`, 'require("node:child_process").');
}

/** The functions of esbuild that compiled code may call; the others make imports and exports, which are made here. */
const HELPERS = /^__(using|callDispose|knownSymbol|typeError)$/;

/**
 * A source as esbuild's CommonJS without imports and exports. `uses` has the modules that it imports, `imported` the
 * module behind each variable of an import, `exported` an expression for each export, and `all` the modules whose
 * exports are exports of this one.
 */
async function readSource(id, { root, define, packages, apart }) {
  const source = readFileSync(join(root, id), "utf8");
  const { code } = await transform(source, { loader: "ts", format: "cjs", target: "node20.19", define });
  const uses = new Set();
  const idOf = (specifier) => (isSource(specifier) ? posix.join(posix.dirname(id), specifier) : specifier);
  const use = (specifier) => {
    const used = idOf(specifier);
    if (isSource(used) || packages.includes(used)) uses.add(used);
    return used;
  };
  const imported = new Map();
  const exported = new Map();
  const all = [];
  const [head, rest = ""] = code.split(/^var stdin_exports = \{\};$/m);
  const helpers = Array.from(head.split(/^(?=var )/m), (text) => [/^var (\w+)/.exec(text)?.[1], text]);
  const body = (rest || code)
    .replace(/^__export\(stdin_exports, \{\n([^}]*)\n\}\);$/m, (_, list) => {
      for (const [, name, value] of list.matchAll(/^ {2}(\w+): \(\) => ([\w.]+),?$/gm)) exported.set(name, value);
      return "";
    })
    .replace(/^module\.exports = __toCommonJS\(stdin_exports\);$/m, "")
    .replace(/^__reExport\(stdin_exports, require\("(.+)"\), module\.exports\);$/gm, (_, specifier) => {
      all.push(use(specifier));
      return "";
    })
    .replace(/^var (\w+) = (?:__toESM\()?require\("(.+?)"\)\)?;$/gm, (_, name, specifier) => {
      imported.set(name, use(specifier));
      return "";
    })
    .replace(/\bimport\("(.+?\.ts)"\)/g, (_, specifier) => {
      const file = apart[idOf(specifier)];
      return file === undefined ? `$later("${use(specifier)}")` : `imported("${file}")`;
    })
    .replace(/\bimport\((?!\))/g, "imported(");
  if (/\bstdin_exports\b|\brequire\("\.|\b__(export|reExport|to\w+)\(/.test(body))
    throw new Error(`${id}: esbuild writes imports or exports in a way that scripts/lazy-program.js does not know`);
  return { id, uses, imported, exported, all, helpers: helpers.filter(([name]) => HELPERS.test(name)), body };
}

/** A part of the program while its text is made. */
class Part {
  #name;
  #modules;
  /** The modules that the part has or uses. */
  #used = new Set();
  /** The variables of Node's modules. */
  #builtins = new Map();

  constructor(name, modules) {
    this.#name = name;
    this.#modules = modules;
  }

  /** A function that gives the part what it needs and returns the functions that run its modules. */
  async text(entry) {
    const own = [...this.#modules.values()].filter(({ part }) => part === this.#name);
    for (const { id } of own) this.#used.add(id);
    const functions = own.map((module) => this.#functionOf(module));
    const used = Array.from(this.#used, (id) => this.#modules.get(id));
    const others = used.filter(({ part }) => part !== this.#name);
    const isMain = this.#modules.get(entry).part === this.#name;
    const lines = [
      '"use strict";',
      `var ${[...used.map(({ made }) => made), ...this.#builtins.values()].join(", ")};`,
      "const $later = async (run) => run();",
      ...new Map(own.flatMap(({ helpers = [] }) => helpers)).values(),
      ...others.map(({ run, made, part }) => `function ${run}() { return ${made} = $part("${part}").${run}(); }`),
      ...functions,
      `return { ${isMain ? `entry: ${this.#modules.get(entry).run}, ` : ""}${own.map(({ run }) => run).join(", ")} };`,
    ];
    const minified = { minifySyntax: true, minifyWhitespace: true, legalComments: "none", target: "node20.19" };
    const { code } = await transform(lines.join("\n"), minified);
    return `(function(require,imported,FILE_URL,$part){${code}})`;
  }

  /** The function that runs a module unless it has run, and returns its exports. */
  #functionOf(module) {
    const { id, run, made, body, packaged } = module;
    const start = `function ${run}() { if (${made}) return ${made};`;
    if (packaged !== undefined)
      return `${start} const module = { exports: {} };\n${packaged}\nreturn ${made} = module.exports; }`;
    const exports = Array.from(this.#namesOf(id), (name) => this.#exportOf(module, name));
    const linked = this.#linked(module, body).replace(/\$later\("(.+?)"\)/g, (_, used) => {
      this.#used.add(used);
      return `$later(${this.#modules.get(used).run})`;
    });
    return `${start} ${made} = { ${exports.join(", ")} };\n${linked}\nreturn ${made}; }`;
  }

  /** The property of an export: a function as such, which is there before its module runs; the rest when it is read. */
  #exportOf({ id, exported, body }, name) {
    const value = exported.get(name);
    if (new RegExp(`^(async )?function\\*? ${value}\\(`, "m").test(body)) return `${name}: ${value}`;
    const { from, as } = this.#originOf(id, name);
    return `get ${name}() { return ${from === id ? exported.get(as) : `${this.#exportsOf(from)}.${as}`}; }`;
  }

  /** A module's own code with the exports of others in the place of imports. */
  #linked({ id, imported }, text) {
    if (imported.size === 0) return text;
    const names = [...imported.keys()].join("|");
    const uses = new RegExp(`(?<![\\w$]|(?<!\\.\\.)\\.)(${names})(?![\\w$])(?:\\.(\\w+))?`, "g");
    return text.replace(uses, (_, variable, property) => {
      const module = imported.get(variable);
      if (property === undefined) return this.#exportsOf(module);
      const origin = this.#originOf(module, property);
      if (origin === undefined) throw new Error(`${id}: ${module} does not export ${property}`);
      return `${this.#exportsOf(origin.from)}.${origin.as}`;
    });
  }

  /** An expression for the exports of a module, which runs it first. */
  #exportsOf(id) {
    const module = this.#modules.get(id);
    if (module !== undefined) {
      this.#used.add(id);
      return `(${module.made} ?? ${module.run}())`;
    }
    const variable = this.#builtins.get(id) ?? `$b${this.#builtins.size}`;
    this.#builtins.set(id, variable);
    return `(${variable} ??= require("${id}"))`;
  }

  /** The module that makes an export of a module, and its name there; undefined if there is none. */
  #originOf(id, name) {
    const module = this.#modules.get(id);
    if (module === undefined || module.packaged !== undefined) return { from: id, as: name };
    const value = module.exported.get(name);
    if (value === undefined) return module.all.map((other) => this.#originOf(other, name)).find(Boolean);
    const [variable, property] = value.split(".");
    if (property === undefined) return { from: id, as: name };
    return this.#originOf(module.imported.get(variable), property);
  }

  #namesOf(id) {
    const { exported, all } = this.#modules.get(id);
    return new Set([...exported.keys(), ...all.flatMap((other) => [...this.#namesOf(other)])]);
  }
}
