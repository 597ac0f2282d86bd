/**
 * The number of characters that are encoded at a time. Memory for the text of a whole batch would take longer to
 * allocate than the text to write.
 */
const PIECE = 4096;

const encoder = new TextEncoder();

/** Returns the texts of rows, one after another, encoded in UTF-8. */
export function encodeRows<Row>(rows: readonly Row[], textOf: (row: Row) => string): Uint8Array<ArrayBuffer> {
  let bytes = new Uint8Array();
  let length = 0;
  let piece = "";
  const encode = (done: number): void => {
    const most = length + 3 * piece.length; // UTF-8 takes at most three bytes for a unit of UTF-16
    if (most > bytes.length) {
      // The other rows need about as much.
      const larger = new Uint8Array(most + Math.ceil((1.25 * (length + piece.length) * (rows.length - done)) / done));
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    length += encoder.encodeInto(piece, bytes.subarray(length)).written;
    piece = "";
  };
  for (const [i, row] of rows.entries()) {
    piece += textOf(row);
    if (piece.length >= PIECE || i === rows.length - 1) encode(i + 1);
  }
  return bytes.subarray(0, length);
}
