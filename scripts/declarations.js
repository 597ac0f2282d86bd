// Leaves in dist/ only those declarations that the types of the package's entries lead to.
import { readdirSync, readFileSync, rmdirSync, rmSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const dist = join(root, "dist");
const { exports } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const IMPORTED = /(?:from\s*|import\s*\(\s*|import\s+)"(\.[^"]*)"/g;

/** The declarations that a file names, by their paths. */
function namedIn(file) {
  const text = readFileSync(file, "utf8");
  return [...text.matchAll(IMPORTED)].map(([, path]) => resolve(dirname(file), path.replace(/\.[jt]s$/, ".d.ts")));
}

const reached = new Set();
const waiting = Object.values(exports).flatMap(({ types }) => (types === undefined ? [] : [join(root, types)]));
for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
  if (reached.has(file)) continue;
  reached.add(file);
  waiting.push(...namedIn(file));
}

/** Deletes what is not reached, and folders that are then empty. */
function prune(folder) {
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) prune(path);
    else if (path.endsWith(".d.ts") && !reached.has(path)) rmSync(path);
  }
  if (readdirSync(folder).length === 0) rmdirSync(folder);
}
prune(dist);
