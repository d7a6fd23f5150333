import AxeBuilder from "@axe-core/playwright";
import { expect, test } from "./fixtures";

const records = ["quick", "latency", "slo", "sweep", "load", "builds"];

for (const name of records) {
  for (const colorScheme of ["light", "dark"] as const) {
    // A chart is one image with a label and a table; screen readers skip its parts.
    test(`${name} is accessible, ${colorScheme}`, async ({ open, page }) => {
      await page.emulateMedia({ colorScheme });
      await open(name);
      await page.locator("figure svg").first().waitFor();
      const { violations } = await new AxeBuilder({ page }).exclude(".drawing svg > *").analyze();
      expect(violations.map(({ id, nodes }) => [id, nodes.map((node) => node.html)])).toEqual([]);
    });
  }

  test(`${name} fits a phone`, async ({ open, page }) => {
    await page.setViewportSize({ width: 360, height: 740 });
    await open(name);
    await page.locator("figure svg").first().waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    for (const chart of await page.locator("figure .drawing svg").all()) expect((await chart.boundingBox())!.width).toBeLessThanOrEqual(360);
  });
}

test("page follows the system theme unless one is chosen", async ({ open, page }) => {
  await page.emulateMedia({ colorScheme: "dark" });
  await open("quick");
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const dark = await background();
  await page.getByRole("button", { name: "light", exact: true }).click();
  expect(await background()).toBe("rgb(255, 255, 255)");
  expect(dark).not.toBe("rgb(255, 255, 255)");
  await page.reload();
  await page.locator("h1").waitFor();
  expect(await background()).toBe("rgb(255, 255, 255)");
});

test("keyboard reaches buttons, tables and downloads", async ({ open, page }) => {
  await open("load");
  const reached = new Set<string>();
  for (let press = 0; press < 60; press++) {
    await page.keyboard.press("Tab");
    reached.add(await page.evaluate(() => document.activeElement?.getAttribute("aria-label") ?? document.activeElement?.textContent ?? ""));
  }
  for (const name of ["dark", "Table", "Percentiles as PNG", "Over measured time as CSV"]) expect([...reached]).toContain(name);
});

test("page has the licences of its libraries", async ({ open, page }) => {
  await open("quick");
  await page.getByText("Licences of the code in this page").click();
  const notices = page.locator("footer pre");
  for (const library of ["preact", "@observablehq/plot", "d3-scale"]) await expect(notices).toContainText(library);
});
