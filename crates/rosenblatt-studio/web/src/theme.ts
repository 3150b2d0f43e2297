// Colours that all can tell apart (Okabe and Ito, 2008), and a shape for each class beside.
import { effect, signal } from "@preact/signals";

export type Theme = "auto" | "light" | "dark";

export const theme = signal<Theme>("auto");
export const projector = signal(false);
const system = matchMedia("(prefers-color-scheme: dark)");
const systemDark = signal(system.matches);
system.addEventListener("change", (event) => (systemDark.value = event.matches));

export const isDark = () => theme.value === "dark" || (theme.value === "auto" && systemDark.value);

effect(() => {
  document.documentElement.dataset.theme = isDark() ? "dark" : "light";
});
effect(() => {
  document.documentElement.dataset.size = projector.value ? "large" : "normal";
});

const LIGHT = ["#0072b2", "#d55e00", "#007a5a", "#b0508c", "#8a6d00", "#3a8fc2"];
const DARK = ["#56b4e9", "#f28e4c", "#2bc79a", "#e39ac6", "#e6c84f", "#a3d5f5"];

export const colour = (label: number): string => (isDark() ? DARK : LIGHT)[label % LIGHT.length];
export const SHAPES = ["circle", "square", "triangle", "diamond", "cross", "star"] as const;
export const shape = (label: number) => SHAPES[label % SHAPES.length];

/** What a canvas is drawn with. */
export const ink = () =>
  isDark()
    ? { paper: "#12161c", ink: "#f2f4f7", faint: "#3a4350", grey: "#9aa5b4", accent: "#ffd24a" }
    : { paper: "#ffffff", ink: "#16191d", faint: "#d9dee5", grey: "#69737f", accent: "#8a4b00" };
