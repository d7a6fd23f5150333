/** Numbers on axes and in tooltips. Those in tables come as text from the report. */

const steps: Record<string, [above: number, unit: string][]> = {
  time: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [0, "ns"]],
  bytes: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [0, "B"]],
  rate: [[1e9, "G"], [1e6, "M"], [1e3, "k"], [0, ""]],
};

function scaled(value: number, kind: keyof typeof steps, digits: number): string {
  const [above, unit] = steps[kind]!.find(([above]) => Math.abs(value) >= above)!;
  const number = trimmed(value / (above || 1), digits);
  return kind === "rate" ? number + unit : `${number} ${unit}`;
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** A value of a unit of the catalog, with this many digits. */
export function format(value: number, unit: string, digits = 3): string {
  if (value === 0) return "0";
  switch (unit) {
    case "ns":
      return scaled(value, "time", digits);
    case "ms":
      return scaled(value * 1e6, "time", digits);
    case "s":
      return scaled(value * 1e9, "time", digits);
    case "bytes":
      return scaled(value, "bytes", digits);
    case "share of 1":
      return `${trimmed(value * 100, digits)} %`;
    default:
      return scaled(value, "rate", digits);
  }
}

/** About this many round values from 0 to the largest; for bytes, multiples of a power of two. */
export function rounds(largest: number, unit: string, count: number): number[] {
  const base = unit === "bytes" ? 2 : 10;
  const least = largest / count || 1;
  const power = base ** Math.floor(Math.log(least) / Math.log(base));
  const step = (base === 2 ? [1, 2] : [1, 2, 5, 10]).map((times) => times * power).find((step) => step >= least * 0.999)!;
  return Array.from({ length: Math.floor(largest / step) + 1 }, (_, at) => at * step);
}

/** The powers of ten from one number to another. */
export function powers(from: number, to: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(from)), Math.floor(Math.log10(to))];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, at) => 10 ** (first + at));
}

/** A quantile as a percentile: `p99.9`. */
export function percentile(quantile: number): string {
  return `p${trimmed(quantile * 100, 7)}`;
}

/** A key of the exports in words, with its unit: `memory peak (bytes)`, `calls/s`. */
export function heading(key: string): string {
  const rates = key.replace(/_per(_server)?_cpu_s/, "/cpu-s").replace("_per_s", "/s");
  const [, of, unit] = /^(.+)_(ns|ms|s|bytes|share)$/.exec(rates) ?? [];
  const words = (of ?? rates).replaceAll("_", " ");
  return unit === undefined ? words : `${words} (${unit})`;
}
