/** The blocks of the documents that quote figures. Each is made from bench/results and never written by hand. */
import { wrapped } from "../../scripts/markdown.ts";
import { advantage, type Measurement } from "../harness.ts";
import { digits, type Kept, percent, range } from "./kept.ts";

export interface Block {
  readonly file: string;
  readonly name: string;
  text(kept: Kept): string;
}

const row = (...cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
const table = (header: readonly string[], rows: readonly (readonly string[])[]): string =>
  [row(...header), row(...header.map(() => "---")), ...rows.map((cells) => row(...cells))].join("\n");
const paragraphs = (...parts: readonly string[]): string => parts.join("\n\n");

const provenance = (kept: Kept): string => wrapped(kept.provenance());

/** The best of the peers. */
const bestPeer = ({ unit, peers = {} }: Measurement): readonly [name: string, figure: number] | undefined =>
  Object.entries(peers).toSorted(([, a], [, b]) => (unit.endsWith("/s") ? b - a : a - b))[0];

/** "Feynkac 12×": who is faster, and how many times. */
function faster(m: Measurement, peer: number): string {
  const times = advantage(m, peer);
  return times >= 1 ? `Feynkac, ${digits(times, 2)}×` : `QuantLib, ${digits(1 / times, 2)}×`;
}

/** At equal error: how the case begins in bench/results, and what a reader is told. */
const EQUAL_ERROR = [
  ["American puts, worst of six, error of QdFp's fast scheme", "American put"],
  ["American puts, worst of six, error ≤ 0.0001", "American put"],
  ["American puts, worst of six, error ≤ 0.001", "American put"],
  ["American puts, two cash dividends, worst of six, error ≤ 0.001", "American put, two cash dividends"],
  ["American puts, two cash dividends, worst of six, error ≤ 0.0001", "American put, two cash dividends"],
  ["Bermudan puts, worst of six, error ≤ 0.001", "Bermudan put, ten dates"],
  ["Bermudan puts, worst of six, error ≤ 0.0001", "Bermudan put, ten dates"],
  ["double knock-out calls, worst of six, error ≤ 0.001", "double knock-out call"],
  ["double knock-out calls, worst of six, error ≤ 0.0001", "double knock-out call"],
  ["American puts, local volatility, worst of six, error ≤ 0.001", "American put, local volatility"],
] as const;

const equalErrorOf = (kept: Kept, begins: string, precision: "f64" | "f32") =>
  kept.one({ benchmark: "one-factor", case: `${begins}:`, unit: "options/s", precision });

/** "1e-3", or the error of QuantLib's fast scheme. */
const errorOf = (begins: string): string =>
  /≤ ([\d.]+)$/.exec(begins)?.[1].replace(/^0\.(0+)1$/, (_, zeros: string) => `1e-${zeros.length + 1}`) ??
  "of QuantLib's fast scheme";

const shortPeer = (name: string): string => (name.startsWith("QuantLib QdFp") ? "fixed point" : "finite differences");

const COMMANDS = ["1 American trade", "1,000 American trades", "100,000 American trades"];
const commandOf = (kept: Kept, trades: string) =>
  kept.one({ benchmark: "book", case: `feynkac price, ${trades}, value only, 1 thread,`, unit: "s" });

/** The largest error of a peer's prices, which its name says. */
const peerError = (name: string): number => Number(/error (\S+)/.exec(name)?.[1]);

/** The fastest peer whose error is no larger; where there is none, the one that is most exact. */
function equalPeer(m: Measurement): readonly [name: string, figure: number] {
  const peers = Object.entries(m.peers ?? {}).toSorted(([a], [b]) => peerError(a) - peerError(b));
  const { error } = m;
  if (peers.length === 0 || error === undefined) throw new Error(`${m.case}: no peer, or no error`);
  const equal = peers.filter(([name]) => peerError(name) <= error);
  return equal.toSorted(([, a], [, b]) => a - b)[0] ?? peers[0];
}

/** Seconds of a whole command, and the largest error of its prices. */
const withError = (seconds: number, error: number): string => `${digits(seconds, 2)} s; ${error.toExponential(1)}`;

const readme: Block = {
  file: "README.md",
  name: "speed",
  text(kept) {
    const commands = COMMANDS.map((trades) => {
      const m = commandOf(kept, trades);
      const [name, peer] = equalPeer(m);
      return [
        `${trades}: whole command; error`,
        withError(m.figure, m.error ?? Number.NaN),
        "",
        `${withError(peer, peerError(name))}, fixed point`,
        faster(m, peer),
      ];
    });
    const rows = EQUAL_ERROR.filter(([begins]) => !begins.endsWith("≤ 0.0001")).map(([begins, name]) => {
      const m = equalErrorOf(kept, begins, "f64");
      const single = begins.endsWith("≤ 0.001") ? `${digits(equalErrorOf(kept, begins, "f32").figure)}/s` : "";
      const [peer, figure] = bestPeer(m) ?? [];
      if (peer === undefined || figure === undefined) throw new Error(`${m.case}: no peer`);
      return [
        `${name}: error ${errorOf(begins)}`,
        `${digits(m.figure)}/s`,
        single,
        `${digits(figure)}/s, ${shortPeer(peer)}`,
        faster(m, figure),
      ];
    });
    return paragraphs(
      table(
        ["one thread", "Feynkac, f64", "Feynkac, f32", "QuantLib 1.29, fastest method", "faster (f64)"],
        [...commands, ...rows],
      ),
      provenance(kept),
    );
  },
};

const commands: Block = {
  file: "docs/performance.md",
  name: "commands",
  text(kept) {
    const rows = COMMANDS.flatMap((trades) =>
      kept.all({ benchmark: "book", case: `feynkac price, ${trades}, value only,`, unit: "s" }).map((m) => [
        trades,
        /\d+ threads?/.exec(m.case)?.[0] ?? "",
        withError(m.figure, m.error ?? Number.NaN),
        ...["fast", "accurate"].map((scheme) => {
          const found = Object.entries(m.peers ?? {}).find(([peer]) => peer.includes(`${scheme} scheme`));
          if (found === undefined) throw new Error(`${m.case}: no peer, ${scheme} scheme`);
          return withError(found[1], peerError(found[0]));
        }),
      ]),
    );
    const rates = kept.all({ benchmark: "book", case: "100,000 trades, mixed, all Greeks,", unit: "trades/s" });
    const ladders = ["Intel", "NVIDIA H200 (CUDA)", "nvidia-h200 (WebGPU)"].flatMap((device) =>
      kept
        .all({ benchmark: "ladder", case: "10,000", unit: "s", device })
        .map((m) => [
          m.case
            .replace(/, value only.*/, "")
            .replace(/american|european/, (kind) => `${kind[0].toUpperCase()}${kind.slice(1)}`),
          m.device,
          m.precision,
          `${digits(m.figure)} s`,
        ]),
    );
    return paragraphs(
      table(
        [
          "value only: time; error",
          "threads",
          "Feynkac",
          "QuantLib `QdFp`, fast scheme",
          "QuantLib `QdFp`, accurate scheme",
        ],
        rows,
      ),
      wrapped(
        `A book of 100,000 trades of all kinds, with all Greeks, is priced at ` +
          `${range(rates.map(({ figure }) => figure))} trades/s on 1 to ${rates.length} threads.`,
      ),
      table(["whole command, file to file (87 MB)", "device", "precision", "Feynkac"], ladders),
      provenance(kept),
    );
  },
};

/** "QdFp (7, 2, 5)-27", or a mesh with its damping and extrapolation: bench/one-factor/quantlib.ts, abbreviated. */
const methodOf = (peer: string): string =>
  peer
    .replace(/^QuantLib /, "")
    .replace(", 1 thread", "")
    .replace(" nodes × ", " × ")
    .replace(" steps", "")
    .replace("2 damping steps", "damped")
    .replace("extrapolated linear in time, quadratic in space", "Δt and h²")
    .replace("extrapolated linear in time", "Δt");

const equalError: Block = {
  file: "docs/performance.md",
  name: "equal-error",
  text(kept) {
    const meshOf = (m: Measurement) => / (\d+) nodes × (\d+) steps extrapolated/.exec(m.case)?.slice(1).join(" × ");
    const ours = (m: Measurement, precision: string) => `${digits(m.figure)} ${precision} (${meshOf(m)})`;
    const rows = EQUAL_ERROR.flatMap(([begins, name]) => {
      const m = equalErrorOf(kept, begins, "f64");
      const peers = Object.entries(m.peers ?? {}).map(([peer, figure]) => [
        name,
        errorOf(begins),
        ours(m, "f64"),
        `${digits(figure)} (${methodOf(peer)})`,
        faster(m, figure),
      ]);
      if (!begins.endsWith("≤ 0.001")) return peers;
      const single = equalErrorOf(kept, begins, "f32");
      const [, figure = Number.NaN] = bestPeer(single) ?? [];
      return [...peers, [name, errorOf(begins), ours(single, "f32"), "the same as above", faster(single, figure)]];
    });
    return paragraphs(
      table(["options/s, one thread", "error", "Feynkac (nodes × steps)", "QuantLib (method)", "faster"], rows),
      provenance(kept),
    );
  },
};

/** Cases of `one-factor`; a reader is told the mesh once where all share it. */
const SAME_MESH = [
  "American put, 201 nodes × 96 steps",
  "American put, 401 nodes × 384 steps",
  "European put, 201 nodes × 96 steps",
  "American put, two cash dividends, 201 nodes × 96 steps",
  "Bermudan put, nine dates and expiry, 201 nodes × 96 steps",
  "double knock-out call, 201 nodes × 96 steps",
  "American put, local volatility, 201 nodes × 96 steps",
];

const sameMesh: Block = {
  file: "docs/performance.md",
  name: "same-mesh",
  text(kept) {
    const rows = SAME_MESH.map((name) => {
      const of = (unit: string, ends: string) => kept.one({ benchmark: "one-factor", case: name, ends, unit });
      const rate = of("options/s", ", 1 thread");
      const nanoseconds = of("ns per node-step", ", 1 thread");
      const loop = of("ns per node-step", ", 1 thread, the time loop alone");
      const peers = [rate, nanoseconds].map((m) => bestPeer(m)?.[1] ?? Number.NaN);
      return [
        name.replace(" nodes × ", " × ").replace(" steps", "").replace("nine dates and expiry", "ten dates"),
        digits(rate.figure),
        digits(peers[0]),
        faster(rate, peers[0]),
        digits(nanoseconds.figure, 2),
        digits(peers[1], 2),
        `${digits(loop.figure, 2)} (${percent((loop.floor ?? 0) / loop.figure)})`,
      ];
    });
    return paragraphs(
      table(
        ["one thread", "options/s", "QuantLib", "faster", "ns/node-step", "QuantLib", "time loop alone (of the floor)"],
        rows,
      ),
      provenance(kept),
    );
  },
};

const threads: Block = {
  file: "docs/performance.md",
  name: "threads",
  text(kept) {
    const rows = [2, 16].map((count) => {
      const all = kept.all({
        benchmark: "threads",
        case: "",
        ends: `${count} threads and one in turns`,
        device: "Intel",
      });
      const times = all.map((m) => m.figure / (m.peers?.["1 thread"] ?? Number.NaN));
      const processes = all.map((m) => (m.floor ?? Number.NaN) / (m.peers?.["1 thread"] ?? Number.NaN));
      return [String(count), `${range(times)}×`, `${range(processes)}×`];
    });
    return paragraphs(
      table(["", "threads of one process", "independent processes of one thread each"], rows),
      provenance(kept),
    );
  },
};

const GPU_DEVICES = [
  ["CUDA, f64", "NVIDIA H200 (CUDA)", "f64"],
  ["CUDA, f32", "NVIDIA H200 (CUDA)", "f32"],
  ["WebGPU, f32", "nvidia-h200 (WebGPU)", "f32"],
] as const;

const gpu: Block = {
  file: "docs/performance.md",
  name: "gpu",
  text(kept) {
    const of = (begins: string, ends: string, unit: string, device: string, precision: "f64" | "f32") =>
      kept.one({ benchmark: "device", case: begins, ends, unit, device, precision });
    const mesh = "257 nodes × 500 steps";
    const kinds = ["American", "European"];
    const cells = (begins: string, device: string, precision: "f64" | "f32"): readonly string[] => [
      of(begins, "time loop", "node-steps/s", device, precision).figure.toExponential(2),
      digits(of(begins, "time loop", "options/s", device, precision).figure),
      digits(of(begins, "from problems to values", "options/s", device, precision).figure),
    ];
    const loops = GPU_DEVICES.flatMap(([name, device, precision]) =>
      kinds.map((kind) => {
        const begins = `131,072 ${kind} puts, ${mesh}, `;
        const { error = 0 } = of(begins, "time loop", "options/s", device, precision);
        return [`${kind}, ${name}`, ...cells(begins, device, precision), error.toExponential(1)];
      }),
    );
    const cpu = kinds.map((kind) => [
      `${kind}, CPU, 16 threads, f64`,
      ...cells(`8,192 ${kind} puts, ${mesh}, `, "Intel", "f64"),
      "",
    ]);
    const curves = GPU_DEVICES.flatMap(([, device, precision]) =>
      ["American", "European"].map((kind) => {
        const all = kept.all({
          benchmark: "device",
          case: "",
          ends: `${kind} puts, rates and volatility by time, ${mesh}, from problems to values`,
          device,
          precision,
        });
        return { kind, figures: all.map(({ figure }) => figure) };
      }),
    );
    const curve = (kind: string): string => range(curves.flatMap((one) => (one.kind === kind ? one.figures : [])));
    return paragraphs(
      table(
        [
          "puts",
          "time loop, node-steps/s",
          "time loop, options/s",
          "problems to values, options/s",
          "difference from CPU f64",
        ],
        [...loops, ...cpu],
      ),
      wrapped(
        `With time-dependent rates and volatilities the GPU waits for the one host thread that prepares the problems. ` +
          `From problems to values the rate is then ${curve("American")} American and ${curve("European")} European ` +
          `options/s, depending on device, precision and batch size (2,048 or 8,192).`,
      ),
      provenance(kept),
    );
  },
};

const tridiagonal: Block = {
  file: "docs/linear-algebra.md",
  name: "tridiagonal",
  text(kept) {
    const benchmark = "device-tridiagonal";
    const cell = (layout: string, systems: string, precision: "f64" | "f32", device: string): string => {
      const [m] = kept.all({
        benchmark,
        case: `${systems} systems of 512 rows, ${layout}, register-hybrid`,
        unit: "B/s",
        precision,
        device,
      });
      const { "copy of as many bytes": copy = Number.NaN, ...others } = m.peers ?? {};
      const best = Math.max(...Object.values(others));
      const times = Number.isFinite(best) ? `; ${digits(m.figure / best, 2)}×` : "";
      return `${digits(m.figure / 1e12)} (${percent(m.figure / copy)}${times})`;
    };
    const columns = [
      ["131,072", "f64", "NVIDIA H200 (CUDA)"],
      ["16,384", "f64", "NVIDIA H200 (CUDA)"],
      ["131,072", "f32", "NVIDIA H200 (CUDA)"],
      ["16,384", "f32", "NVIDIA H200 (CUDA)"],
      ["131,072", "f32", "nvidia-h200 (WebGPU)"],
      ["16,384", "f32", "nvidia-h200 (WebGPU)"],
    ] as const;
    const rows = columns.map(([systems, precision, device]) => [
      `${device.includes("CUDA") ? "CUDA" : "WebGPU"}, ${precision}`,
      systems,
      ...["contiguous", "interleaved"].map((layout) => cell(layout, systems, precision, device)),
    ]);
    const few = (layout: string, precision: "f64" | "f32"): string =>
      digits(
        1e6 *
          kept.one({
            benchmark,
            case: `512 systems of 512 rows, ${layout}, register-hybrid`,
            unit: "s",
            precision,
            device: "NVIDIA H200 (CUDA)",
          }).figure,
        2,
      );
    return paragraphs(
      table(["TB/s, 5 words per row", "systems of 512 rows", "contiguous", "interleaved"], rows),
      wrapped(
        `In brackets: the fraction of the speed at which as many bytes are copied, and how many times as fast as the ` +
          `best cuSPARSE routine in the same run. On CUDA, 512 systems of 512 rows take ${few("contiguous", "f64")} µs ` +
          `contiguous and ${few("interleaved", "f64")} µs interleaved in f64, and ${few("contiguous", "f32")} µs and ` +
          `${few("interleaved", "f32")} µs in f32.`,
      ),
      provenance(kept),
    );
  },
};

const sparsegrid: Block = {
  file: "docs/sparsegrid.md",
  name: "sparsegrid",
  text(kept) {
    const benchmark = "device-sparsegrid";
    const device = "NVIDIA H200 (CUDA)";
    const published = "three assets, level 10, 5,000 steps, ";
    const of = (begins: string, ends = ""): Measurement => kept.one({ benchmark, case: begins, ends, device });
    const launches = kept
      .all({ benchmark, case: `${published}launches`, device })
      .toSorted((a, b) => a.figure - b.figure);
    const later = of(`${published}a later call`);
    const [[cpu, seconds]] = Object.entries(later.peers ?? {});
    const row = (name: string, figure: number, floor?: number): readonly string[] => [
      name,
      `${digits(1e3 * figure)} ms`,
      floor === undefined ? "" : `${digits(1e3 * floor)} ms`,
    ];
    const best = [2, 3, 4, 5, 6].map((assets) =>
      row(`best of ${assets} assets within 1e-3, a later call`, of(`best of ${assets} assets`, "a later call").figure),
    );
    return paragraphs(
      table(
        ["NVIDIA H200, f64", "time", "floor"],
        [
          row("published case, the first call, which compiles", of(`${published}the first call`).figure),
          row("published case, a later call", later.figure),
          row("of it what the GPU does", launches[0].figure, launches[0].floor),
          row(`published case, ${cpu.replace("f64 on ", "")}`, seconds),
          ...best,
        ],
      ),
      provenance(kept),
    );
  },
};

const sparse: Block = {
  file: "docs/sparse.md",
  name: "sparse",
  text(kept) {
    const columns = (["f64", "f32"] as const).flatMap((precision) =>
      [160, 256].map((grid) => ({ precision, grid, begins: `7 points, ${grid}³ nodes, ` })),
    );
    type Column = (typeof columns)[number];
    const of = ({ precision, begins }: Column, format: string): Measurement =>
      kept.one({
        benchmark: "device-sparse",
        case: begins,
        ends: `, ${format}`,
        precision,
        device: "NVIDIA H200 (CUDA)",
      });
    const milliseconds = (seconds: number, floor: number): string =>
      `${digits(1e3 * seconds)} (${percent(floor / seconds)})`;
    const row = (name: string, format: string): readonly string[] => [
      name,
      ...columns.map((column) => {
        const { figure, floor = Number.NaN } = of(column, format);
        return milliseconds(figure, floor);
      }),
    ];
    const peer = (name: string, format: string): readonly string[] => [
      name,
      ...columns.map((column) => digits(1e3 * (of(column, format).peers?.[name] ?? Number.NaN))),
    ];
    return paragraphs(
      table(
        ["ms on an NVIDIA H200", ...columns.map(({ precision, grid }) => `${precision}, ${grid}³`)],
        [
          row("`csr`, an item a row", "csr scalar"),
          row("`csr`, a team a row", "csr vector"),
          peer("cuSPARSE CSR", "csr scalar"),
          row("`ell`", "ell"),
          peer("cuSPARSE SELL", "ell"),
          row("`dia`", "dia"),
          row("`hyb`", "hyb"),
          row("`coo`", "coo"),
          row("`stencil`", "stencil"),
        ],
      ),
      wrapped(
        "In brackets: how fast a copy of the format's bytes is, compared with the product. More than 100 % is possible, " +
          "since products read more than they write.",
      ),
      provenance(kept),
    );
  },
};

export const blocks: readonly Block[] = [
  readme,
  commands,
  equalError,
  sameMesh,
  threads,
  gpu,
  tridiagonal,
  sparse,
  sparsegrid,
];

const opening = (name: string): string => `<!-- figures: ${name}; written by npm run figures -->`;
const closing = "<!-- /figures -->";

/** A document with the new text of one of its blocks. @throws Error if it has no such block, or several */
export function withBlock(document: string, name: string, text: string): string {
  const parts = document.split(opening(name));
  if (parts.length !== 2) throw new Error(`expected "${opening(name)}" once, got it ${parts.length - 1} times`);
  const end = parts[1].indexOf(closing);
  if (end < 0) throw new Error(`"${opening(name)}" is not closed by "${closing}"`);
  return `${parts[0]}${opening(name)}\n${text}\n${parts[1].slice(end)}`;
}

/** A document without its blocks, that is, what is written by hand. */
export const byHand = (document: string): string =>
  document.replaceAll(/<!-- figures: .*? -->.*?<!-- \/figures -->/gs, "");
