import { createHash } from "node:crypto";
import { defineConfig, type Plugin } from "vite";
import { viteSingleFile } from "vite-plugin-singlefile";
import { licences } from "./licences";

/** Allows only the page's own script, by its hash. */
function contentSecurityPolicy(): Plugin {
  return {
    name: "content-security-policy",
    enforce: "post",
    generateBundle: {
      order: "post",
      handler(_, bundle) {
        for (const file of Object.values(bundle)) {
          if (file.type !== "asset" || !file.fileName.endsWith(".html")) continue;
          const html = String(file.source);
          const script = /<script type="module"[^>]*>([\s\S]*?)<\/script>/.exec(html)?.[1];
          if (!script) throw new Error(`${file.fileName}: no inline script found`);
          const hash = createHash("sha256").update(script).digest("base64");
          file.source = html.replace("'sha256-of-the-script'", `'sha256-${hash}'`);
        }
      },
    },
  };
}

export default defineConfig({
  plugins: [viteSingleFile({ removeViteModuleLoader: true }), licences(), contentSecurityPolicy()],
  build: {
    target: "es2022",
    outDir: "dist",
    rollupOptions: { input: "report.html" },
    reportCompressedSize: false,
  },
});
