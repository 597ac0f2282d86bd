/** The measurements in bench/results, to be quoted. */
import type { Measurement } from "../harness.ts";

export interface Wanted {
  readonly benchmark: string;
  /** How the case begins. */
  readonly case: string;
  /** How it ends, where that is needed to tell it from others. */
  readonly ends?: string;
  readonly unit?: string;
  readonly precision?: Measurement["precision"];
  /** How the device begins; without it, the device that the benchmark was measured on last. */
  readonly device?: string;
}

/** Finds measurements by their case, and remembers which were asked for. */
export class Kept {
  private readonly quoted = new Set<Measurement>();
  private readonly measurements: readonly Measurement[];

  constructor(measurements: readonly Measurement[]) {
    this.measurements = measurements;
  }

  /** The only one. @throws Error if there is none, several, or one of sources that no commit has */
  one(wanted: Wanted): Measurement {
    const found = this.all(wanted);
    if (found.length !== 1)
      throw new Error(`bench/results: expected one measurement, got ${found.length}: ${JSON.stringify(wanted)}`);
    return found[0];
  }

  /** At least one, in the order they were measured. */
  all({ benchmark, case: begins, ends = "", unit, precision, device }: Wanted): Measurement[] {
    const fitting = this.measurements.filter(
      (m) =>
        m.benchmark === benchmark &&
        m.case.startsWith(begins) &&
        m.case.endsWith(ends) &&
        (unit === undefined || m.unit === unit) &&
        (precision === undefined || m.precision === precision) &&
        (device === undefined || m.device.startsWith(device)),
    );
    const last = fitting.reduce<Measurement | undefined>(
      (a, b) => (a === undefined || b.date >= a.date ? b : a),
      undefined,
    );
    if (last === undefined)
      throw new Error(
        `bench/results: nothing for ${JSON.stringify({ benchmark, case: begins, ends, unit, precision, device })}`,
      );
    const found = fitting.filter((m) => m.device === last.device);
    for (const m of found) {
      if (!/^[0-9a-f]+$/.test(m.commit))
        throw new Error(
          `bench/results: ${m.case} is of ${m.commit}, no commit: measure it again, with nothing changed`,
        );
      this.quoted.add(m);
    }
    return found;
  }

  /** "Measured: … at commit … on …": a sentence for all that was asked for since the last call. */
  provenance(): string {
    const all = [...this.quoted].map(
      ({ benchmark, commit, date, device }) => `\`${benchmark}\` at commit ${commit} (${date}) on ${device}`,
    );
    this.quoted.clear();
    return `Measured: ${[...new Set(all)].join("; ")}.`;
  }
}

/** Three significant digits, thousands separated. */
export function digits(x: number, count = 3): string {
  const rounded = Number(x.toPrecision(count));
  return rounded >= 1000 ? rounded.toLocaleString("en-US") : String(rounded);
}

export const percent = (x: number): string => `${Math.round(100 * x)} %`;

/** From the lowest to the highest; one figure if they are the same. */
export function range(values: readonly number[], show: (x: number) => string = digits): string {
  const [low, high] = [show(Math.min(...values)), show(Math.max(...values))];
  return low === high ? low : `${low} to ${high}`;
}
