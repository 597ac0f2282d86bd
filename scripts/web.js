// Builds the page into dist/web: what `feynkac web` serves. Without the development dependencies there is no bundler.
import { fileURLToPath } from "node:url";
import { build } from "vite";

await build({ configFile: fileURLToPath(new URL("../web/vite.config.ts", import.meta.url)), logLevel: "warn" });
