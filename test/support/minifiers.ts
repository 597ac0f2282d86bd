/**
 * What production builds run over code: today's minifiers, each as it is used by default and with its stronger
 * settings.
 */
import { minifySync as swc } from "@swc/wasm";
import { transform } from "esbuild";
import { minify as terser } from "terser";
import { minify as oxc } from "vite";

export interface Minifier {
  readonly name: string;
  /** An ES module to an ES module that does the same. */
  readonly minify: (code: string) => Promise<string>;
}

export const minifiers: readonly Minifier[] = [
  {
    name: "esbuild",
    minify: async (code) => (await transform(code, { minify: true, format: "esm", target: "esnext" })).code,
  },
  { name: "Oxc", minify: byOxc },
  {
    name: "Terser",
    minify: async (code) =>
      (await terser(code, { module: true, ecma: 2020, compress: { passes: 3, keep_fargs: false, hoist_funs: true } }))
        .code!,
  },
  {
    name: "SWC",
    minify: async (code) =>
      swc(code, { module: true, ecma: 2020, compress: { passes: 3, toplevel: true }, mangle: { toplevel: true } }).code,
  },
];

/** Changes nothing but names, and gives short ones that shadow each other. */
export const renamer: Minifier = {
  name: "Terser, names alone",
  minify: async (code) => (await terser(code, { module: true, compress: false })).code!,
};

async function byOxc(code: string): Promise<string> {
  const { code: minified, errors } = await oxc("module.js", code, { module: true, compress: true, mangle: true });
  if (errors.length > 0) throw new Error(errors[0].message);
  return minified;
}
