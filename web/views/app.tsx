/** The whole page: its bar, its parts, and where files are dropped. */
import { useSignal } from "@preact/signals";
import type { VNode } from "preact";
import { useEffect } from "preact/hooks";
import { CHART_STYLE } from "../../src/output/charts/index.ts";
import { openFiles, tab } from "../state/store.ts";
import { BookView } from "./book.tsx";
import { ColumnsDialog } from "./columns.tsx";
import { ExplainView } from "./explain.tsx";
import { Header } from "./header.tsx";
import { PicturesView } from "./pictures.tsx";
import { PlaygroundView } from "./playground.tsx";
import { Problems } from "./problems.tsx";

/** A view that most visits do not need, which is loaded when it is first shown. */
function Later({ load }: { readonly load: () => Promise<() => VNode> }): VNode | null {
  const View = useSignal<(() => VNode) | undefined>(undefined);
  useEffect(() => void load().then((view) => (View.value = view)), []);
  return View.value === undefined ? null : <View.value />;
}

const riskView = async (): Promise<() => VNode> => (await import("./risk.tsx")).RiskView;

export function App(): VNode {
  const over = useSignal(false);
  const drop = (event: DragEvent): void => {
    event.preventDefault();
    over.value = false;
    const files = [...(event.dataTransfer?.files ?? [])];
    if (files.length > 0) void openFiles(files.map((file) => ({ name: file.name, file })));
  };
  return (
    <div
      class={over.value ? "page over" : "page"}
      onDragOver={(event) => {
        event.preventDefault();
        over.value = true;
      }}
      onDragLeave={(event) => {
        if (event.relatedTarget === null) over.value = false;
      }}
      onDrop={drop}
    >
      <style>{CHART_STYLE}</style>
      <a class="skip" href="#main">
        Skip to the results
      </a>
      <Header />
      <main id="main" tabIndex={-1}>
        <Problems />
        <div hidden={tab.value !== "Book"}>
          <BookView />
        </div>
        {tab.value === "Pictures" && <PicturesView />}
        {tab.value === "Risk" && <Later load={riskView} />}
        {tab.value === "Explain" && <ExplainView />}
        {tab.value === "Playground" && <PlaygroundView />}
      </main>
      <footer>
        <p>Everything is computed on this machine. No book, quote or result is sent anywhere.</p>
      </footer>
      <ColumnsDialog />
      <div class="dropping" aria-hidden="true">
        Drop a book: JSON, NDJSON, or a CSV or Parquet table with its market
      </div>
    </div>
  );
}
