/**
 * Sparse matrices on the host: plain data, one type per format. Every matrix can be written in every format; they
 * differ in the bytes that a product reads and in how evenly they occupy a device. Names and ideas follow N. Bell & M.
 * Garland, Efficient sparse matrix-vector multiplication on CUDA (2008).
 */

/** The fields that all formats have. Values are f64 on the host; they are rounded when they reach a device. */
interface Shaped {
  readonly rows: number;
  readonly columns: number;
  readonly values: Float64Array;
}

/** A matrix by coordinates: entry k is values[k] at (row[k], column[k]), sorted by row, then by column. @stable */
export interface CooMatrix extends Shaped {
  readonly kind: "coo";
  readonly row: Int32Array;
  readonly column: Int32Array;
}

/**
 * A matrix by compressed rows: the entries of row i are starts[i] … starts[i + 1] − 1, sorted by column. A column of −1
 * is padding.
 * @stable
 */
export interface CsrMatrix extends Shaped {
  readonly kind: "csr";
  /** The start of each row and the end, rows + 1 indexes. */
  readonly starts: Int32Array;
  readonly column: Int32Array;
  /** The length of every row is padded to a multiple of this number; 1 without padding. */
  readonly padding: number;
}

/**
 * A matrix by compressed rows of dense blocks: block b is at block column `column[b]`; its entry (r, c) at b·R·C + c·R
 * + r.
 * @stable
 */
export interface BcsrMatrix extends Shaped {
  readonly kind: "bcsr";
  /** The rows R and columns C of a block. */
  readonly block: readonly [rows: number, columns: number];
  /** The start of each row of blocks, and the end. */
  readonly starts: Int32Array;
  readonly column: Int32Array;
}

/**
 * A matrix with the same number of stored entries in every row: entry k of row i is at k·pitch + i. A column of −1 is
 * padding.
 * @stable
 */
export interface EllMatrix extends Shaped {
  readonly kind: "ell";
  /** The number of stored entries of a row. */
  readonly width: number;
  /** The number of rows, rounded up to whole lines of the cache. */
  readonly pitch: number;
  readonly column: Int32Array;
}

/** A matrix by diagonals: the entry (i, i + offsets[d]) is at d·pitch + i; offsets ascend. @stable */
export interface DiaMatrix extends Shaped {
  readonly kind: "dia";
  readonly pitch: number;
  readonly offsets: Int32Array;
}

/** A matrix with the first `ell.width` entries of every row in ELL and the others in COO. @stable */
export interface HybMatrix {
  readonly kind: "hyb";
  readonly rows: number;
  readonly columns: number;
  readonly ell: EllMatrix;
  readonly rest: CooMatrix;
}

/**
 * A matrix by packets of rows whose part of x fits workgroup memory. Entry s of item t of packet p is at entryStarts[p]
 * + s·items + t; `packed` holds its row in the high half and its column in the low half, both counted within the
 * packet. Entries that couple two packets are in `rest`.
 * @stable
 */
export interface PktMatrix extends Shaped {
  readonly kind: "pkt";
  /** The number of work items of a packet. */
  readonly items: number;
  readonly packetRows: number;
  /** The row numbers, packet by packet; packet p has order[starts[p]] … order[starts[p + 1] − 1]. */
  readonly order: Int32Array;
  readonly starts: Int32Array;
  readonly entryStarts: Int32Array;
  readonly packed: Uint32Array;
  readonly rest: CooMatrix;
}

/** A sparse matrix in any stored format. @stable */
export type SparseMatrix = CooMatrix | CsrMatrix | BcsrMatrix | EllMatrix | DiaMatrix | HybMatrix | PktMatrix;

/** The name of a stored format. @stable */
export type SparseFormat = SparseMatrix["kind"];

/** The value in `packed` that marks padding. */
export const NO_ENTRY = 0xffff_ffff;

/** 128 bytes of f64: what one subgroup of a GPU reads at once. */
const LINE = 16;
/** Returns the number of rows rounded up to whole lines of the cache. */
export const pitchOf = (rows: number): number => Math.ceil(rows / LINE) * LINE;

/** Returns the number of entries of the longest row. */
export function longestRow(starts: Int32Array): number {
  let longest = 0;
  for (let i = 0; i + 1 < starts.length; i++) longest = Math.max(longest, starts[i + 1] - starts[i]);
  return longest;
}

/**
 * Returns the number of entries of a row in the ELL part of HYB: the largest number that at least a third of the rows
 * have (Bell & Garland 2009, section 4.5: ELL was about three times as fast as COO for the same entries).
 */
export function hybWidth(starts: Int32Array): number {
  const rows = starts.length - 1;
  const having = new Int32Array(longestRow(starts) + 2);
  for (let i = 0; i < rows; i++) having[starts[i + 1] - starts[i]]++;
  let [width, count] = [having.length - 2, 0];
  for (; width > 0; width--) {
    count += having[width];
    if (3 * count >= rows) break;
  }
  return Math.max(width, 0);
}
