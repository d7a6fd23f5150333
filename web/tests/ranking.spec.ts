import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { deflateSync, inflateSync } from "node:zlib";
import type { Page } from "@playwright/test";
import { expect, test } from "./fixtures";
import { folder, rpcbench } from "./pages";
import { cells, type Json, read, write } from "./record";

const names = (page: Page) => page.locator(".ranking td.name button").allTextContents();

test("first screen has the answer, every row and the warnings", async ({ open }) => {
  const page = await open("quick");
  const markdown = rpcbench("report", "--format", "markdown", folder("quick"));
  const answer = await page.locator("h1").textContent();
  expect(markdown).toContain(`**${answer}`);
  const columns = await page.locator(".ranking thead th").allTextContents();
  const rows = await page.locator(".ranking tbody tr").all();
  expect(rows.length).toBe(cells("quick").length);
  // Markdown pads its cells; the page has single spaces.
  const lines = markdown.split("\n").map((line) => line.replace(/ +/g, " "));
  for (const row of rows) {
    const texts = await row.locator("td:not(.bar)").allInnerTexts();
    const line = lines.find((line) => line.includes(`| ${texts[columns.indexOf("server")]} `))!;
    for (const text of texts) expect(line).toContain(text.trim());
  }
  const box = await page.locator(".ranking tbody tr").last().boundingBox();
  expect(box!.y + box!.height).toBeLessThan(900);
  for (const warning of await page.locator(".callout.warning li").allTextContents()) expect(markdown).toContain(warning);
});

test("bars are as long as figures, and whiskers as intervals", async ({ open }) => {
  const page = await open("quick");
  const figures = new Map(cells("quick").map((cell) => [cell.entry, cell]));
  const full = Math.max(...[...figures.values()].map((cell) => cell.calls_per_server_cpu_s_high));
  for (const row of await page.locator(".ranking tbody tr").all()) {
    const cell = figures.get(await row.locator("td.name button").textContent());
    const bar = row.locator("td.bar svg");
    const width = (await bar.boundingBox())!.width;
    const length = (await bar.locator("rect").boundingBox())!.width;
    expect(length / width).toBeCloseTo(cell.calls_per_server_cpu_s / full, 2);
    const whisker = (await bar.locator("line").first().boundingBox())!.width;
    expect(whisker / width).toBeCloseTo((cell.calls_per_server_cpu_s_high - cell.calls_per_server_cpu_s_low) / full, 1);
  }
});

test("heading sorts, reverses and resets", async ({ open }) => {
  const page = await open("quick");
  const original = await names(page);
  const heading = page.getByRole("columnheader", { name: "p99", exact: true });
  const sorted = cells("quick").toSorted((a, b) => a.p99_ns - b.p99_ns).map((cell) => cell.entry);
  await heading.getByRole("button").click();
  expect(await names(page)).toEqual(sorted);
  await expect(heading).toHaveAttribute("aria-sort", "ascending");
  await heading.getByRole("button").click();
  expect(await names(page)).toEqual(sorted.toReversed());
  await page.reload();
  expect(await names(page)).toEqual(sorted.toReversed());
  await heading.getByRole("button").click();
  expect(await names(page)).toEqual(original);
});

test("filters narrow the table and the charts, and stay in the URL", async ({ open }) => {
  const page = await open("quick");
  await page.getByRole("combobox", { name: "language", exact: true }).selectOption("go");
  const kept = cells("quick").filter((cell) => cell.language === "go").map((cell) => cell.entry);
  expect((await names(page)).sort()).toEqual(kept.sort());
  await expect(page.locator("#calls-s svg")).toHaveAttribute("aria-label", `calls/s of ${kept.length} rows, as bars`);
  expect(page.url()).toContain("language=go");
  await page.reload();
  expect((await names(page)).sort()).toEqual(kept.sort());
  await page.getByLabel("Find a server").fill("no such server");
  await expect(page.getByText("No row matches the filters.")).toBeVisible();
});

test("rows are grouped by protocol", async ({ open }) => {
  const page = await open("quick", "#group=protocol");
  expect(await page.locator(".ranking tr.group th").allTextContents()).toEqual(["grpc", "json"]);
  expect((await names(page)).length).toBe(cells("quick").length);
});

test("row opens by keyboard and has every known figure", async ({ open }) => {
  const page = await open("quick");
  const first = page.locator(".ranking td.name button").first();
  await first.focus();
  await page.keyboard.press("Enter");
  await expect(first).toHaveAttribute("aria-expanded", "true");
  const cell = cells("quick").find((cell) => cell.place_best === 1);
  const known = Object.values(cell).filter((value) => value !== null && value !== "");
  const facts = await page.locator(".details dl.facts > div").count();
  expect(facts).toBeGreaterThanOrEqual(known.length - 1);
  expect(facts).toBeLessThanOrEqual(known.length + 1);
  await page.keyboard.press("Enter");
  await expect(page.locator(".details")).toHaveCount(0);
});

