// Bundles the page into ../assets, the same bytes from the same lockfile on every machine.
import { build } from "esbuild";

const out = process.argv[2] ?? "../assets";
const shared = { bundle: true, minify: true, charset: "utf8", legalComments: "none", logLevel: "warning" };
await build({
  ...shared,
  entryPoints: ["src/main.tsx"],
  outfile: `${out}/app.js`,
  format: "iife",
  target: "es2022",
  jsx: "automatic",
  jsxImportSource: "preact",
});
await build({ ...shared, entryPoints: ["src/app.css"], outfile: `${out}/app.css` });
