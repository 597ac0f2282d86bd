/** Prices the book of a file with all Greeks on one thread. */
import { readFileSync } from "node:fs";
import { createCpuDevice } from "../../src/device/cpu/index.ts";
import { parseBook, priceBook } from "../../src/index.ts";

const book = parseBook(readFileSync(process.argv[2], "utf8"));
const device = createCpuDevice({ threads: 1 });
const { results } = await priceBook(book, { device });
device[Symbol.dispose]();
for (const result of results) if (result.status === "error") throw new Error(result.error.message);
