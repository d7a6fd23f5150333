/** Small multiples: the best of each protocol in a language, and of each language in a protocol. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { columnIndex, interval, numberOf, type Part, type Row, subject } from "../data";
import { Figure } from "../figure";
import { Drawing, faceted, hairline, panels, ticks } from "../plot";
import { label } from "../rows";

type Kind = "language" | "protocol";

interface Best {
  panel: string;
  bar: string;
  row: Row;
}

export function Multiples({ part }: { part: Part }) {
  return (
    <>
      <Panels part={part} title="Protocols in one language" panel="language" bar="protocol" />
      <Panels part={part} title="Languages in one protocol" panel="protocol" bar="language" />
    </>
  );
}

function Panels({ part, title, panel, bar }: { part: Part; title: string; panel: Kind; bar: Kind }) {
  const draw = useCallback((width: number) => bars(part, best(part, panel, bar), width), [part, panel, bar]);
  const all = best(part, panel, bar);
  if (all.length === 0) return null;
  const column = part.table.columns[columnIndex(part.table.columns, part.ranked_by)]!;
  const header = [panel, bar, subject(part.table), column.key, "low", "high"];
  const rows = all.map((one) => [one.panel, one.bar, one.row.entry, numberOf(part.table, one.row, column.key), ...(interval(column, one.row) ?? [null, null])]);
  return (
    <Figure title={title} note={`${column.title} of the fastest ranked ${subject(part.table)} of each, with its interval.`} header={header} rows={rows}>
      <Drawing label={title} draw={draw} />
    </Figure>
  );
}

/** The best row for each bar: the first ranked one, since rows are sorted fastest first. Panels with one bar are left out. */
function best(part: Part, panel: Kind, bar: Kind): Best[] {
  const found = new Map<string, Best>();
  for (const row of part.table.rows.filter((row) => row.ranked)) {
    const one = { panel: label(part.table, row, panel), bar: label(part.table, row, bar), row };
    const key = JSON.stringify([one.panel, one.bar]);
    if (!found.has(key)) found.set(key, one);
  }
  const groups = Map.groupBy(found.values(), (one) => one.panel);
  return [...groups.values()].filter((group) => group.length > 1).flat();
}

function bars(part: Part, all: Best[], width: number): Plot.PlotOptions {
  const column = part.table.columns[columnIndex(part.table.columns, part.ranked_by)]!;
  const layout = panels([...new Set(all.map((one) => one.panel))], width, 300);
  const names = [...new Set(all.map((one) => one.bar))].sort();
  const facets = { fx: (one: Best) => layout.fx(one.panel), fy: (one: Best) => layout.fy(one.panel) };
  const ends = (one: Best) => interval(column, one.row);
  return {
    ...faceted,
    height: 34 + layout.rows * (34 + names.length * 20),
    marginLeft: 96,
    marginTop: 24,
    x: { zero: true, label: null, ticks: 3, tickFormat: ticks(column.unit) },
    y: { label: null, domain: names, tickSize: 0, padding: 0.25 },
    marks: [
      Plot.gridX({ ...hairline, ticks: 3 }),
      Plot.barX(all, { ...facets, x: (one) => numberOf(part.table, one.row, column.key), y: "bar", fill: "var(--bar)" }),
      Plot.ruleY(all.filter(ends), { ...facets, x1: (one) => ends(one)![0], x2: (one) => ends(one)![1], y: "bar", stroke: "var(--ink)", strokeWidth: 1.5 }),
      layout.titles,
      Plot.tip(all, Plot.pointerY({ ...facets, x: (one) => numberOf(part.table, one.row, column.key), y: "bar", title: (one) =>
        `${one.row.entry}\n${one.row.texts[columnIndex(part.table.columns, column.key)]}` })),
    ],
  };
}
