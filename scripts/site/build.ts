/**
 * Builds the documentation site into build/site: `docs/`, `docs/api`, the examples and the pages of products, with
 * search, and with the browser page in `app/`, where live examples run. SITE_BASE is the path it will be served under.
 */
import { execFileSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { dirname, join, posix, relative } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "vite";
import { openDevice, priceBook, readBook } from "../../src/index.ts";
import { extraModules } from "../extra/index.js";
import { productIndex, productPage } from "./pages.ts";
import { exampleBook, PRODUCTS } from "./products.ts";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const SITE = join(ROOT, "build/site");
const SOURCE = join(SITE, "source");
const PUBLIC = join(SOURCE, "public");

const TOP = ["FEATURES.md", "LIMITATIONS.md", "CHANGELOG.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "LICENSE"];

function write(path: string, text: string): void {
  const file = join(SOURCE, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}

const isMarkdown = (path: string): boolean => path.endsWith(".md");

/** Files of a folder of the repository, by their paths in it. */
function filesIn(folder: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .map((path) => posix.join(folder, path))
    .filter((path) => statSync(join(ROOT, path)).isFile());
}

/** Copies a document; what it links to besides documents is put beside it, to be read or downloaded. */
function copyDocument(path: string): void {
  const isWide = path === "docs/quantlib.md";
  const text = (isWide ? "---\naside: false\npageClass: wide\n---\n\n" : "") + readFileSync(join(ROOT, path), "utf8");
  write(
    path,
    text.replaceAll(/(\]\()([^)\s#]+)(#[^)\s]*)?(\))/g, (all, open: string, target: string, at = "", end: string) => {
      if (/^[a-z]+:/i.test(target)) return all;
      const wanted = posix.join(posix.dirname(path), target);
      if (isMarkdown(wanted) || !existsSync(join(ROOT, wanted))) return all;
      if (existsSync(join(ROOT, wanted, "README.md"))) return `${open}${posix.join(target, "README.md")}${at}${end}`;
      // A folder without a page of its own.
      if (statSync(join(ROOT, wanted)).isDirectory()) return `${open}${up(path)}docs/start.md${end}`;
      // A link without an extension, or with one that VitePress does not know, would be taken for a page.
      const kept = ["", ".py", ".pq", ".ipynb"].includes(posix.extname(wanted)) ? ".txt" : "";
      cpSync(join(ROOT, wanted), join(PUBLIC, wanted + kept), { recursive: true });
      return `${open}${target}${kept}${at}${end}`;
    }),
  );
}

const up = (path: string): string => "../".repeat(path.split("/").length - 1) || "./";

function titleOf(path: string): string {
  return /^# (.*)$/m.exec(readFileSync(join(SOURCE, path), "utf8"))?.[1]?.replaceAll("`", "") ?? path;
}

const link = (path: string): { text: string; link: string } => ({ text: titleOf(path), link: `/${path}` });

const GUIDES = ["book", "web", "explain", "pde", "kernels", "montecarlo", "quantization", "sparsegrid", "sparse"];
const MORE = [
  "kernel-language",
  "linear-algebra",
  "random",
  "performance",
  "accuracy",
  "cluster",
  "service",
  "spreadsheets",
  "assistants",
];

function configuration(api: readonly string[], design: readonly string[], examples: readonly string[]): object {
  const folder = (text: string, paths: readonly string[], collapsed: boolean): object => ({
    text,
    collapsed,
    items: paths.map(link),
  });
  return {
    title: "Feynkac",
    description: "Pricing and risk of derivatives on every core and any GPU, in TypeScript",
    base: process.env["SITE_BASE"] ?? "/",
    srcDir: "source",
    outDir: "dist",
    cacheDir: "cache",
    themeConfig: {
      search: { provider: "local" },
      outline: { level: [2, 3] },
      nav: [
        { text: "Guide", link: "/docs/start" },
        { text: "Products", link: "/products/index" },
        { text: "API", link: "/docs/api/README" },
        { text: "Price a book", link: "/app/index.html", target: "_blank" },
      ],
      sidebar: [
        folder("Begin", ["docs/start.md", "docs/quantlib.md", "FEATURES.md", "LIMITATIONS.md"], false),
        folder("Products", ["products/index.md", ...PRODUCTS.map(({ slug }) => `products/${slug}.md`)], true),
        folder(
          "Guides",
          [...GUIDES, ...MORE].map((name) => `docs/${name}.md`),
          false,
        ),
        folder("API reference", api, true),
        folder("Examples", examples, true),
        folder("Design", ["ARCHITECTURE.md", ...design, "CONTRIBUTING.md", "CHANGELOG.md"], true),
      ],
    },
  };
}

const THEME = `import DefaultTheme from "vitepress/theme";
import { h, ref } from "vue";
import { withBase } from "vitepress";
import "./site.css";

const LiveExample = {
  props: { address: String, title: String },
  setup(props) {
    const open = ref(false);
    return () =>
      open.value
        ? h("iframe", { class: "live", src: withBase("/" + props.address), title: "Live: " + props.title, allow: "cross-origin-isolated" })
        : h("p", [
            h("button", { class: "live-button", onClick: () => (open.value = true) }, "Run it here"),
            " or ",
            h("a", { href: withBase("/" + props.address), target: "_blank" }, "on a page of its own"),
            ": it is priced in your browser, and nothing is sent anywhere.",
          ]);
  },
};

export default { extends: DefaultTheme, enhanceApp: ({ app }) => app.component("LiveExample", LiveExample) };
`;

const STYLE = `:root { --vp-c-brand-1: #0b6e6e; --vp-c-brand-2: #0e8383; --vp-c-brand-3: #0b6e6e; --vp-c-brand-soft: #0b6e6e1f }
.dark { --vp-c-brand-1: #4fc4bd; --vp-c-brand-2: #6fd3cd; --vp-c-brand-3: #128079; --vp-c-brand-soft: #4fc4bd29 }
.live { width: 100%; height: 1180px; border: 1px solid var(--vp-c-divider); border-radius: 10px }
.live-button { background: var(--vp-c-brand-3); color: #fff; border-radius: 8px; padding: 4px 14px; font-weight: 600 }
.side { display: grid; gap: 0 16px; grid-template-columns: minmax(0, 1fr) }
@media (min-width: 1200px) { .side { grid-template-columns: repeat(2, minmax(0, 1fr)) } }
.wide .container, .wide .content, .wide .content-container { max-width: 1400px !important }
.vp-doc td { font-variant-numeric: tabular-nums }
`;

const HOME = `---
layout: home
hero:
  name: Feynkac
  text: Derivatives priced on every core and any GPU
  tagline: Value, Greeks and an error estimate of each trade. In TypeScript, from the command line, and in this browser.
  actions:
    - { theme: brand, text: A first price in two minutes, link: /docs/start }
    - { theme: alt, text: Coming from QuantLib, link: /docs/quantlib }
    - { theme: alt, text: Price a book here, link: /app/index.html, target: _blank }
features:
  - { title: Products, details: "Vanillas, barriers, averages, lookbacks, swings, baskets; American and Bermudan exercise", link: /products/index }
  - { title: Errors, details: "Each result says how far it may be from the exact value", link: /docs/book#accuracy }
  - { title: Your own equations, details: "A TypeScript function becomes WebAssembly, WGSL or CUDA at run time", link: /docs/pde }
---
`;

async function writeProducts(): Promise<void> {
  using device = await openDevice({ backend: "cpu" });
  for (const product of PRODUCTS) {
    const { results } = await priceBook(readBook(exampleBook(product)), { device });
    write(`products/${product.slug}.md`, productPage(product, results[0]));
  }
  write("products/index.md", productIndex());
}

export async function buildSite(): Promise<string> {
  rmSync(SITE, { recursive: true, force: true });
  const documents = [...TOP.filter(isMarkdown), ...["docs", "design", "examples"].flatMap(filesIn).filter(isMarkdown)];
  for (const path of documents) copyDocument(path);
  cpSync(join(ROOT, "LICENSE"), join(PUBLIC, "LICENSE"), { recursive: true });
  // Pictures stand beside the documents that show them.
  for (const path of ["docs", "examples"].flatMap(filesIn).filter((file) => /\.(svg|png)$/.test(file)))
    cpSync(join(ROOT, path), join(SOURCE, path), { recursive: true });
  await writeProducts();
  write("index.md", HOME);
  write("public/app/.keep", "");
  await build({
    configFile: join(ROOT, "web/vite.config.ts"),
    logLevel: "error",
    build: { outDir: join(PUBLIC, "app"), emptyOutDir: true },
  });
  const under = (folder: string): string[] => documents.filter((path) => path.startsWith(`${folder}/`));
  const theme = join(SITE, ".vitepress/theme");
  mkdirSync(theme, { recursive: true });
  const config = configuration(under("docs/api"), under("design"), under("examples"));
  writeFileSync(join(SITE, ".vitepress/config.js"), `export default ${JSON.stringify(config, undefined, 2)};\n`);
  writeFileSync(join(theme, "index.js"), THEME);
  writeFileSync(join(theme, "site.css"), STYLE);
  writeFileSync(join(SITE, "package.json"), '{ "type": "module", "private": true }\n');
  const modules = extraModules();
  // What is written here finds its packages there.
  symlinkSync(modules, join(SITE, "node_modules"), "dir");
  execFileSync(process.execPath, [join(modules, "vitepress/bin/vitepress.js"), "build", SITE], {
    stdio: "inherit",
    cwd: ROOT,
  });
  return join(SITE, "dist");
}

if (process.argv[1] === fileURLToPath(import.meta.url)) console.log(relative(process.cwd(), await buildSite()));
