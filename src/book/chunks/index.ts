/** Books that are read in chunks of consecutive trades. */
export type { ChunkedBook, ChunkPosition, RowsAt } from "./chunked-book.ts";
export { type CostOf, cutBook } from "./cut.ts";
export { type ChunkedFormat, openChunkedBook } from "./open.ts";
