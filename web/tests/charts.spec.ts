import { csv, download } from "./downloads";
import { expect, test } from "./fixtures";
import { cells, read } from "./record";

const titles = ["calls/cpu-s", "calls/s", "memory", "p99", "server CPU", "Protocols in one language", "Languages in one protocol",
  "Percentiles", "Histogram", "Response times over the windows", "Windows over the run", "Over measured time", "Warm-up"];

test("every chart of a ranking has a drawing, a label and a table", async ({ open }) => {
  const page = await open("quick");
  expect(await page.locator("figure h3").allTextContents()).toEqual(titles);
  for (const figure of await page.locator("figure").all()) {
    await expect(figure.locator(".drawing svg[role=img][aria-label]")).toBeVisible();
    expect(await figure.locator("svg [data-mark] :is(path, rect, circle, line)").count()).toBeGreaterThan(0);
    await figure.locator("summary").click();
    expect(await figure.locator(".chart-footer tbody tr").count()).toBeGreaterThan(0);
  }
});

test("bars match the JSON report", async ({ open }) => {
  const page = await open("quick");
  for (const [title, key] of [["calls/s", "calls_per_s"], ["memory", "memory_peak_bytes"], ["p99", "p99_ns"]] as const) {
    const rows = await csv(page, title);
    expect(rows.map((row) => [row.server, Number(row[key])])).toEqual(cells("quick").map((cell) => [cell.entry, cell[key]]));
  }
});

test("bars are drawn to scale", async ({ open }) => {
  const page = await open("quick");
  const bars = page.locator("#memory svg [data-mark=bar] rect");
  const widths = await bars.evaluateAll((bars) => bars.map((bar) => Number(bar.getAttribute("width"))));
  const figures = cells("quick").map((cell) => cell.memory_peak_bytes);
  widths.forEach((width, at) => expect(width / widths[0]!).toBeCloseTo(figures[at] / figures[0], 2));
});

test("percentiles match the JSON report", async ({ open }) => {
  const page = await open("quick");
  const rows = await csv(page, "Percentiles");
  for (const cell of cells("quick").slice(0, 6)) {
    const point = (quantile: number) => rows.find((row) => row.name === cell.entry && Math.abs(Number(row.quantile) - quantile) < 1e-9);
    expect(Number(point(0.9)!.ns)).toBe(cell.p90_ns);
    expect(Number(point(0.99)!.ns)).toBe(cell.p99_ns);
    expect(Number(point(0.99)!.calls)).toBe(cell.ok);
  }
});

test("histograms and heat maps count every call", async ({ open }) => {
  const page = await open("quick", "#show=go-grpc,node-http");
  for (const title of ["Histogram", "Response times over the windows"]) {
    const rows = await csv(page, title);
    for (const cell of cells("quick").filter((cell) => ["go-grpc", "node-http"].includes(cell.entry))) {
      const calls = rows.filter((row) => row.name === cell.entry).reduce((sum, row) => sum + Number(row.calls), 0);
      expect(calls).toBe(cell.ok);
    }
  }
});

test("every window has a dot", async ({ open }) => {
  const page = await open("quick", "#show=go-grpc");
  const trials = read("quick").events.filter((event) => event.trial?.entry === "go-grpc");
  await expect(page.locator("#windows-over-the-run svg [data-mark=dot] circle")).toHaveCount(trials.length);
  await page.locator("#windows-over-the-run").getByLabel("figure").selectOption("memory_peak_bytes");
  const rows = await csv(page, "Windows over the run");
  expect(rows.map((row) => Number(row.memory_peak_bytes))).toEqual(trials.map(({ trial }) => trial.result.measured.server.memory_peak_bytes));
});

test("windows over the run span the whole axis", async ({ open }) => {
  const page = await open("quick");
  const starts = (await csv(page, "Windows over the run")).map((row) => Number(row.at_s));
  expect(Math.min(...starts)).toBeGreaterThan(10);
  const chart = page.locator("#windows-over-the-run svg").first();
  const dots = await chart.locator("[data-mark=dot] circle").evaluateAll((dots) => dots.map((dot) => Number(dot.getAttribute("cx"))));
  const width = Number(await chart.getAttribute("width"));
  expect(Math.min(...dots)).toBeCloseTo(56, 0);
  expect(Math.max(...dots)).toBeCloseTo(width - 16, 0);
});

test("legend turns servers on and off in all charts", async ({ open }) => {
  const page = await open("quick");
  const lines = page.locator("#percentiles svg [data-mark=line] path");
  const before = await lines.count();
  await page.locator(".legend").getByLabel("go-grpc").uncheck();
  await expect(lines).toHaveCount(before - 1);
  await expect(page.locator("#histogram")).not.toContainText("go-grpc");
  await page.locator(".legend").getByRole("button", { name: "all" }).click();
  await expect(lines).toHaveCount(cells("quick").length);
});

