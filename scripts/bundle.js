// Puts the command line into one file, over the one that the compiler made for it: Node 20 takes 0.2 s to load the 270
// modules (94 of them zod's) one by one. After the compiler alone the command line works too, from its modules.
import { build } from "esbuild";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const root = fileURLToPath(new URL("..", import.meta.url));
const main = join(root, "dist/cli/main.js");
const { peerDependencies } = JSON.parse(readFileSync(join(root, "package.json"), "utf8"));

const { metafile, outputFiles } = await build({
  absWorkingDir: root,
  entryPoints: [main],
  outfile: main,
  allowOverwrite: true,
  bundle: true,
  format: "esm",
  platform: "node",
  target: "node20.19",
  // Optional packages are loaded when asked for; commander is CommonJS, and small.
  external: ["commander", ...Object.keys(peerDependencies)],
  metafile: true,
  write: false,
});

/** Of the packages inside: their authors ask that a copy carries it. */
const packages = Object.keys(metafile.inputs).map(
  (path) => path.match(/(?:^|\/)node_modules\/((?:@[^/]+\/)?[^/]+)\//)?.[1],
);
const licences = [...new Set(packages)]
  .filter((name) => name !== undefined)
  .map((name) => `/*! ${name}\n\n${readFileSync(join(root, "node_modules", name, "LICENSE"), "utf8")}*/\n`);

writeFileSync(main, [outputFiles[0].text, ...licences].join("\n"));
rmSync(`${main}.map`, { force: true }); // the compiler's, for the file that was
