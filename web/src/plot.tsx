/** Observable Plot drawings that follow the width of the page. */
import * as Plot from "@observablehq/plot";
import { useEffect, useRef, useState } from "preact/hooks";
import { format } from "./format";

/** Draws a plot with a label for screen readers. */
export function Drawing({ label, draw }: { label: string; draw: (width: number) => Plot.PlotOptions }) {
  const container = useRef<HTMLDivElement>(null);
  const width = useWidth(container);
  useEffect(() => {
    if (width === 0) return;
    const base = { width, style: { fontSize: "11px", background: "transparent", overflow: "visible" } };
    const drawing = Plot.plot({ ...base, ...draw(width) });
    drawing.setAttribute("role", "img");
    // The whole picture has one label: screen readers would read out the labels of marks one by one.
    for (const mark of drawing.querySelectorAll("g[aria-label]")) {
      mark.setAttribute("data-mark", mark.getAttribute("aria-label")!);
      mark.removeAttribute("aria-label");
    }
    drawing.setAttribute("aria-label", label);
    container.current!.replaceChildren(drawing);
  }, [label, draw, width]);
  return <div ref={container} class="drawing" />;
}

function useWidth(element: { current: HTMLElement | null }): number {
  const [width, set] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => set(Math.floor(entry!.contentRect.width)));
    observer.observe(element.current!);
    return () => observer.disconnect();
  }, [element]);
  return width;
}

/** Number of series colours in style.css, which colour-blind readers can tell apart. Further series reuse them with dashes. */
const colors = 8;

/** The colour of the nth series. */
export function seriesColor(i: number): string {
  return `var(--series-${i % colors})`;
}

/** The dashes of the nth series. */
export function seriesDash(i: number): string | undefined {
  return [undefined, "5 3", "1.5 3", "8 3 2 3"][Math.floor(i / colors) % 4];
}

/** The names of rows to the left of a drawing: the margin that they need, and their axis. Long names are shortened. */
export function rowNames(names: string[], width: number): { margin: number; axis: Plot.Markish } {
  const longest = Math.max(...names.map((name) => name.length));
  return {
    // A character is about 6.2 pixels wide; 1.7 characters are an em.
    margin: Math.min(longest * 6.2 + 14, width * 0.42),
    axis: Plot.axisY({ tickSize: 0, textOverflow: "ellipsis-middle", lineWidth: Math.min(longest, (width * 0.4) / 6.2) / 1.7 }),
  };
}

/** A grid of panels, with as many columns as fit. */
export interface Panels {
  columns: number;
  rows: number;
  fx: (name: string) => number;
  fy: (name: string) => number;
  titles: Plot.Markish;
}

/** Lays out a panel for each name, at least `minWidth` pixels wide. */
export function panels(names: string[], width: number, minWidth = 220): Panels {
  const columns = Math.max(1, Math.min(names.length, Math.floor(width / minWidth)));
  const positions = new Map(names.map((name, i) => [name, i]));
  const fx = (name: string) => positions.get(name)! % columns;
  const fy = (name: string) => Math.floor(positions.get(name)! / columns);
  const titles = Plot.text(names, {
    fx, fy, text: (name: string) => name, frameAnchor: "top-left", dy: -14, fontWeight: 600, fill: "currentColor",
  });
  return { columns, rows: Math.ceil(names.length / columns), fx, fy, titles };
}

/** Facets without axes of their own. */
export const faceted: Plot.PlotOptions = { fx: { axis: null, padding: 0.12 }, fy: { axis: null, padding: 0.22 } };

/** Tick format of a unit. */
export function ticks(unit: string): (value: number) => string {
  return (value) => format(value, unit);
}

/** Style of grid lines. */
export const hairline = { stroke: "var(--hairline)", strokeOpacity: 1 };
