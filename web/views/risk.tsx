/** The risk of the book under its named scenarios: the distribution of profits, both measures, and their parts. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { decimalsFor } from "../../src/output/formats/index.ts";
import type { RiskAnswer } from "../engine/protocol.ts";
import { fixed } from "../state/numbers.ts";
import { book, engine, openScenarios, problemOf, run } from "../state/store.ts";
import { ChartView } from "./chart.tsx";
import { Message } from "./message.tsx";
import { count, RunState } from "./summary.tsx";

const CONFIDENCES = [0.9, 0.95, 0.975, 0.99, 0.999];

export function RiskView(): VNode {
  const confidence = useSignal(0.99);
  const by = useSignal("underlying");
  const answer = useSignal<RiskAnswer | undefined>(undefined);
  const failed = useSignal<string | undefined>(undefined);
  const named = book.value?.named ?? 0;
  const isReady = run.value.state === "done" && named > 0;
  useEffect(() => {
    if (!isReady) return undefined;
    let isWanted = true;
    engine.call("risk", { confidence: confidence.value, by: by.value }).then(
      (found) => {
        if (!isWanted) return;
        answer.value = found;
        failed.value = undefined;
      },
      (error: unknown) => {
        if (isWanted) failed.value = problemOf("", error).message;
      },
    );
    return () => void (isWanted = false);
  }, [isReady, book.value, confidence.value, by.value]);
  const found = named === 0 || failed.value !== undefined ? undefined : answer.value;
  return (
    <div class="with-list wide-list">
      <form class="card fields" aria-label="Risk" onSubmit={(event) => event.preventDefault()}>
        <h1>What may be lost?</h1>
        <p class="about">
          {named === 0
            ? "This book has no named scenarios. Open a table of them: a row for each, with columns such as name and spot.SAP."
            : `${count(named)} scenarios, in each of which every trade is priced.`}
        </p>
        <label class="field">
          <span>Confidence</span>
          <select
            value={String(confidence.value)}
            onChange={(event) => (confidence.value = Number(event.currentTarget.value))}
          >
            {CONFIDENCES.map((one) => (
              <option key={one} value={String(one)}>
                {Number((100 * one).toFixed(3))} %
              </option>
            ))}
          </select>
        </label>
        <label class="field">
          <span>Parts by</span>
          <select value={by.value} onChange={(event) => (by.value = event.currentTarget.value)}>
            {(answer.value?.by ?? ["underlying"]).map((name) => (
              <option key={name} value={name}>
                {name.replace(/^tag\./, "tag ")}
              </option>
            ))}
          </select>
        </label>
        <label class="button">
          Open scenarios …
          <input type="file" accept=".csv,.parquet" onChange={opened} />
        </label>
        <div aria-live="polite">
          <RunState />
        </div>
      </form>
      <section aria-label="Risk of the book" aria-busy={!isReady} class={isReady ? undefined : "stale"}>
        {failed.value !== undefined && <Message className="notice" text={failed.value} />}
        {found !== undefined && <Measures found={found} />}
      </section>
    </div>
  );
}

function opened(event: Event): void {
  const input = event.currentTarget as HTMLInputElement;
  const [file] = input.files ?? [];
  input.value = "";
  if (file !== undefined) void openScenarios({ name: file.name, file });
}

function Measures({ found }: { readonly found: RiskAnswer }): VNode {
  const { currency, valueAtRisk, expectedShortfall, parts, hidden, worst, without, chart } = found;
  const decimals = decimalsFor([valueAtRisk.value, expectedShortfall.value], 5);
  const number = (value: number): VNode => (
    <td class={value < 0 ? "number negative" : "number"}>{fixed(value, decimals)}</td>
  );
  return (
    <>
      {without.length > 0 && (
        <p class="bad">
          {count(without.length)} trades have no value in some scenario and are left out, such as {without[0]}.
        </p>
      )}
      <div class="summary">
        {(
          [
            ["Value at risk", valueAtRisk],
            ["Expected shortfall", expectedShortfall],
          ] as const
        ).map(([name, one]) => (
          <div key={name} class="card">
            <h2>
              {name}, {currency}
            </h2>
            <p class="figure" data-testid={name}>
              {fixed(one.value, decimals)}
            </p>
            <p class="about">
              values ± {fixed(one.errorEstimate, decimals)}, sampling ± {fixed(one.samplingError, decimals)}
            </p>
          </div>
        ))}
      </div>
      <div class="charts wide">
        <ChartView chart={chart} />
      </div>
      <div class="plain-table" tabIndex={0} role="region" aria-label="Worst scenarios">
        <table>
          <thead>
            <tr>
              <th>Worst scenarios</th>
              <th class="number">Profit</th>
              <th>What loses most</th>
            </tr>
          </thead>
          <tbody>
            {worst.map(({ scenario, profit, drivers }) => (
              <tr key={scenario}>
                <td>
                  {scenario}
                  {scenario === valueAtRisk.scenario && <b title="The scenario of the value at risk"> *</b>}
                </td>
                {number(profit)}
                <td>{drivers.map((one) => `${one.name} ${fixed(one.profit, decimals)}`).join(", ")}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div class="plain-table" tabIndex={0} role="region" aria-label="Parts of the risk">
        <table>
          <thead>
            <tr>
              <th>Parts</th>
              <th class="number">Value</th>
              <th class="number">Of value at risk</th>
              <th class="number">Of shortfall</th>
            </tr>
          </thead>
          <tbody>
            {parts.map((part, i) => (
              <tr key={i}>
                <td>{part.name}</td>
                {number(part.value)}
                {number(part.valueAtRisk)}
                {number(part.expectedShortfall)}
              </tr>
            ))}
          </tbody>
        </table>
        {hidden > 0 && <p class="about">{count(hidden)} more are not shown.</p>}
      </div>
    </>
  );
}
