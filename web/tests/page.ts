/** A page under test: every network request and console message fails the test. */
import { test as base, type Page } from "@playwright/test";
import { expect } from "@playwright/test";
import { page as address } from "./pages";

export { expect };

interface Fixtures {
  /** Opens the page of a record, with a fragment. */
  open: (name: string, fragment?: string) => Promise<Page>;
}

export const test = base.extend<Fixtures>({
  open: async ({ page }, use) => {
    const complaints: string[] = [];
    page.on("console", (message) => complaints.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => complaints.push(String(error)));
    page.on("request", (request) => {
      if (!/^(file|data|blob):/.test(request.url())) complaints.push(`request to ${request.url()}`);
    });
    await use(async (name, fragment = "") => {
      await page.goto(address(name) + fragment);
      await page.locator("h1").waitFor();
      return page;
    });
    expect(complaints).toEqual([]);
  },
});
