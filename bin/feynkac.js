#!/usr/bin/env node
// Checks what the rest of the program takes for granted, in syntax that old versions of Node understand, then hands over.
import { existsSync } from "node:fs";
import module from "node:module";
import { fileURLToPath } from "node:url";

const least = [20, 19];
const [major, minor] = process.versions.node.split(".").map(Number);
const main = fileURLToPath(new URL("../dist/cli/main.cjs", import.meta.url));

function refuse(message) {
  process.stderr.write(`feynkac: ${message}\n`);
  process.exitCode = 2;
}

if (major < least[0] || (major === least[0] && minor < least[1])) {
  refuse(`needs Node ${least.join(".")} or later, this is ${process.version}; see https://nodejs.org`);
} else if (!existsSync(main)) {
  refuse("not built yet; in a clone run `npm ci` (which builds), or `npm run build`");
} else {
  const { load } = module.createRequire(import.meta.url)("../dist/cli/start.cjs");
  await load(main).runFromShell();
}
