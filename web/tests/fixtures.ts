/** Opens pages under test. Any network request or console message fails the test. */
import { expect, type Page, test as base } from "@playwright/test";
import { pageUrl } from "./pages";

export { expect };

interface Fixtures {
  /** Opens the page of a record, with a URL fragment. */
  open: (name: string, fragment?: string) => Promise<Page>;
}

export const test = base.extend<Fixtures>({
  open: async ({ page }, use) => {
    const problems: string[] = [];
    page.on("console", (message) => problems.push(`${message.type()}: ${message.text()}`));
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("request", (request) => {
      if (!/^(file|data|blob):/.test(request.url())) problems.push(`request to ${request.url()}`);
    });
    await use(async (name, fragment = "") => {
      await page.goto(pageUrl(name) + fragment);
      await page.locator("h1").waitFor();
      return page;
    });
    expect(problems).toEqual([]);
  },
});
