// npx tsx scripts/plane-quantizers.ts [seconds]: searches for optimal quantizers of N(0, I₂) and writes the best of
// each size to src/quadrature/quantization/normal/plane-data.ts. It goes on from those that the file holds, so that it
// may be stopped at any time, and run again for better ones.
import { existsSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { hostNormals, randomGuess, splitGuess } from "../src/quadrature/quantization/normal/guess.ts";
import {
  COORDINATE_OFFSET,
  planeSizes,
  COORDINATE_UNIT,
  unpackPlane,
} from "../src/quadrature/quantization/normal/plane-ladder.ts";
import { optimalPlaneQuantizer } from "../src/quadrature/quantization/normal/plane.ts";
import type { Quantizer } from "../src/quadrature/quantization/quantizer.ts";

const path = fileURLToPath(new URL("../src/quadrature/quantization/normal/plane-data.ts", import.meta.url));
const end = performance.now() + 1000 * Number(process.argv[2] ?? 600);
const best = new Map<number, Quantizer>();
if (existsSync(path)) {
  const { planeData } = (await import(path)) as { readonly planeData: string };
  for (const size of planeSizes()) best.set(size, optimalPlaneQuantizer(unpackPlane(planeData, size), 0));
}

/** Packs the points of all sizes into text: 16 bits a coordinate, the low byte first, in base64. */
function packPlane(points: readonly Float64Array[]): string {
  const bytes = points.flatMap((of) =>
    Array.from(of, (x) => Math.round(x / COORDINATE_UNIT) + COORDINATE_OFFSET).flatMap((word) => [
      word & 255,
      word >> 8,
    ]),
  );
  let text = "";
  for (let k = 0; k < bytes.length; k += 3 * 1024) text += btoa(String.fromCharCode(...bytes.slice(k, k + 3 * 1024)));
  return text;
}

/** The points of a disc moved at random by about half their distances. */
function shaken({ points, size }: Quantizer, stream: number): Float64Array {
  const numbers = hostNormals(size, stream, 2 * size + 3);
  const [x, y, radius] = [numbers[2 * size], numbers[2 * size + 1], 0.5 + Math.abs(numbers[2 * size + 2])];
  const spacing = 5 / Math.sqrt(size);
  return points.map((coordinate, k) => {
    const isInside = Math.hypot(points[k & ~1] - x, points[k | 1] - y) < radius;
    return isInside ? coordinate + 0.4 * spacing * numbers[k] : coordinate;
  });
}

function attempt(size: number, round: number): Float64Array {
  const known = best.get(size);
  const smaller = best.get(planeSizes()[planeSizes().indexOf(size) - 1] ?? 0);
  if (round === 0 && smaller !== undefined) return splitGuess(smaller.points, smaller.weights, 2, size);
  if (known === undefined || round % 3 === 1) return randomGuess(size, 2, size, round);
  return shaken(known, round);
}

for (let round = 0; performance.now() < end; round++) {
  let improved = 0;
  for (const size of planeSizes()) {
    if (performance.now() > end && best.has(size)) break;
    const known = best.get(size);
    const found = optimalPlaneQuantizer(
      attempt(size, known === undefined ? 0 : Math.floor(1000 * Math.random()) + 1),
      60,
    );
    if (known !== undefined && found.distortion > known.distortion - 1e-12) continue;
    best.set(size, found);
    improved++;
  }
  const head = `/**
 * Optimal quantizers of N(0, I₂), written by scripts/plane-quantizers.ts: the points of the sizes of \`planeSizes\`,
 * one size after another, as \`unpackPlane\` reads them. Weights and distortions follow from the points exactly.
 */\n`;
  const text = packPlane(planeSizes().map((size) => best.get(size)!.points));
  writeFileSync(path, `${head}export const planeData =\n  ${JSON.stringify(text)};\n`);
  const products = [10, 100, 500].map((size) => `${size}: ${best.get(size)!.distortion.toFixed(9)}`);
  console.log(`round ${round}: ${improved} improved; ${products.join(", ")}`);
}
