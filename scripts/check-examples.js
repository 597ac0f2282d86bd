// Lays out the examples of an installed package, and those that its documents show, to be compiled as strictly as users
// may.
import { cpSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

const modules = fileURLToPath(new URL("../node_modules", import.meta.url));

/** In a folder beside `node_modules`, with the examples' own tsconfig.json; where it lies. */
export function layOutExamples(consumer) {
  const installed = join(consumer, "node_modules/feynkac");
  const folder = join(consumer, "examples");
  cpSync(join(installed, "examples"), folder, { recursive: true });
  // The client of the service needs them; users install them beside Feynkac.
  for (const name of ["openapi-fetch", "openapi-typescript-helpers"])
    cpSync(join(modules, name), join(folder, "node_modules", name), { recursive: true });
  mkdirSync(join(folder, "documents"));
  for (const file of documents(installed))
    for (const [k, code] of snippets(join(installed, file)).entries())
      writeFileSync(join(folder, "documents", `${file.replaceAll(/\W/g, "-")}-${k}.ts`), code);
  return folder;
}

function documents(root) {
  const markdown = (folder) => readdirSync(join(root, folder)).filter((file) => file.endsWith(".md"));
  const inFolder = (folder) => markdown(folder).map((file) => `${folder}/${file}`);
  return [...markdown("."), ...inFolder("docs"), ...inFolder("docs/api")];
}

const snippets = (file) =>
  [...readFileSync(file, "utf8").matchAll(/^```ts\n(.*?)^```$/gms)].map(([, code]) => `${code}export {};\n`);
