/** Books to begin with. */
import { attempt, openFiles } from "./store.ts";

export interface Example {
  readonly name: string;
  readonly title: string;
  readonly about: string;
  readonly url: URL;
}

export const EXAMPLES: readonly Example[] = [
  {
    name: "showcase",
    title: "A small mixed book",
    about: "Twelve trades: American and European, barriers, a digital, Bermudan exercise",
    url: new URL("../examples/showcase.json", import.meta.url),
  },
  {
    name: "dax",
    title: "1,008 DAX options",
    about: "European and American, at the quoted volatilities of 5 July 2002",
    url: new URL("../../examples/dax/book.json", import.meta.url),
  },
  {
    name: "models",
    title: "Models and several assets",
    about: "Heston, CEV, random rates, baskets, averages, lookbacks",
    url: new URL("../examples/models.json", import.meta.url),
  },
  {
    name: "dividends",
    title: "American options with dividends",
    about: "Cash and proportional dividends, early exercise",
    url: new URL("../../examples/american-dividends/book.json", import.meta.url),
  },
  {
    name: "surface",
    title: "Local volatility surface",
    about: "Vanillas, digitals and barriers on one surface",
    url: new URL("../../examples/local-volatility/book.json", import.meta.url),
  },
  {
    name: "barriers",
    title: "Double barriers",
    about: "Monitored continuously and on dates, under scenarios",
    url: new URL("../../examples/double-barrier/book.json", import.meta.url),
  },
];

export async function openExample({ name, title, url }: Example): Promise<void> {
  await attempt(`${title} cannot be loaded`, async () => {
    const response = await fetch(url);
    await openFiles([{ name: `${name}.json`, file: await response.blob() }]);
  });
}
