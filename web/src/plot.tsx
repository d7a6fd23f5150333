/** Drawings by Observable Plot that follow the width of the page. */
import * as Plot from "@observablehq/plot";
import { useEffect, useRef, useState } from "preact/hooks";
import { format } from "./format";

/** Draws a plot with a label for screen readers. */
export function Drawing({ label, draw }: { label: string; draw: (width: number) => Plot.PlotOptions }) {
  const place = useRef<HTMLDivElement>(null);
  const width = useWidth(place);
  useEffect(() => {
    if (width === 0) return;
    const base = { width, style: { fontSize: "11px", background: "transparent", overflow: "visible" } };
    const drawing = Plot.plot({ ...base, ...draw(width) });
    drawing.setAttribute("role", "img");
    // The whole picture has one label; labels of marks would be read out one by one.
    for (const mark of drawing.querySelectorAll("g[aria-label]")) {
      mark.setAttribute("data-mark", mark.getAttribute("aria-label")!);
      mark.removeAttribute("aria-label");
    }
    drawing.setAttribute("aria-label", label);
    place.current!.replaceChildren(drawing);
  }, [label, draw, width]);
  return <div ref={place} class="drawing" />;
}

function useWidth(of: { current: HTMLElement | null }): number {
  const [width, set] = useState(0);
  useEffect(() => {
    const observer = new ResizeObserver(([entry]) => set(Math.floor(entry!.contentRect.width)));
    observer.observe(of.current!);
    return () => observer.disconnect();
  }, [of]);
  return width;
}

/** Colours of lines, distinguishable for colour-blind readers; after the last, lines are dashed. */
const colors = 8;

/** The ink of the nth line. */
export function ink(at: number): string {
  return `var(--ink-${at % colors})`;
}

/** The dashes of the nth line. */
export function dash(at: number): string | undefined {
  return [undefined, "5 3", "1.5 3", "8 3 2 3"][Math.floor(at / colors) % 4];
}

/** Panels side by side, as many as fit. */
export interface Panels {
  columns: number;
  rows: number;
  fx: (name: string) => number;
  fy: (name: string) => number;
  titles: Plot.Markish;
}

/** A panel for each name. */
export function panels(names: string[], width: number, least = 220): Panels {
  const columns = Math.max(1, Math.min(names.length, Math.floor(width / least)));
  const at = new Map(names.map((name, at) => [name, at]));
  const fx = (name: string) => at.get(name)! % columns;
  const fy = (name: string) => Math.floor(at.get(name)! / columns);
  const titles = Plot.text(names, {
    fx, fy, text: (name: string) => name, frameAnchor: "top-left", dy: -14, fontWeight: 600, fill: "currentColor",
  });
  return { columns, rows: Math.ceil(names.length / columns), fx, fy, titles };
}

/** Facets without separate axes. */
export const faceted: Plot.PlotOptions = { fx: { axis: null, padding: 0.12 }, fy: { axis: null, padding: 0.22 } };

/** Ticks of a unit. */
export function ticks(unit: string): (value: number) => string {
  return (value) => format(value, unit);
}

/** Grid lines behind the marks. */
export const hairline = { stroke: "var(--hairline)", strokeOpacity: 1 };
