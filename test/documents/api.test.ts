/** The API reference: it is what the docstrings say, it leaves nothing out, and its examples compile and run. */
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type Entry, type Export, readEntries, root } from "../../scripts/api/exports.ts";
import { pagesOf } from "../../scripts/api/pages.ts";
import { everything } from "../support/extent.ts";

const entries: readonly Entry[] = readEntries();
/** Each declaration once. */
const all = [
  ...new Map(entries.flatMap(({ exports }) => exports).map((one) => [`${one.file}:${one.name}`, one])).values(),
];

/** What is missing in what an export says of itself. */
function missing({ kind, doc, parameters }: Export): string[] {
  if (doc === undefined || doc.text === "") return ["a docstring"];
  const described = doc.parameters.map(({ name }) => name);
  return [
    ...parameters.filter((name) => name !== "" && !described.includes(name)).map((name) => `@param ${name}`),
    ...described.filter((name) => kind === "function" && !parameters.includes(name)).map((name) => `no such ${name}`),
    ...(kind === "type" || kind === "constant" || doc.examples.length > 0 ? [] : ["@example"]),
  ];
}

describe("docs/api", () => {
  const folder = join(root, "docs/api");

  it("has a page for each entry, and no other", () => {
    expect(readdirSync(folder).toSorted()).toEqual(
      pagesOf(entries)
        .map(({ file }) => file)
        .toSorted(),
    );
  });

  it.each(pagesOf(entries))("$file is what the docstrings say: run `npm run docs`", ({ file, text }) => {
    expect(readFileSync(join(folder, file), "utf8")).toBe(text);
  });

  it("leaves out only what an entry says is internal, and that it does export", () => {
    for (const { name, internal } of entries) {
      const text = readFileSync(join(folder, `${name.replace(/^.*\//, "")}.md`), "utf8");
      for (const each of internal) expect(text, `${name}: ${each}`).toContain(`\`${each}\``);
    }
  });
});

it.each(all)("$name ($file) says what it is, with its parameters and an example", (one) => {
  expect(missing(one)).toEqual([]);
});

describe("examples", () => {
  const examples = all.flatMap(({ name, doc }) =>
    (doc?.examples ?? []).map((code, i) => ({ name: `${name}${i === 0 ? "" : `-${i + 1}`}`, code })),
  );
  let folder = "";

  beforeAll(() => {
    // Inside the repository, so that its packages are found.
    mkdirSync(join(root, ".cache"), { recursive: true });
    folder = mkdtempSync(join(root, ".cache/examples-"));
    for (const { name, code } of examples) writeFileSync(join(folder, `${name}.mts`), `${code}\nexport {};\n`);
    // Those of the repository, from where this folder lies.
    const { compilerOptions: common } = JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8")) as {
      readonly compilerOptions: { readonly paths: Readonly<Record<string, readonly string[]>> };
    };
    const paths = Object.fromEntries(
      Object.entries(common.paths).map(([name, files]) => [name, files.map((file) => join("../..", file))]),
    );
    const compilerOptions = {
      noUnusedLocals: false,
      noUncheckedIndexedAccess: true,
      paths,
    };
    const settings = { extends: "../../tsconfig.json", compilerOptions, include: ["*.mts"], exclude: [] };
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const run = (command: string, ...args: readonly string[]) =>
    spawnSync(command, args, { cwd: folder, encoding: "utf8", shell: false });

  it.skipIf(!everything)("compile", () => {
    const { stdout, status } = run(join(root, "node_modules/.bin/tsc"), "-p", "tsconfig.json");
    // The sources of the package are not written for `noUncheckedIndexedAccess`.
    expect(stdout.split("\n").filter((line) => /^\w[\w-]*\.mts/.test(line))).toEqual([]);
    expect(status).not.toBeNull();
  });

  it("run, and print what their comments say", () => {
    const imports = examples.map(
      ({ name }) => `console.log("# ${name}"); await import(${JSON.stringify(`./${name}.mts`)});`,
    );
    writeFileSync(join(folder, "all.mts"), imports.join("\n"));
    const { stdout, stderr, status } = run(process.execPath, "--import", import.meta.resolve("tsx"), "all.mts");
    expect(`${stderr}${status === 0 ? "" : stdout}`).toBe("");
    const printed = stdout.split(/^# (?=\w+$)/m).slice(1);
    const lines = printed.map((text) => {
      const [name = "", ...rest] = text.split("\n");
      return { name, printed: rest.filter((line) => line !== "") };
    });
    const expected = examples.map(({ name, code }) => {
      const comments = [...code.matchAll(/console\.log\(.*\);(?:\n *)? ?\/\/ (.*)$/gm)].map(([, text]) => text);
      return { name, printed: comments.flatMap((comment) => comment.split("; then ")) };
    });
    expect(lines).toEqual(expected);
  });
});