test("any figure can be drawn", async ({ open }) => {
  const page = await open("quick");
  await page.getByRole("combobox", { name: "another figure" }).selectOption("p999_ns");
  await expect(page.locator("figure#p99-9")).toBeVisible();
  expect(page.url()).toContain("bars=p999_ns");
});

test("response times can be drawn on a linear axis from 0", async ({ open }) => {
  const page = await open("quick");
  await page.getByRole("combobox", { name: "times", exact: true }).selectOption("linear");
  await expect(page.locator("#percentiles svg [data-mark='y-axis tick label']")).toContainText("0");
});

test("point under the pointer has a tooltip", async ({ open }) => {
  const page = await open("quick");
  const figure = page.locator("#windows-over-the-run");
  await figure.scrollIntoViewIfNeeded();
  await figure.locator("circle").nth(2).hover({ force: true });
  await expect(figure.locator("svg [aria-label=tip]")).toContainText("process");
});

test("charts are saved as standalone PNG and SVG", async ({ open }) => {
  const page = await open("quick");
  const picture = await download(page, "Percentiles as PNG");
  expect(picture.subarray(1, 4).toString()).toBe("PNG");
  expect(picture.readUInt32BE(16)).toBeGreaterThan(700);
  const drawing = (await download(page, "Percentiles as SVG")).toString();
  expect(drawing).toMatch(/^<svg [\s\S]*<\/svg>$/);
  expect(drawing).not.toContain("var(--");
});

test("response times over load have a point and a verdict for each load", async ({ open }) => {
  for (const name of ["latency", "sweep", "slo"]) {
    const page = await open(name, name === "sweep" ? "" : "#part=1.2");
    const rows = await csv(page, "Response times over load");
    await expect(page.locator("#response-times-over-load svg [data-mark=dot] circle")).toHaveCount(rows.length);
    expect(rows.length).toBeGreaterThan(4);
    for (const row of rows) expect(row.verdict).not.toBe("");
  }
});

test("load has response, service and send-lag times, and a time series", async ({ open }) => {
  const page = await open("load");
  const { measured } = read("load").events.find((event) => event.trial)!.trial.result;
  expect(await page.locator("figure h3").allTextContents()).toEqual(["Percentiles", "Histogram", "Single calls", "Over measured time"]);
  const rows = await csv(page, "Percentiles");
  for (const [name, part] of [["response", "latency"], ["service", "service"], ["send lag", "send_lag"]] as const) {
    const p99 = rows.find((row) => row.name === name && Math.abs(Number(row.quantile) - 0.99) < 1e-9)!;
    expect(Number(p99.ns)).toBe(measured[part].p99_ns);
  }
  const series = await csv(page, "Over measured time");
  expect(series.map((row) => Number(row.max_ns))).toEqual(measured.series.map((slice: { max_ns: number }) => slice.max_ns));
});

test("single calls include every logged call, and sliders zoom", async ({ open }) => {
  const page = await open("load");
  const { outcomes, latency } = read("load").events.find((event) => event.trial)!.trial.result.measured;
  const rows = await csv(page, "Single calls");
  expect(rows.reduce((sum, row) => sum + Number(row.ok), 0)).toBe(outcomes.ok);
  const slowest = rows.toSorted((a, b) => Number(b.to_ns) - Number(a.to_ns))[0]!;
  expect(Number(slowest.from_ns)).toBeLessThanOrEqual(latency.max_ns);
  expect(Number(slowest.to_ns)).toBeGreaterThanOrEqual(latency.max_ns);
  const dots = page.locator("#single-calls svg [data-mark=dot] circle");
  await expect(dots).toHaveCount(1000);
  await page.getByRole("slider", { name: "to" }).focus();
  await page.keyboard.press("Home");
  await expect.poll(() => dots.count()).toBeLessThan(1000);
  expect(page.url()).toContain("to=1");
  await page.getByRole("button", { name: "whole window" }).click();
  await expect(dots).toHaveCount(1000);
});

test("single calls of a run are drawn per server", async ({ open }) => {
  const page = await open("short");
  const drawn = async () => (await csv(page, "Single calls")).reduce((sum, row) => sum + Number(row.ok), 0);
  for (const entry of ["node-http", "go-net-http"]) {
    await page.locator("#single-calls").getByLabel("entry").selectOption(entry);
    const last = read("short").events.filter((event) => event.trial?.entry === entry).at(-1)!.trial;
    expect(await drawn()).toBe(last.result.measured.outcomes.ok);
    await expect(page.locator("#single-calls figcaption")).toContainText(`trial ${last.number}`);
  }
  expect(page.url()).toContain("calls=go-net-http");
});

test("connect times match the JSON report, and long connections have none", async ({ open }) => {
  const page = await open("short");
  const rows = await csv(page, "Connect times");
  for (const cell of cells("short")) {
    const p99 = rows.find((row) => row.name === cell.entry && Math.abs(Number(row.quantile) - 0.99) < 1e-9)!;
    expect(Number(p99.ns)).toBe(cell.connect_p99_ns);
  }
  await expect((await open("quick")).locator("#connect-times")).toHaveCount(0);
});
