// node --import ./scripts/typescript.js FILE.ts: runs TypeScript as the compiler would leave it, which is what users
// run. tsx keeps the name of each function by a call and a property wherever one is made: meshes and problems, which
// make many, made options on small meshes take 1.3 to 1.6 times as long.
import { register } from "node:module";

register("./typescript-hooks.js", import.meta.url);
