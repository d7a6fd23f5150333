/** The servers that charts show, each in its colour. */
import type { Cell, Part, Row } from "./data";
import { dash, ink } from "./plot";
import { chosen } from "./rows";
import { joined, several, type Change, type View } from "./view";

/** A server shown in charts. */
export interface Series {
  name: string;
  row: Row;
  cell: Cell;
  ink: string;
  dash: string | undefined;
}

/** Lines shown by default. */
const few = 6;

/** The measured rows of the table, and those that are shown. */
export function useSeries(part: Part, view: View): { all: Series[]; shown: Series[] } {
  const measured = part.table.rows.filter((row) => row.cell !== null && (row.cell.response !== null || row.cell.windows.length > 0));
  const inks = new Map(measured.map((row, at) => [row, at]));
  const all = chosen(part, view)
    .filter((row) => inks.has(row))
    .map((row) => {
      const at = inks.get(row)!;
      return { name: row.name, row, cell: row.cell!, ink: ink(at), dash: dash(at) };
    });
  const asked = several(view, "show");
  const shown = asked === null ? all.slice(0, few) : all.filter((one) => asked.includes(one.name));
  return { all, shown };
}

/** Turns servers on and off in all charts at once. */
export function Legend({ all, shown, change }: { all: Series[]; shown: Series[]; change: (change: Change) => void }) {
  if (all.length < 2) return null;
  const toggle = (one: Series) => {
    const next = shown.includes(one) ? shown.filter((other) => other !== one) : [...shown, one];
    change({ show: joined(next.map((one) => one.name)) || "," });
  };
  return (
    <fieldset class="legend">
      <legend>Shown</legend>
      {all.map((one) => (
        <label key={one.name} class={shown.includes(one) ? "" : "off"} style={{ "--swatch": one.ink }}>
          <input type="checkbox" checked={shown.includes(one)} onChange={() => toggle(one)} />
          <svg aria-hidden="true"><line x1="0" x2="18" y1="4" y2="4" stroke={one.ink} stroke-width="2.5" stroke-dasharray={one.dash} /></svg>
          {one.name}
        </label>
      ))}
      <button type="button" class="link" onClick={() => change({ show: joined(all.map((one) => one.name)) })}>all</button>
      <button type="button" class="link" onClick={() => change({ show: null })}>few</button>
    </fieldset>
  );
}
