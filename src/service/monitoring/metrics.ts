/** Metrics of a process in the text format of Prometheus (version 0.0.4). */

type Labels = Readonly<Record<string, string>>;

/** A Prometheus counter: a number that only increases, for each set of labels. */
export interface Counter {
  add(amount?: number, labels?: Labels): void;
}

/** A Prometheus histogram: it counts how many observed values are at most each of several bounds. */
export interface Histogram {
  observe(value: number): void;
}

interface Family {
  readonly name: string;
  readonly help: string;
  readonly type: "counter" | "gauge" | "histogram";
  lines(): string[] | Promise<string[]>;
}

/** The present value of a Prometheus gauge, or one value for each set of labels. */
export type GaugeReading = number | readonly (readonly [Labels, number])[];

/** The metrics of a process, in the text format of Prometheus. */
export class Metrics {
  readonly #families: Family[] = [];

  counter(name: string, help: string): Counter {
    const sums = new Map<string, number>();
    this.#families.push({
      name,
      help,
      type: "counter",
      lines: () => (sums.size === 0 ? [`${name} 0`] : [...sums].map(([labels, sum]) => `${name}${labels} ${sum}`)),
    });
    return {
      add: (amount = 1, labels = {}) => {
        const key = written(labels);
        sums.set(key, (sums.get(key) ?? 0) + amount);
      },
    };
  }

  /** Adds a gauge. `read` returns its present value, and is called whenever the metrics are requested. */
  gauge(name: string, help: string, read: () => GaugeReading | Promise<GaugeReading>): void {
    this.#families.push({
      name,
      help,
      type: "gauge",
      lines: async () => {
        const reading = await read();
        const all = typeof reading === "number" ? [[{}, reading] as const] : reading;
        return all.map(([labels, value]) => `${name}${written(labels)} ${value}`);
      },
    });
  }

  /** Adds a histogram with increasing upper `bounds`. Values above the last bound are counted as well. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const counts = new Float64Array(bounds.length + 1);
    let sum = 0;
    this.#families.push({
      name,
      help,
      type: "histogram",
      lines: () => {
        let count = 0;
        const buckets = [...bounds, Number.POSITIVE_INFINITY].map((bound, i) => {
          count += counts[i];
          return `${name}_bucket${written({ le: bound === Number.POSITIVE_INFINITY ? "+Inf" : String(bound) })} ${count}`;
        });
        return [...buckets, `${name}_sum ${sum}`, `${name}_count ${count}`];
      },
    });
    return {
      observe: (value) => {
        const place = bounds.findIndex((bound) => value <= bound);
        counts[place < 0 ? bounds.length : place]++;
        sum += value;
      },
    };
  }

  /** Returns all metrics as text. Gauges that cannot be read are left out. */
  async text(): Promise<string> {
    const parts = await Promise.all(
      this.#families.map(async ({ name, help, type, lines }) => {
        try {
          return [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...(await lines()), ""].join("\n");
        } catch {
          return "";
        }
      }),
    );
    return parts.join("");
  }
}

/** The media type of the Prometheus text format. */
export const METRICS_TYPE = "text/plain; version=0.0.4; charset=utf-8";

function written(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${value.replace(/[\\"\n]/g, escaped)}"`);
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

function escaped(character: string): string {
  return character === "\n" ? "\\n" : `\\${character}`;
}
