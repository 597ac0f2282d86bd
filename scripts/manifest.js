// `npm pack` and `npm publish` run this before and after: users get a package.json without the scripts and tools of a
// checkout. With them, npm would ask every user about `prepare`, whose file is not in the package.
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const manifest = join(root, "package.json");
const kept = join(root, ".cache/package.json");

function strip() {
  if (!existsSync(join(root, "dist/cli/main.cjs"))) throw new Error("dist/ is not built: npm run build");
  const text = readFileSync(manifest, "utf8");
  const published = JSON.parse(text);
  if (published.scripts === undefined)
    throw new Error("package.json has been stripped already: git checkout package.json");
  for (const name of ["scripts", "devDependencies", "allowScripts"]) delete published[name];
  mkdirSync(join(root, ".cache"), { recursive: true });
  writeFileSync(kept, text);
  writeFileSync(manifest, `${JSON.stringify(published, null, 2)}\n`);
}

if (process.argv[2] === "strip") strip();
else renameSync(kept, manifest);
