/** Formats numbers on axes and in tooltips. Tables get theirs as text from the report. */

const prefixes: Record<string, [from: number, unit: string][]> = {
  time: [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [0, "ns"]],
  bytes: [[2 ** 30, "GiB"], [2 ** 20, "MiB"], [2 ** 10, "KiB"], [0, "B"]],
  rate: [[1e9, "G"], [1e6, "M"], [1e3, "k"], [0, ""]],
};

function withPrefix(value: number, kind: keyof typeof prefixes, digits: number): string {
  const [from, unit] = prefixes[kind]!.find(([from]) => Math.abs(value) >= from)!;
  const number = toDigits(value / (from || 1), digits);
  return kind === "rate" ? number + unit : `${number} ${unit}`;
}

function toDigits(value: number, digits: number): string {
  return String(Number(value.toPrecision(digits)));
}

/** A value with its unit and this many significant digits. `unit` is a column's. */
export function format(value: number, unit: string, digits = 3): string {
  if (value === 0) return "0";
  switch (unit) {
    case "ns":
      return withPrefix(value, "time", digits);
    case "ms":
      return withPrefix(value * 1e6, "time", digits);
    case "s":
      return withPrefix(value * 1e9, "time", digits);
    case "bytes":
      return withPrefix(value, "bytes", digits);
    case "share of 1":
      return `${toDigits(value * 100, digits)} %`;
    default:
      return withPrefix(value, "rate", digits);
  }
}

/** About `count` round values from 0 to the largest; for bytes, multiples of a power of two. */
export function roundTicks(largest: number, unit: string, count: number): number[] {
  const base = unit === "bytes" ? 2 : 10;
  const minStep = largest / count || 1;
  const power = base ** Math.floor(Math.log(minStep) / Math.log(base));
  const step = (base === 2 ? [1, 2] : [1, 2, 5, 10]).map((times) => times * power).find((step) => step >= minStep * 0.999)!;
  return Array.from({ length: Math.floor(largest / step) + 1 }, (_, i) => i * step);
}

/** The powers of ten between two numbers. */
export function powersOfTen(from: number, to: number): number[] {
  const [first, last] = [Math.ceil(Math.log10(from)), Math.floor(Math.log10(to))];
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, i) => 10 ** (first + i));
}

/** A quantile as a percentile: `p99.9`. */
export function percentile(quantile: number): string {
  return `p${toDigits(quantile * 100, 7)}`;
}

/** An export key in words, with its unit: `memory peak (bytes)`, `calls/s`. */
export function heading(key: string): string {
  const rates = key.replace(/_per(_server)?_cpu_s/, "/cpu-s").replace("_per_s", "/s");
  const [, name, unit] = /^(.+)_(ns|ms|s|bytes|share)$/.exec(rates) ?? [];
  const words = (name ?? rates).replaceAll("_", " ");
  return unit === undefined ? words : `${words} (${unit})`;
}