test("every column can be shown", async ({ open }) => {
  const page = await open("quick");
  await page.getByLabel("every column").check();
  const wide = rpcbench("report", "--wide", folder("quick"));
  for (const title of await page.locator(".ranking thead th").allTextContents()) expect(wide).toContain(title);
  await expect(page.getByRole("columnheader", { name: "p99.9" })).toBeVisible();
});

test("page without scripts has the table as text", async ({ browser }) => {
  const context = await browser.newContext({ javaScriptEnabled: false });
  const page = await context.newPage();
  await page.goto(`file://${folder("quick")}.html`);
  const text = rpcbench("report", folder("quick"));
  await expect(page.locator("noscript pre")).toHaveText(text, { useInnerText: true });
  await context.close();
});

test("page is one file that allows no requests", () => {
  const html = readFileSync(`${folder("quick")}.html`, "utf8");
  expect(html.length).toBeLessThan(500_000);
  expect(html).toContain("default-src 'none'");
});

/** The URL of a copy of the golden page in which the last row is unranked and then changed by `edit`. */
function unrankedPage(name: string, edit: (table: Json, column: Json, row: Json) => void): string {
  const html = readFileSync(`${folder("quick")}.html`, "utf8");
  const [, packed] = html.match(/<script id="data"[^>]*>([^<]+)</) ?? html.match(/>(eJ[A-Za-z0-9+/=]+)</)!;
  const data = JSON.parse(inflateSync(Buffer.from(packed!, "base64")).toString());
  const { table, ranked_by } = data.runs[0].parts[0];
  const last = table.rows.at(-1);
  last.ranked = false;
  edit(table, table.columns.find((column: Json) => column.key === ranked_by), last);
  const file = join(import.meta.dirname, `../test-results/pages/${name}.html`);
  writeFileSync(file, html.replace(packed!, deflateSync(JSON.stringify(data)).toString("base64")));
  return `file://${file}`;
}

test("interval of an unranked row does not extend the axis", async ({ page }) => {
  await page.goto(unrankedPage("unranked", (_, column, row) => (row.values[column.interval[1]] = 1e12)));
  const bar = page.locator("td.bar svg").first();
  const widths = [(await bar.locator("rect").boundingBox())!.width, (await bar.boundingBox())!.width];
  expect(widths[0]! / widths[1]!).toBeGreaterThan(0.7);
});

test("bar of an unranked row is as long as its figure", async ({ page }) => {
  let best = 0;
  await page.goto(unrankedPage("faster", (table, column, row) => {
    const at = table.columns.indexOf(column);
    best = table.rows[0].values[at];
    row.values[at] = best * 2;
  }));
  const lengths = await page.locator("td.bar svg rect").evaluateAll((bars) => bars.map((bar) => bar.getBoundingClientRect().width));
  expect(lengths.at(-1)! / lengths[0]!).toBeCloseTo(2, 1);
});

/** The right edges of the ranking's cells, in pixels from the left. */
function rightEdges(page: Page): Promise<number[]> {
  return page.locator(".ranking :is(th, td):visible").evaluateAll((cells) => cells.map((cell) => cell.getBoundingClientRect().right));
}

for (const name of ["quick", "latency", "slo", "short"]) {
  test(`${name} has the same columns on paper as on screen`, async ({ open, page }) => {
    // A4 and US Letter without Chromium's margins.
    for (const width of [718, 740]) {
      await open(name);
      const titles = await page.locator(".ranking thead th:visible").allTextContents();
      await page.setViewportSize({ width, height: 1000 });
      await page.emulateMedia({ media: "print" });
      expect(titles).toEqual(expect.arrayContaining(["p99", "memory", "verdict"]));
      expect(await page.locator(".ranking thead th:visible").allTextContents()).toEqual(titles);
      expect(Math.max(...await rightEdges(page))).toBeLessThanOrEqual(width);
      await page.emulateMedia({ media: "screen" });
      await page.setViewportSize({ width: 1280, height: 900 });
    }
  });
}

test("filters narrow the headline and the sentences", async ({ open }) => {
  const page = await open("quick");
  const winner = cells("quick").find((cell) => cell.place_best === 1);
  const other = cells("quick").find((cell) => cell.language !== winner.language);
  await page.getByRole("combobox", { name: "language", exact: true }).selectOption(other.language);
  await expect(page.locator("h1")).toContainText("Of the rows shown");
  await expect(page.locator("h1")).not.toContainText(winner.entry);
  await expect(page.locator(".lists")).not.toContainText(winner.entry);
});

