import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync } from "node:fs";
import { join } from "node:path";

/** A convertible bond of notional 100 with annual coupons and conversion at any time. */
export interface ConvertibleJob {
  readonly spot: number;
  readonly rate: number;
  readonly yield: number;
  readonly vol: number;
  readonly spread: number;
  readonly years: number;
  readonly ratio: number;
  readonly coupon: number;
  /** Whole years and clean prices. */
  readonly calls: readonly (readonly [year: number, price: number])[];
  readonly puts: readonly (readonly [year: number, price: number])[];
}

const source = join(import.meta.dirname, "convertible.cpp");
const cache = join(import.meta.dirname, "../../.cache/peers");
const program = join(cache, "convertible");

/** Builds QuantLib's program; false, with the reason noted, where QuantLib is not installed. */
export function buildConvertiblePeer(note: (text: string) => void): boolean {
  if (!existsSync("/usr/include/ql/quantlib.hpp")) {
    note("no QuantLib here (Debian: apt-get install libquantlib0-dev): no peer is measured");
    return false;
  }
  mkdirSync(cache, { recursive: true });
  execFileSync("g++", ["-O3", "-march=native", "-std=c++17", source, "-o", program, "-lQuantLib"]);
  note(execFileSync(program, ["--version"], { encoding: "utf8" }).trim());
  return true;
}

/** Prices and median seconds of QuantLib's binomial tree with so many steps. */
export function binomial(jobs: readonly ConvertibleJob[], steps: number, repetitions: number) {
  const lines = jobs.map((job) =>
    Object.entries({ ...job, steps, repetitions })
      .map(([key, value]) =>
        typeof value === "number" ? `${key}=${value}` : `${key}=${value.map((one) => one.join(":")).join(",")}`,
      )
      .filter((word) => !word.endsWith("="))
      .join(" "),
  );
  const output = execFileSync(program, { input: `${lines.join("\n")}\n`, encoding: "utf8" });
  return output
    .trim()
    .split("\n")
    .map((line) => {
      const [price, seconds] = line.split(" ").map(Number);
      return { price, seconds };
    });
}
