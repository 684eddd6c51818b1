import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  build: {
    outDir: "../src/chopin_web/static",
    emptyOutDir: true,
    // Every browser that can run this loads modules by itself; the polyfill would be the only dead code in the bundle.
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 550,
    rolldownOptions: {
      output: {
        codeSplitting: {
          // The editor's libraries are the most of it and seldom change; browsers keep them when the rest is new.
          groups: [{ name: "editor", test: /node_modules\/(@codemirror|@lezer|style-mod|w3c-keyname|crelt)\// }],
        },
      },
    },
  },
  test: {
    include: ["tests/**/*.test.ts"],
    restoreMocks: true,
  },
});
