import { expect, test } from "./fixtures";
import { join } from "node:path";

// PICTURES=1 redraws the picture in the README.
const picture = process.env.PICTURES ? join(import.meta.dirname, "../../docs/report.png") : undefined;

test("first screen is a picture of less than 200 kB", async ({ open }) => {
  const page = await open("quick");
  await page.setViewportSize({ width: 1180, height: 820 });
  const image = await page.screenshot({ path: picture });
  expect(image.length).toBeLessThan(200_000);
});
