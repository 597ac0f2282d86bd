/** The page's entry: starts the engine first, because it takes longer than the page does, then shows the page. */
import { render } from "preact";
import { keepAddress, openAddress } from "./state/address.ts";
import { opensAgain } from "./state/isolation.ts";
import { App } from "./views/app.tsx";

if (!(await opensAgain())) {
  void openAddress();
  keepAddress();
  const root = document.querySelector("#app");
  if (root !== null) render(<App />, root);
}
