// Builds `dist` after an install in a checkout. An installed package has `dist` and no sources; an install without
// development dependencies has no compiler: both are left alone, so that this never breaks somebody's `npm install`.
//
// `npm ci` in a clone makes only the programs, in a second. Declarations and the page, which take most of the time, are
// made by `npm run build`, and for every package: by `npm pack`, `npm publish`, and when npm installs from git.
import { spawnSync } from "node:child_process";
import { existsSync, rmSync } from "node:fs";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const compiler = fileURLToPath(new URL("../node_modules/typescript/bin/tsc", import.meta.url));

if (!existsSync(`${root}/src/index.ts`)) {
  console.error("prepare: no sources here, nothing to build");
} else if (!existsSync(compiler)) {
  console.error("prepare: TypeScript is not installed (npm ci --omit=dev?), dist is not built");
} else {
  rmSync(`${root}/dist`, { recursive: true, force: true }); // what a deleted source left behind must not be packed
  const run = (...args) => spawnSync(process.execPath, args, { cwd: root, stdio: "inherit" }).status ?? 1;
  const { npm_command: command, _PACOTE_NO_PREPARE_: fromGit } = process.env;
  const isClone = (command === "ci" || command === "install") && fromGit === undefined;
  process.exitCode = isClone
    ? run("scripts/bundle.js")
    : run(compiler, "-p", "tsconfig.build.json") ||
      run("scripts/declarations.js") ||
      run("scripts/bundle.js") ||
      run("scripts/web.js");
}