test("phone shows p99 and memory", async ({ open, page }) => {
  for (const [width, name] of [390, 320].flatMap((width) => ["quick", "latency", "slo", "short"].map((name) => [width, name] as const))) {
    await page.setViewportSize({ width, height: 800 });
    await open(name);
    const columns = await page.locator(".ranking thead th").allTextContents();
    for (const row of await page.locator(".ranking tr").all()) {
      const cells = row.locator(":is(td, th):not(.bar)");
      for (const title of ["p99", "memory"]) {
        const box = (await cells.nth(columns.indexOf(title)).boundingBox())!;
        expect(box.width).toBeGreaterThan(20);
        expect(box.x + box.width).toBeLessThanOrEqual(width);
      }
    }
  }
});

test("report with a price has costs and savings", async ({ open }) => {
  const price = "$0.04/cpu-hour,$0.005/GiB-hour";
  rpcbench("report", "--price", price, "--html", `${folder("priced")}.html`, folder("quick"));
  const page = await open("priced");
  await expect(page.locator("h1")).toContainText(/ % less CPU cost \(/);
  await expect(page.getByText(`price ${price}`)).toBeVisible();
  const priced: Json[] = JSON.parse(rpcbench("report", "--price", price, "--format", "json", folder("quick"))).workloads[0].cells;
  const cost = (cell: Json) => cell.cost_per_million_calls;
  const sorted = priced.toSorted((a, b) => cost(a) - cost(b));
  const heading = page.getByRole("columnheader", { name: "cost/M calls", exact: true });
  await heading.getByRole("button").click();
  expect(await names(page)).toEqual(sorted.map((cell) => cell.entry));
  const costs = await page.locator(".ranking tbody td").filter({ hasText: /^\$[\d.]+$/ }).allTextContents();
  expect(costs.length).toBe(sorted.length);
  sorted.forEach((cell, at) => expect(Number(costs[at]!.slice(1)) / cost(cell)).toBeCloseTo(1, 2));
});

test("each visible pair of protocols in a language is compared", async ({ open }) => {
  const { run, events } = read("quick");
  const flask = run.plan.servers.find((server: Json) => server.entry === "python-flask");
  Object.assign(flask, { language: "go", protocol: "json-h2c" });
  write("pairs", { run, events });
  const page = await open("pairs");
  const sentences = page.locator(".callout p").filter({ hasText: /^In go, / });
  const pairs = [["go-grpc", "go-net-http"], ["go-grpc", "python-flask"], ["go-net-http", "python-flask"]];
  await expect(sentences).toHaveCount(pairs.length);
  for (const [one, other] of pairs) await expect(sentences.filter({ hasText: `(${one})` }).filter({ hasText: `(${other})` })).toHaveCount(1);
  await page.getByLabel("Find a server").fill("go-");
  await expect(sentences).toHaveCount(1);
  await expect(sentences).toContainText("json (go-net-http)");
});

for (const name of ["quick", "latency", "slo", "sweep", "load", "builds", "short", "collections"]) {
  test(`${name} shows no command-line options or export keys`, async ({ open }) => {
    const page = await open(name);
    for (const part of ["", "#part=1.2", "#part=2.1"]) {
      await page.goto(page.url().split("#")[0] + part);
      await page.locator("h1").waitFor();
      const row = page.locator(".ranking td.name button").first();
      if ((await row.count()) > 0) await row.click();
      const texts: string[] = await page.evaluate(() => {
        const app = document.querySelector("#app")!;
        // Readers copy commands, so they keep their options.
        const code = [...app.querySelectorAll(".command, .server, style")];
        const within = (node: Node) => code.some((element) => element.contains(node));
        const walker = document.createTreeWalker(app, NodeFilter.SHOW_TEXT);
        const texts: string[] = [];
        while (walker.nextNode()) if (!within(walker.currentNode)) texts.push(walker.currentNode.textContent!);
        return [...texts, ...[...app.querySelectorAll("[title]")].map((element) => element.getAttribute("title")!)];
      });
      expect(texts.filter((text) => /(^|\s)--[a-z]|[a-z]_[a-z]/.test(text))).toEqual([]);
    }
  });
}

test("server names wrap only between words", async ({ open }) => {
  const page = await open("quick");
  for (const width of [1280, 390]) {
    await page.setViewportSize({ width, height: 900 });
    // A word, delimited by hyphens and other signs, must stay on one line.
    const broken = await page.locator(".ranking td.name button").evaluateAll((buttons) => buttons.flatMap((button) => {
      const text = document.createTreeWalker(button, NodeFilter.SHOW_TEXT).nextNode()!;
      return [...text.textContent!.matchAll(/[^-@: ]+/g)].filter(({ index, 0: word }) => {
        const range = document.createRange();
        range.setStart(text, index);
        range.setEnd(text, index + word.length);
        return new Set([...range.getClientRects()].map(({ top }) => top)).size > 1;
      }).map(([word]) => word);
    }));
    expect(broken).toEqual([]);
  }
});
