#!/usr/bin/env node
// Checks what the rest of the program takes for granted, in syntax that old versions of Node understand, then hands over.
import { existsSync } from "node:fs";
import module from "node:module";

const least = [20, 19];
const [major, minor] = process.versions.node.split(".").map(Number);
const main = new URL("../dist/cli/main.js", import.meta.url);

function refuse(message) {
  process.stderr.write(`feynkac: ${message}\n`);
  process.exitCode = 2;
}

if (major < least[0] || (major === least[0] && minor < least[1])) {
  refuse(`needs Node ${least.join(".")} or later, this is ${process.version}; see https://nodejs.org`);
} else if (!existsSync(main)) {
  refuse("not built yet; in a clone run `npm ci` (which builds), or `npm run build`");
} else {
  // From Node 22.8 on compiled code is kept between runs: a shorter start.
  module.enableCompileCache?.();
  const { runFromShell } = await import(main.href);
  await runFromShell();
}
