/** Why the value of the book changes: to a later book, or in a market that moves. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import type { ExplainAnswer, ExplainRequest, GivenFile } from "../engine/protocol.ts";
import { engine, problemOf } from "../state/store.ts";
import { ChartView } from "./chart.tsx";
import { Message } from "./message.tsx";

interface Field {
  readonly name: "days" | "spot" | "volatility" | "rate";
  readonly label: string;
  readonly unit: string;
  readonly scale: number;
}

const FIELDS: readonly Field[] = [
  { name: "days", label: "Time", unit: "days later", scale: 1 },
  { name: "spot", label: "All spots", unit: "%", scale: 100 },
  { name: "volatility", label: "All volatilities", unit: "% points", scale: 100 },
  { name: "rate", label: "All rates", unit: "% points", scale: 100 },
];

export function ExplainView(): VNode {
  const move = useSignal({ days: 7, spot: -0.03, volatility: 0.02, rate: 0.001 });
  const method = useSignal<ExplainRequest["method"]>("taylor");
  const answer = useSignal<ExplainAnswer | undefined>(undefined);
  const state = useSignal<"idle" | "running">("idle");
  const failed = useSignal<string | undefined>(undefined);
  const explain = async (files?: readonly GivenFile[]): Promise<void> => {
    state.value = "running";
    failed.value = undefined;
    try {
      const request = { method: method.value, ...(files === undefined ? { move: move.value } : { after: files }) };
      answer.value = await engine.call("explain", request);
    } catch (error) {
      failed.value = problemOf("", error).message;
    }
    state.value = "idle";
  };
  return (
    <div class="with-list wide-list">
      <form
        class="card fields"
        aria-label="What changes"
        onSubmit={(event) => {
          event.preventDefault();
          void explain();
        }}
      >
        <h1>Why does the value change?</h1>
        <p class="about">Move the market of this book:</p>
        {FIELDS.map(({ name, label, unit, scale }) => (
          <label key={name} class="field">
            <span>{label}</span>
            <input
              type="number"
              step="any"
              value={String(Number((move.value[name] * scale).toFixed(6)))}
              onInput={(event) =>
                (move.value = { ...move.value, [name]: event.currentTarget.valueAsNumber / scale || 0 })
              }
            />
            <small>{unit}</small>
          </label>
        ))}
        <label class="field">
          <span>Method</span>
          <select
            value={method.value}
            onChange={(event) => (method.value = event.currentTarget.value as ExplainRequest["method"])}
          >
            <option value="taylor">by sensitivities</option>
            <option value="revaluation">by pricing again</option>
          </select>
        </label>
        <button type="submit" class="button primary" disabled={state.value === "running"}>
          {state.value === "running" ? "Computing …" : "Explain"}
        </button>
        <label class="button">
          Or open the later book …
          <input
            type="file"
            multiple
            onChange={(event) => {
              const files = [...(event.currentTarget.files ?? [])].map((file) => ({ name: file.name, file }));
              event.currentTarget.value = "";
              if (files.length > 0) void explain(files);
            }}
          />
        </label>
      </form>
      <section aria-label="Explanation" aria-live="polite">
        {failed.value !== undefined && <Message className="notice" text={failed.value} />}
        <div class="charts wide">
          {answer.value?.charts.map((chart) => (
            <ChartView key={chart.title} chart={chart} />
          ))}
        </div>
        {answer.value !== undefined && (
          <>
            <p class="about">
              {answer.value.explained} trades explained
              {answer.value.failed > 0 && `, ${answer.value.failed} could not be`}
            </p>
            <ul class="reasons">
              {answer.value.reasons.slice(0, 50).map((reason) => (
                <li key={reason}>
                  <Message text={reason} />
                </li>
              ))}
            </ul>
          </>
        )}
        {answer.value === undefined && failed.value === undefined && (
          <p class="about">
            Time, spot, volatility and rates each get their part of the change; what second-order terms leave is shown
            as not explained.
          </p>
        )}
      </section>
    </div>
  );
}
