import { BookError } from "../errors.ts";

/** Bytes as they come from a file, a socket or standard input. */
export type ByteStream = AsyncIterable<Uint8Array>;

/**
 * UTF-8 text, chunk by chunk; a byte order mark is dropped, invalid bytes become U+FFFD.
 * @throws BookError for input that is evidently something else: compressed, or UTF-16
 */
export async function* decodeText(bytes: ByteStream): AsyncGenerator<string> {
  const decoder = new TextDecoder("utf-8");
  let first = true;
  for await (const chunk of bytes) {
    if (first && chunk.length > 0) {
      refuseOtherEncodings(chunk);
      first = false;
    }
    const text = decoder.decode(chunk, { stream: true });
    if (text !== "") yield text;
  }
  const rest = decoder.decode();
  if (rest !== "") yield rest;
}

function refuseOtherEncodings([a, b]: Uint8Array): void {
  if (a === 0x1f && b === 0x8b)
    throw new BookError("", "the input is compressed (gzip); decompress it first: gunzip -c FILE | feynkac price -");
  if ((a === 0xff && b === 0xfe) || (a === 0xfe && b === 0xff))
    throw new BookError("", "the input is UTF-16; save it as UTF-8");
}

/** V8's longest string is 2²⁹ − 24 units; a book larger than this belongs into NDJSON anyway. */
const MOST_WHOLE = 1 << 28;

/** All of the text at once. @throws BookError when it is longer than 256 Mi characters */
export async function readWholeText(chunks: AsyncIterable<string>): Promise<string> {
  const parts: string[] = [];
  let length = 0;
  for await (const chunk of chunks) {
    length += chunk.length;
    if (length > MOST_WHOLE)
      throw new BookError(
        "",
        "the book is too large to be read at once (256 MiB); write its trades as NDJSON, one a line, which is streamed",
      );
    parts.push(chunk);
  }
  return parts.join("");
}
