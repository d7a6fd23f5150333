import { csv } from "./downloads";
import { expect, test } from "./fixtures";
import { belongsTo, type Json, read } from "./record";

// Windows of this record are whole slices of 100 ms, and too few to be merged.
test("garbage collections match the record", async ({ open }) => {
  const page = await open("collections");
  const rows = await csv(page, "Over measured time");
  const entries: string[] = read("collections").run.plan.servers.map((server: Json) => server.entry);
  for (const entry of entries) {
    const trials = read("collections").events.filter((event) => event.trial && belongsTo(event, entry));
    const paused = trials.flatMap((event) => pauses(event.trial.result.measured));
    const drawn = rows.filter((row) => row.name === entry).map((row) => Number(row.paused_share));
    expect(drawn.length).toBe(paused.length);
    drawn.forEach((share, at) => expect(share).toBeCloseTo(paused[at]! / 1e8, 9));
    expect(Math.max(...drawn)).toBeGreaterThan(0);
  }
  await expect(page.locator("#over-measured-time svg").getByText("garbage collection", { exact: true })).toBeVisible();
});

/** Pauses in each slice, in nanoseconds. A window without pauses lacks the field. */
function pauses({ series, runtime, window_ns }: Json): number[] {
  return series.slice(0, window_ns / 1e8).map((_: Json, at: number) => runtime.paused_ns?.[at] ?? 0);
}
