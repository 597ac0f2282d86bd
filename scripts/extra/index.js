// Tools that only one command needs. They have a lock of their own, so that `npm ci` is a quarter shorter.
import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { join } from "node:path";

/** The folder with the packages of the extra tools, which are installed on first use. */
export function extraModules() {
  const folder = import.meta.dirname;
  const modules = join(folder, "node_modules");
  if (!existsSync(join(modules, ".package-lock.json")))
    execFileSync("npm", ["ci", "--prefix", folder, "--ignore-scripts", "--no-audit", "--no-fund", "--silent"], {
      stdio: "inherit",
    });
  return modules;
}
