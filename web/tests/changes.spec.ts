import { csv } from "./downloads";
import { expect, test } from "./fixtures";
import { cells, changes } from "./record";

test("run of two builds starts with what changed", async ({ open }) => {
  const page = await open("builds");
  const rows = changes("builds");
  await expect(page.locator("h1")).toContainText("go-net-http is slower");
  expect(await page.locator(".findings tbody tr").count()).toBe(rows.length);
  const findings = await page.locator(".findings tbody tr td:last-child").allTextContents();
  expect(findings).toEqual(rows.map((row) => row.finding));
  await expect(page.locator(".findings tr.bad")).toHaveCount(1);
});

test("drawn changes match the JSON report", async ({ open }) => {
  const page = await open("builds");
  const drawn = await csv(page, "Changes");
  const rows = changes("builds");
  for (const [at, row] of rows.entries()) {
    expect(Number(drawn[at]!.change_share)).toBeCloseTo(row.ratio - 1, 12);
    expect(Number(drawn[at]!.low)).toBeCloseTo(row.ratio_low - 1, 12);
    expect(Number(drawn[at]!.high)).toBeCloseTo(row.ratio_high - 1, 12);
  }
  // A dot for each change, at a distance from zero proportional to it.
  const dots = await page.locator("#changes svg [data-mark=dot] circle").evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute("cx"))));
  const zero = Number(await page.locator("#changes svg [data-mark=rule] line").first().getAttribute("x1"));
  const perShare = dots.map((x, at) => (x - zero) / (rows[at].ratio - 1));
  expect(perShare[1]! / perShare[0]!).toBeCloseTo(1, 1);
});

test("second tab ranks both builds", async ({ open }) => {
  const page = await open("builds");
  await page.getByRole("navigation").getByRole("link").nth(1).click();
  await expect(page.locator(".ranking tbody tr")).toHaveCount(cells("builds").length);
  await page.goBack();
  await expect(page.locator(".findings")).toBeVisible();
});
