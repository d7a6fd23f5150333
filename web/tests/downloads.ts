/** Downloads the files of a chart's buttons. */
import { readFileSync } from "node:fs";
import type { Page } from "@playwright/test";

/** The rows of a chart's CSV. */
export async function csv(page: Page, title: string): Promise<Record<string, string>[]> {
  const [header, ...rows] = (await download(page, `${title} as CSV`)).toString().trim().split("\r\n").map((line) => line.split(","));
  return rows.map((row) => Object.fromEntries(header!.map((name, at) => [name, row[at]!])));
}

/** The file that a button downloads. */
export async function download(page: Page, button: string): Promise<Buffer> {
  const [event] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: button, exact: true }).click()]);
  return readFileSync(await event.path());
}
