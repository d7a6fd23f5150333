import { expect, test } from "./page";
import { join } from "node:path";

// PICTURES=1 redraws the picture in README.
const picture = process.env.PICTURES ? join(import.meta.dirname, "../../docs/report.png") : undefined;

test("the first screen is worth a picture", async ({ open }) => {
  const page = await open("quick");
  await page.setViewportSize({ width: 1180, height: 820 });
  const image = await page.screenshot({ path: picture });
  expect(image.length).toBeLessThan(200_000);
});
