/** Saves charts and tables as files. */

export function save(name: string, content: Blob): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(content);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export type Cells = (string | number | null)[][];

/** Rows as CSV (RFC 4180). */
export function csv(header: string[], rows: Cells): Blob {
  const field = (value: string | number | null) => {
    const text = value === null ? "" : String(value);
    return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  const lines = [header, ...rows].map((row) => row.map(field).join(","));
  return new Blob([`${lines.join("\r\n")}\r\n`], { type: "text/csv" });
}

/** A drawing as standalone SVG: the page's styles are inlined. */
export function svgText(drawing: SVGSVGElement): string {
  const style = getComputedStyle(drawing);
  const copy = drawing.cloneNode(true) as SVGSVGElement;
  copy.setAttribute("xmlns", "http://www.w3.org/2000/svg");
  copy.setAttribute("style", `color:${style.color};background:${style.getPropertyValue("--page")};font:11px sans-serif`);
  const text = new XMLSerializer().serializeToString(copy);
  return text.replace(/var\((--[a-z0-9-]+)\)/g, (_, name: string) => style.getPropertyValue(name).trim() || "none");
}

/** A drawing as PNG, at twice its size. */
export async function png(drawing: SVGSVGElement): Promise<Blob> {
  const { width, height } = drawing.getBoundingClientRect();
  const image = new Image();
  image.src = URL.createObjectURL(new Blob([svgText(drawing)], { type: "image/svg+xml" }));
  await image.decode();
  URL.revokeObjectURL(image.src);
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [width * 2, height * 2];
  canvas.getContext("2d")!.drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve, reject) =>
    canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error("the chart could not be drawn")))),
  );
}
