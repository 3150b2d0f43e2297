// Numbers and words as a reader wants them.

/** A number in few digits, with a minus sign. */
export function short(x: number | null | undefined, digits = 4): string {
  if (x === null || x === undefined) return "–";
  if (!Number.isFinite(x)) return x > 0 ? "∞" : x < 0 ? "−∞" : "not a number";
  if (x === 0) return "0";
  const size = Math.abs(x);
  const text = size >= 1e6 || size < 1e-4 ? x.toExponential(2) : String(Number(x.toPrecision(digits)));
  return text.replace("-", "−").replace("e+", "e");
}

/** A whole number with its thousands apart. */
export function count(n: number | null | undefined): string {
  return n === null || n === undefined ? "–" : n.toLocaleString("en-US");
}

export function counted(n: number, one: string, many = `${one}s`): string {
  return `${count(n)} ${n === 1 ? one : many}`;
}

export function percent(share: number | null | undefined): string {
  return share === null || share === undefined ? "–" : `${(100 * share).toFixed(share === 1 || share === 0 ? 0 : 1)} %`;
}

export function vector(values: number[] | null | undefined, most = 8): string {
  if (!values) return "–";
  const shown = values.slice(0, most).map((x) => short(x));
  if (values.length > most) shown.push(`… ${values.length - most} more`);
  return `(${shown.join(", ")})`;
}

/** a·x + b·y + c = 0 in words. */
export function line([a, b, c]: [number, number, number], names: [string, string]): string {
  const terms = [[a, names[0]], [b, names[1]], [c, ""]] as [number, string][];
  const told = terms.filter(([w]) => w !== 0).map(([w, name], i) => {
    const sign = w < 0 ? "−" : i > 0 ? "+" : "";
    const size = short(Math.abs(w));
    return `${sign}${i > 0 ? " " : ""}${name && size === "1" ? "" : size}${name ? ` ${name}` : ""}`.trim();
  });
  return a === 0 && b === 0 ? "no line" : `${told.join(" ")} = 0`;
}
