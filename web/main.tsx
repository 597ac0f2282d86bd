/** The page's entry: starts the engine first, because it takes longer than the page does, then shows the page. */
import { render } from "preact";
import { EXAMPLES, openExample } from "./state/examples.ts";
import { App } from "./views/app.tsx";

void openExample(EXAMPLES[0]);
const root = document.querySelector("#app");
if (root !== null) render(<App />, root);
