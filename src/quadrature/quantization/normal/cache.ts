/**
 * Quantizers on disk, so that one is made once: in Node, in the directory of the compiled kernels; in a browser, none.
 */
import { cacheFolder } from "../../../device/index.ts";
import type { Quantizer } from "../quantizer.ts";

/** Changes when quantizers of the same settings become others. */
const VERSION = 1;

/** The settings that determine a quantizer; in the plane its size does. */
interface QuantizerKey {
  readonly dimension: number;
  readonly size: number;
  readonly seed?: bigint;
  readonly samples?: number;
  readonly precision?: string;
}

const nameOf = ({ dimension, size, seed, samples, precision }: QuantizerKey): string => {
  const parts = [dimension, size, seed, samples, precision].filter((part) => part !== undefined);
  return `normal-${parts.join("-")}-v${VERSION}.quantizer`;
};

/** Reads a quantizer from the cache; undefined where there is none, or none that is readable and intact. */
export async function cachedQuantizer(key: QuantizerKey): Promise<Quantizer | undefined> {
  const folder = cacheFolder();
  if (folder === undefined) return undefined;
  try {
    const text = await folder.read(nameOf(key));
    const { points, weights, distortion, errorEstimate } = JSON.parse(text) as Quantizer;
    const { dimension, size } = key;
    const isWhole = Object.values(points).length === size * dimension && Object.values(weights).length === size;
    const numbers = [...Object.values(points), ...Object.values(weights), distortion, errorEstimate];
    if (!isWhole || !numbers.every(Number.isFinite)) return undefined;
    return {
      dimension,
      size,
      points: Float64Array.from(points),
      weights: Float64Array.from(weights),
      distortion,
      errorEstimate,
    };
  } catch {
    return undefined;
  }
}

/** Stores a quantizer in the cache; disk errors are ignored. */
export async function storeQuantizer(key: QuantizerKey, quantizer: Quantizer): Promise<void> {
  const { points, weights, distortion, errorEstimate } = quantizer;
  const text = JSON.stringify({ points: [...points], weights: [...weights], distortion, errorEstimate });
  await cacheFolder()?.write(nameOf(key), text);
}
