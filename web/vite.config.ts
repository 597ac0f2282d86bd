/** Builds the page into `dist/web`, from the sources of the package. */
import { readFileSync } from "node:fs";
import { defineConfig, type Plugin } from "vite";

const { version } = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")) as {
  readonly version: string;
};

/** The command line reads its version and its commit from its package; a page has to be told. */
const told = `
export const packageVersion = () => ${JSON.stringify(version)};
export const packageCommit = () => undefined;
`;
const toldVersion = (): Plugin => ({
  name: "feynkac-version",
  load: (id) => (id.endsWith("/src/base/version.ts") ? told : null),
});

export default defineConfig({
  root: import.meta.dirname,
  base: "./",
  oxc: { jsx: { runtime: "automatic", importSource: "preact" } },
  build: { outDir: "../dist/web", emptyOutDir: true, target: "es2022", chunkSizeWarningLimit: 700 },
  plugins: [toldVersion()],
  worker: { format: "es", plugins: () => [toldVersion()] },
});
