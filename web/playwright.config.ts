import { defineConfig } from "@playwright/test";

// Options of the system's browser; Playwright downloads none.
const args = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
  "--disable-background-networking", "--disable-component-update", "--disable-sync",
];

export default defineConfig({
  testDir: "tests",
  fullyParallel: true,
  workers: 2,
  timeout: 60_000,
  expect: { timeout: 20_000 },
  // Other load on the machine may stall a test past its timeout. Tests that pass on a retry are reported as flaky.
  retries: process.env.CI ? 1 : 0,
  reporter: [["list"]],
  globalSetup: "./tests/pages.ts",
  use: {
    viewport: { width: 1280, height: 900 },
    launchOptions: { executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args },
  },
});
