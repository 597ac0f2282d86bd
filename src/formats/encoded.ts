/** Characters encoded at a time: fresh memory for the text of a whole batch costs more than to make the text. */
const PIECE = 4096;
/** Bytes that a row is first taken to need. */
const ROW = 256;

const encoder = new TextEncoder();

/** The texts of some rows, one after another, in UTF-8. */
export function encoded<Row>(rows: readonly Row[], textOf: (row: Row) => string): Uint8Array<ArrayBuffer> {
  let bytes = new Uint8Array(ROW * rows.length);
  let length = 0;
  let piece = "";
  const encode = (): void => {
    const most = length + 3 * piece.length; // UTF-8 takes at most three bytes for a unit of UTF-16
    if (most > bytes.length) {
      const larger = new Uint8Array(2 * most);
      larger.set(bytes.subarray(0, length));
      bytes = larger;
    }
    length += encoder.encodeInto(piece, bytes.subarray(length)).written;
    piece = "";
  };
  for (const row of rows) {
    piece += textOf(row);
    if (piece.length >= PIECE) encode();
  }
  encode();
  return bytes.subarray(0, length);
}
