import { fn, i32, read, real } from "../../kernel/index.ts";

/**
 * Asks for the line of the cache that holds a word, and does nothing with it: WebAssembly has no prefetch, but a load
 * that may trap is made, whatever becomes of it. Many such loads, one after another, are on their way together, where
 * elimination would wait for one row before it asks for the next.
 */
export const touch = fn({
  name: "touch",
  params: [read(real), i32],
  body([array, at]) {
    const word = array[at];
    return word;
  },
});
