import { fn, i32, read, real } from "../../../kernel/index.ts";

/**
 * Prefetches the line of the cache that holds a word: WebAssembly has no prefetch, but executes a load that may trap
 * even if its result is unused. Several such loads are in flight together, where elimination would wait for each row in
 * turn.
 */
export const touch = fn({
  name: "touch",
  params: [read(real), i32],
  body([array, at]) {
    const word = array[at];
    return word;
  },
});
