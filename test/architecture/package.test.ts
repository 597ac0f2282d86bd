import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const root = join(import.meta.dirname, "../..");
const json = (path: string): unknown => JSON.parse(readFileSync(join(root, path), "utf8"));

interface LockedPackage {
  readonly resolved?: string;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}
const { packages } = json("package-lock.json") as { packages: Readonly<Record<string, LockedPackage>> };
const { dependencies, exports } = json("package.json") as {
  dependencies: Readonly<Record<string, string>>;
  exports: Readonly<Record<string, string | { readonly default: string }>>;
};

test("the lock file names no registry: whoever installs uses their own", () => {
  expect(Object.entries(packages).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
});

// npm leaves a platform's package out of the lock file when it cannot find it, and `npm ci` then fails everywhere.
test("the lock file holds the packages of every platform", () => {
  const missing = Object.entries(packages).flatMap(([path, { optionalDependencies = {} }]) =>
    Object.keys(optionalDependencies).filter(
      (name) => !(`node_modules/${name}` in packages) && !(`${path}/node_modules/${name}` in packages),
    ),
  );
  expect(missing).toEqual([]);
});

test("run-time dependencies are few", () => {
  expect(Object.keys(dependencies)).toEqual([
    "acorn",
    "commander",
    "hyparquet",
    "hyparquet-compressors",
    "hyparquet-writer",
    "zod",
  ]);
});

test("every entry point has a source", () => {
  const targets = Object.values(exports).map((target) => (typeof target === "string" ? target : target.default));
  const sources = targets.map((path) => path.replace("./dist/", "./src/").replace(/\.js$/, ".ts"));
  expect(sources.filter((path) => !existsSync(join(root, path)))).toEqual([]);
});
