/** The page's entry: starts the engine first, because it takes longer than the page does, then shows the page. */
import { render } from "preact";
import { keepAddress, openAddress } from "./state/address.ts";
import { App } from "./views/app.tsx";

void openAddress();
keepAddress();
const root = document.querySelector("#app");
if (root !== null) render(<App />, root);
