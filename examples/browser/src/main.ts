import { prices } from "./prices.ts";

const table = document.querySelector<HTMLTableElement>("#prices")!;
try {
  for (const { name, value } of await prices()) {
    const row = table.insertRow();
    row.insertCell().textContent = name;
    row.insertCell().textContent = String(value);
  }
} catch (error) {
  table.insertRow().insertCell().textContent = String(error);
}
document.body.dataset["done"] = "true";
