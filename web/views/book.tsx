/** The book: how to open one, what it is worth, its trades, and the one that is selected. */
import type { VNode } from "preact";
import { shareBook } from "../state/address.ts";
import { EXAMPLES, openExample } from "../state/examples.ts";
import { addTrade, book, openFiles } from "../state/store.ts";
import { Detail } from "./detail.tsx";
import { History } from "./history.tsx";
import { Menu } from "./menu.tsx";
import { Summary } from "./summary.tsx";
import { ResultsTable } from "./table.tsx";
import { Toolbar } from "./toolbar.tsx";

export function BookView(): VNode {
  return (
    <>
      <section class="opener" aria-label="Open a book">
        <div>
          <h1>{book.value === undefined ? "Price a book" : title(book.value.name)}</h1>
          <p class="about">
            {book.value === undefined
              ? "Reading …"
              : `${book.value.trades.toLocaleString("en-US")} ${book.value.trades === 1 ? "trade" : "trades"}, valued as of ${moment(book.value.asOf)}`}
          </p>
        </div>
        <div class="spacer" />
        <History />
        <label class="button primary">
          Open files …
          <input type="file" multiple accept=".json,.csv,.ndjson,.jsonl,.parquet" onChange={opened} />
        </label>
        <button type="button" class="button" onClick={() => void addTrade()}>
          New trade
        </button>
        <button type="button" class="button" onClick={() => void shareBook()}>
          Copy link
        </button>
        <Menu label="Examples" button="Examples" className="button">
          {(close) => (
            <ul role="menu" aria-label="Examples">
              {EXAMPLES.map((example) => (
                <li role="none" key={example.name}>
                  <button
                    type="button"
                    role="menuitem"
                    onClick={() => {
                      close();
                      void openExample(example);
                    }}
                  >
                    <b>{example.title}</b>
                    <small>{example.about}</small>
                  </button>
                </li>
              ))}
            </ul>
          )}
        </Menu>
      </section>
      <Summary />
      <div class="split">
        <section class="results" aria-label="Results">
          <Toolbar />
          <ResultsTable />
        </section>
        <Detail />
      </div>
    </>
  );
}

function title(name: string): string {
  const known = EXAMPLES.find((example) => `${example.name}.json` === name);
  return known?.title ?? (name === "shared.json" ? "A book from a link" : name);
}

function opened(event: Event): void {
  const input = event.currentTarget as HTMLInputElement;
  const files = [...(input.files ?? [])];
  input.value = "";
  if (files.length > 0) void openFiles(files.map((file) => ({ name: file.name, file })));
}

function moment(iso: string): string {
  const date = new Date(iso);
  const day = date.toLocaleDateString("en-GB", { day: "numeric", month: "long", year: "numeric", timeZone: "UTC" });
  const time = iso.slice(11, 16);
  return time === "00:00" ? day : `${day}, ${time} UTC`;
}
