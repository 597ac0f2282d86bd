#!/usr/bin/env node
// Checks what the rest of the program takes for granted, in syntax that old versions of Node understand, then hands over.
// A script (bin/package.json): Node starts its loader of modules only when one is imported.
"use strict";
const { existsSync } = require("node:fs");
const { join } = require("node:path");

const least = [20, 19];
const [major, minor] = process.versions.node.split(".").map(Number);
const folder = join(__dirname, "../dist/cli");

function refuse(message) {
  process.stderr.write(`feynkac: ${message}\n`);
  process.exitCode = 2;
}

if (major < least[0] || (major === least[0] && minor < least[1])) {
  refuse(`needs Node ${least.join(".")} or later, this is ${process.version}; see https://nodejs.org`);
} else if (!existsSync(join(folder, "main.cjs"))) {
  refuse("not built yet; in a clone run `npm ci` (which builds), or `npm run build`");
} else {
  void require("../dist/cli/start.cjs").load(folder).runFromShell();
}
