/** The servers in charts, each with its colour. */
import type { Cell, Part, Row } from "./data";
import { seriesColor, seriesDash } from "./plot";
import { visibleRows } from "./rows";
import { formatList, parseList, type Change, type View } from "./view";

export interface Series {
  name: string;
  row: Row;
  cell: Cell;
  color: string;
  dash: string | undefined;
}

/** Number of series that charts show by default. */
const defaultCount = 6;

/** A series for each visible row that was measured; `shown` are those the reader chose, by default the first few. */
export function seriesOf(part: Part, view: View): { all: Series[]; shown: Series[] } {
  const measured = part.table.rows.filter((row) => row.cell !== null && (row.cell.response !== null || row.cell.windows.length > 0));
  const positions = new Map(measured.map((row, i) => [row, i]));
  const all = visibleRows(part, view)
    .filter((row) => positions.has(row))
    .map((row) => {
      const i = positions.get(row)!;
      return { name: row.name, row, cell: row.cell!, color: seriesColor(i), dash: seriesDash(i) };
    });
  const chosen = parseList(view, "show");
  const shown = chosen === null ? all.slice(0, defaultCount) : all.filter((series) => chosen.includes(series.name));
  return { all, shown };
}

/** A piece of a series' line, for legends. */
export function LineSample({ color, dash }: Pick<Series, "color" | "dash">) {
  return <svg aria-hidden="true"><line x1="0" x2="18" y1="4" y2="4" stroke={color} stroke-width="2.5" stroke-dasharray={dash} /></svg>;
}

/** Turns servers on and off in all charts at once. */
export function Legend({ all, shown, change }: { all: Series[]; shown: Series[]; change: (change: Change) => void }) {
  if (all.length < 2) return null;
  const toggle = (series: Series) => {
    const next = shown.includes(series) ? shown.filter((other) => other !== series) : [...shown, series];
    // An empty value would reset the choice.
    change({ show: formatList(next.map(({ name }) => name)) || "," });
  };
  return (
    <fieldset class="legend">
      <legend>Show</legend>
      {all.map((series) => (
        <label key={series.name} class={shown.includes(series) ? "" : "off"} style={{ "--swatch": series.color }}>
          <input type="checkbox" checked={shown.includes(series)} onChange={() => toggle(series)} />
          <LineSample color={series.color} dash={series.dash} />
          {series.name}
        </label>
      ))}
      <button type="button" class="link" onClick={() => change({ show: formatList(all.map(({ name }) => name)) })}>all</button>
      <button type="button" class="link" onClick={() => change({ show: null })}>reset</button>
    </fieldset>
  );
}
