// npm run release -- VERSION [--dry-run]: gives the commit on main a version. It checks that the version is large
// enough for what has changed in the API, dates CHANGELOG.md, writes schema/api.json, commits and tags. Pushing the
// tag publishes the package with its provenance (.github/workflows/release.yml). A dry run checks the same, packs, and
// keeps nothing; without a version it only packs.
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { type ApiRecord, changesOf, isLargeEnough, recordOf } from "./api/changes.ts";
import { readEntries, root } from "./api/exports.ts";

const { positionals, values } = parseArgs({ allowPositionals: true, options: { "dry-run": { type: "boolean" } } });
const isDry = values["dry-run"] ?? false;
const path = (name: string): string => join(root, name);
const read = (name: string): string => readFileSync(path(name), "utf8");
const run = (command: string, ...args: readonly string[]): string =>
  execFileSync(command, args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "inherit"] }).trim();

function fail(message: string): never {
  console.error(`release: ${message}`);
  process.exit(1);
}

const { version: now } = JSON.parse(read("package.json")) as { readonly version: string };
const version = positionals[0] ?? (isDry ? now : fail("expected a version, such as 0.2.0"));
if (!/^\d+\.\d+\.\d+$/.test(version)) fail(`"${version}" is no version: expected three numbers, such as 0.2.0`);
const isChecked = positionals.length > 0;
if (isChecked) {
  if (run("git", "status", "--porcelain") !== "") fail("there are changes that are not committed");
  if (run("git", "branch", "--show-current") !== "main") fail("releases are made from main");
  if (run("git", "tag", "--list", `v${version}`) !== "") fail(`there is a tag v${version} already`);
}

const changelog = read("CHANGELOG.md");
const heading = /^## (\S+) \(unreleased\)$/m.exec(changelog);
if (heading === null) fail('CHANGELOG.md has no heading "## VERSION (unreleased)": nothing to release');

const exports = recordOf(readEntries());
const last = existsSync(path("schema/api.json"))
  ? (JSON.parse(read("schema/api.json")) as { readonly version: string; readonly exports: ApiRecord })
  : undefined;
const changes = last === undefined ? [] : changesOf(last.exports, exports);
for (const { kind, name, what } of changes) console.log(`${kind}: ${name} ${what}`);
if (last !== undefined && !isLargeEnough(last.version, version, changes) && isChecked)
  fail(`${version} is too small a step from ${last.version} for these changes`);

const files: Readonly<Record<string, string>> = {
  "CHANGELOG.md": changelog.replace(heading[0], `## ${version} (${new Date().toISOString().slice(0, 10)})`),
  "schema/api.json": `${JSON.stringify({ version, exports }, null, 1)}\n`,
};
if (isDry) {
  console.log(
    run("npm", "pack", "--dry-run", "--ignore-scripts", "--json").length > 0 ? `${version} can be packed` : "",
  );
} else {
  run("npm", "version", version, "--no-git-tag-version", "--allow-same-version");
  for (const [name, text] of Object.entries(files)) writeFileSync(path(name), text);
  run("git", "add", "package.json", "package-lock.json", ...Object.keys(files));
  run("git", "commit", "-m", `Release ${version}`);
  run("git", "tag", "-a", `v${version}`, "-m", `Version ${version}`);
  console.log(`committed and tagged; "git push --follow-tags" publishes ${version}`);
}
