import { readFileSync } from "node:fs";
import { expect, test } from "./fixtures";
import { folder } from "./pages";
import { belongsTo, type Json, read, type Record, write } from "./record";

/** The golden run reduced to one entry, copied under these names. */
function copies(names: string[]): Record {
  const { run, events } = read("quick");
  const original = "go-grpc";
  const server = run.plan.servers.find((server: Json) => server.entry === original);
  run.plan.servers = names.map((entry) => ({ ...server, entry, server: entry }));
  run.plan.order = run.plan.order.filter((trial: Json) => trial.entry === original).flatMap((trial: Json) => names.map((entry) => ({ ...trial, entry })));
  const renamed = (event: Json, entry: string) => Object.fromEntries(Object.entries(event).map(([kind, value]) => [kind, { ...(value as Json), entry }]));
  const kept = events.filter((event) => belongsTo(event, original)).flatMap((event) => names.map((entry) => renamed(event, entry)));
  return { run, events: [...kept, ...events.filter((event) => event.finished)] };
}

test("script in a server name is shown as text", async ({ open, page }) => {
  const evil = "</script><script>document.title='gone'</script><img src=x onerror=document.title='gone'>";
  write("evil", copies([evil, "go-grpc"]));
  await open("evil");
  await expect(page.locator(".ranking td.name button").filter({ hasText: evil })).toHaveCount(1);
  expect(await page.title()).not.toBe("gone");
  expect(await page.locator("img").count()).toBe(0);
});

test("page of one server has no filters", async ({ open, page }) => {
  write("one", copies(["go-grpc"]));
  await open("one");
  await expect(page.locator(".ranking tbody tr")).toHaveCount(1);
  await expect(page.locator(".filters")).toHaveCount(0);
  await expect(page.locator("#percentiles svg")).toBeVisible();
});

test("page of two hundred servers is smaller than 3 MB", async ({ open, page }) => {
  test.slow();
  write("many", copies(Array.from({ length: 200 }, (_, at) => `go-grpc${at}`)));
  expect(readFileSync(`${folder("many")}.html`).length).toBeLessThan(3_000_000);
  await open("many");
  await expect(page.locator(".ranking tbody tr")).toHaveCount(200);
  await expect(page.locator("#percentiles svg [data-mark=line] path")).toHaveCount(6);
  await page.getByLabel("Find a server").fill("go-grpc199");
  await expect(page.locator(".ranking tbody tr")).toHaveCount(1);
});

test("page of an empty run says so", async ({ open, page }) => {
  write("empty", { run: read("quick").run, events: [] });
  await open("empty");
  await expect(page.getByText("Nothing was measured.")).toBeVisible();
  await expect(page.getByText("the run is unfinished")).toBeVisible();
  await expect(page.locator("figure")).toHaveCount(0);
  await expect(page.getByText("To repeat this run:")).toBeVisible();
});

test("page of a failed run says why", async ({ open, page }) => {
  const { run, events } = read("quick");
  const failed = { failed: { reason: "out of memory (limit 512 MiB)", log_tail: ["last line of the log"] } };
  write("failed", { run, events: events.map((event) => (event.trial ? { trial: { ...event.trial, result: failed } } : event)) });
  await open("failed");
  await expect(page.locator("h1")).toHaveText(/^no server could be ranked: \d+ failed$/);
  await expect(page.getByText("last line of the log").first()).toBeVisible();
  await expect(page.locator("figure")).toHaveCount(0);
});

test("page without data says so", async ({ page }) => {
  await page.goto(`file://${import.meta.dirname}/../dist/report.html`);
  await expect(page.getByRole("alert")).toContainText("This page has no data.");
});
