/** Above the table: what to show, how to group it, and saving it. */
import type { VNode } from "preact";
import type { ExportFormat } from "../engine/protocol.ts";
import type { GroupKey, View } from "../state/rows.ts";
import { columnsOf, isShown, showColumn } from "../state/columns.ts";
import { lines, rows, run, save, version, view } from "../state/store.ts";
import { Menu } from "./menu.tsx";
import { count } from "./summary.tsx";

const GROUPS: Readonly<Partial<Record<GroupKey, string>>> = {
  none: "no groups",
  underlying: "underlying",
  currency: "currency",
  product: "product",
  method: "method",
};

const FORMATS: readonly (readonly [ExportFormat, string, string])[] = [
  ["csv", "Results as CSV", "for a spreadsheet"],
  ["parquet", "Results as Parquet", "for data frames"],
  ["json", "Results as JSON", "with totals, as the command line writes them"],
  ["ndjson", "Results as NDJSON", "one result a line"],
  ["book", "The book as JSON", "with your edits"],
];

export function Toolbar(): VNode {
  const change = (part: Partial<View>): void => void (view.value = { ...view.value, ...part });
  const end = run.value.state === "done" ? run.value.end : undefined;
  const warned = end?.warnings.length ?? 0;
  void version.value;
  const shown = lines.value.filter(({ kind }) => kind === "row").length;
  return (
    <div class="toolbar">
      <input
        type="search"
        aria-label="Filter trades"
        placeholder="Filter trades"
        value={view.value.filter}
        onInput={(event) => change({ filter: event.currentTarget.value })}
      />
      <label class="pick">
        <span>Group by</span>
        <select
          value={view.value.group}
          onChange={(event) => change({ group: event.currentTarget.value as GroupKey, closed: new Set() })}
        >
          {[...Object.entries(GROUPS), ...rows.value.tags.map((name) => [`tag:${name}`, `tag ${name}`])].map(
            ([key, label]) => (
              <option key={key} value={key}>
                {label}
              </option>
            ),
          )}
        </select>
      </label>
      {(warned > 0 || (end?.failed ?? 0) > 0) && (
        <label class="pick">
          <span>Show</span>
          <select
            value={view.value.only}
            onChange={(event) => change({ only: event.currentTarget.value as View["only"] })}
          >
            <option value="all">all trades</option>
            {warned > 0 && <option value="warned">with warnings</option>}
            {(end?.failed ?? 0) > 0 && <option value="failed">not priced ({count(end?.failed ?? 0)})</option>}
          </select>
        </label>
      )}
      <span class="about" aria-live="polite">
        {count(shown)} of {count(rows.value.length)}
      </span>
      <div class="spacer" />
      <Menu label="Columns" button="Columns" className="button">
        {() => (
          <ul class="checks" aria-label="Columns">
            {columnsOf(rows.value.tags).map((column) => (
              <li key={column.key}>
                <label>
                  <input
                    type="checkbox"
                    checked={isShown(column)}
                    disabled={column.key === "id"}
                    onChange={(event) => showColumn(column, event.currentTarget.checked)}
                  />
                  {column.title || "Currency"} <small>{column.unit}</small>
                </label>
              </li>
            ))}
          </ul>
        )}
      </Menu>
      <Menu label="Save" button="Save" className="button">
        {(close) => (
          <ul role="menu" aria-label="Save">
            {FORMATS.map(([format, label, about]) => (
              <li role="none" key={format}>
                <button
                  type="button"
                  role="menuitem"
                  onClick={() => {
                    close();
                    void save(format);
                  }}
                >
                  <b>{label}</b>
                  <small>{about}</small>
                </button>
              </li>
            ))}
          </ul>
        )}
      </Menu>
    </div>
  );
}
