/**
 * A small battery of statistical tests of words of 32 bits, after Knuth (The Art of Computer Programming 2, 3.3.2) and
 * Marsaglia (Diehard). Each gives a number that is about standard normal for random words.
 */

type Test = (words: Uint32Array) => number;

/** (χ² − ν)/√(2ν), ν = bins − 1. */
function chiSquare(counts: ArrayLike<number>, probability: (bin: number) => number): number {
  const total = Array.from(counts).reduce((a, b) => a + b, 0);
  const freedom = counts.length - 1;
  let sum = 0;
  for (let bin = 0; bin < counts.length; bin++) {
    const expected = total * probability(bin);
    sum += (counts[bin] - expected) ** 2 / expected;
  }
  return (sum - freedom) / Math.sqrt(2 * freedom);
}

/** Bins of the highest `bits` bits of `dimension` words together. */
const serial =
  (dimension: number, bits: number): Test =>
  (words) => {
    const counts = new Float64Array(2 ** (dimension * bits));
    for (let i = 0; i + dimension <= words.length; i += dimension) {
      let bin = 0;
      for (let k = 0; k < dimension; k++) bin = bin * 2 ** bits + (words[i + k] >>> (32 - bits));
      counts[bin]++;
    }
    return chiSquare(counts, () => 1 / counts.length);
  };

/** Bins of the lowest bits. */
const lowFrequency: Test = (words) => {
  const counts = new Float64Array(256);
  for (const word of words) counts[word & 255]++;
  return chiSquare(counts, () => 1 / 256);
};

/** Lengths of gaps between words below 2²⁸, which are geometrically distributed. */
const gap: Test = (words) => {
  const [p, longest] = [1 / 16, 63];
  const counts = new Float64Array(longest + 1);
  let length = 0;
  for (const word of words) {
    if (word >= 2 ** 28) length++;
    else {
      counts[Math.min(length, longest)]++;
      length = 0;
    }
  }
  return chiSquare(counts, (bin) => (bin < longest ? p * (1 - p) ** bin : (1 - p) ** longest));
};

/** Of 4,096 birthdays in 2³² days, equal spacings are about Poisson distributed with mean 4,096³/(4·2³²) = 4. */
const birthdaySpacings: Test = (words) => {
  const birthdays = 4096;
  const years = Math.floor(words.length / birthdays);
  let equal = 0;
  for (let year = 0; year < years; year++) {
    const days = words.slice(year * birthdays, (year + 1) * birthdays).sort();
    const spacings = Uint32Array.from(days, (day, i) => (i === 0 ? day : day - days[i - 1])).sort();
    for (let i = 1; i < birthdays; i++) if (spacings[i] === spacings[i - 1]) equal++;
  }
  const mean = 4 * years;
  return (equal - mean) / Math.sqrt(mean);
};

/** Ranks over GF(2) of matrices of 32 words: full, one less, and below, with probabilities 0.2888, 0.5776, 0.1336. */
const matrixRank: Test = (words) => {
  const counts = [0, 0, 0];
  for (let i = 0; i + 32 <= words.length; i += 32) counts[Math.min(2, 32 - rank(words.slice(i, i + 32)))]++;
  return chiSquare(counts, (bin) => [0.2887880952, 0.5775761902, 0.1336357146][bin]);
};

function rank(rows: Uint32Array): number {
  let found = 0;
  for (let bit = 31; bit >= 0; bit--) {
    const pivot = rows.findIndex((row, i) => i >= found && ((row >>> bit) & 1) === 1);
    if (pivot < 0) continue;
    [rows[found], rows[pivot]] = [rows[pivot], rows[found]];
    for (let i = found + 1; i < 32; i++) if (((rows[i] >>> bit) & 1) === 1) rows[i] ^= rows[found];
    found++;
  }
  return found;
}

export const BATTERY: Readonly<Record<string, Test>> = {
  frequency: serial(1, 8),
  "frequency of low bits": lowFrequency,
  "serial, pairs": serial(2, 5),
  "serial, triples": serial(3, 4),
  gap,
  "birthday spacings": birthdaySpacings,
  "matrix rank": matrixRank,
};
