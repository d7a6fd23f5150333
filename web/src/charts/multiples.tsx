/** The best of each protocol in one language, and of each language in one protocol. */
import * as Plot from "@observablehq/plot";
import { useCallback } from "preact/hooks";
import { at, interval, number, type Part, type Row, subject } from "../data";
import { Figure } from "../figure";
import { Drawing, faceted, hairline, panels, ticks } from "../plot";
import { label } from "../rows";

interface Best {
  panel: string;
  of: string;
  row: Row;
}

export function Multiples({ part }: { part: Part }) {
  return (
    <>
      <Panels part={part} title="Protocols in one language" panel="language" of="protocol" />
      <Panels part={part} title="Languages in one protocol" panel="protocol" of="language" />
    </>
  );
}

function Panels({ part, title, panel, of }: { part: Part; title: string; panel: "language" | "protocol"; of: "language" | "protocol" }) {
  const draw = useCallback((width: number) => bars(part, best(part, panel, of), width), [part, panel, of]);
  const all = best(part, panel, of);
  if (all.length === 0) return null;
  const column = part.table.columns[at(part.table.columns, part.ranked_by)]!;
  const header = [panel, of, subject(part.table), column.key, "low", "high"];
  const rows = all.map((one) => [one.panel, one.of, one.row.entry, number(part.table, one.row, column.key), ...(interval(column, one.row) ?? [null, null])]);
  return (
    <Figure title={title} note={`${column.title} of the fastest ranked ${subject(part.table)} of each, with its interval.`} header={header} rows={rows}>
      <Drawing label={title} draw={draw} />
    </Figure>
  );
}

/** Rows are sorted fastest first, so the first ranked one of a kind is its best. Panels with one bar are left out. */
function best(part: Part, panel: "language" | "protocol", of: "language" | "protocol"): Best[] {
  const found = new Map<string, Best>();
  for (const row of part.table.rows.filter((row) => row.ranked)) {
    const one = { panel: label(part.table, row, panel), of: label(part.table, row, of), row };
    const key = JSON.stringify([one.panel, one.of]);
    if (!found.has(key)) found.set(key, one);
  }
  const groups = Map.groupBy(found.values(), (one) => one.panel);
  return [...groups.values()].filter((group) => group.length > 1).flat();
}

function bars(part: Part, all: Best[], width: number): Plot.PlotOptions {
  const column = part.table.columns[at(part.table.columns, part.ranked_by)]!;
  const layout = panels([...new Set(all.map((one) => one.panel))], width, 300);
  const kinds = [...new Set(all.map((one) => one.of))].sort();
  const facets = { fx: (one: Best) => layout.fx(one.panel), fy: (one: Best) => layout.fy(one.panel) };
  const ends = (one: Best) => interval(column, one.row);
  return {
    ...faceted,
    height: 34 + layout.rows * (34 + kinds.length * 20),
    marginLeft: 96,
    marginTop: 24,
    x: { zero: true, label: null, ticks: 3, tickFormat: ticks(column.unit) },
    y: { label: null, domain: kinds, tickSize: 0, padding: 0.25 },
    marks: [
      Plot.gridX({ ...hairline, ticks: 3 }),
      Plot.barX(all, { ...facets, x: (one) => number(part.table, one.row, column.key), y: "of", fill: "var(--bar)" }),
      Plot.ruleY(all.filter(ends), { ...facets, x1: (one) => ends(one)![0], x2: (one) => ends(one)![1], y: "of", stroke: "var(--ink)", strokeWidth: 1.5 }),
      layout.titles,
      Plot.tip(all, Plot.pointerY({ ...facets, x: (one) => number(part.table, one.row, column.key), y: "of", title: (one) =>
        `${one.row.entry}\n${one.row.texts[at(part.table.columns, column.key)]}` })),
    ],
  };
}
