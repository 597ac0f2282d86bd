/** Books in parts: cut into chunks, which are read where they stand. */
export type { ChunkedBook, ChunkPlace, RowsAt } from "./chunked-book.ts";
export { type CostOf, cutBook } from "./cut.ts";
export { type ChunkedFormat, openChunkedBook } from "./open.ts";
