import { colourOf } from "../look/look.ts";

/** Makes a shop's colour readable on the backgrounds of the pages (WCAG 2.2, 1.4.3 and 1.4.11). */
const LEAST_CONTRAST = 4.5;

/** The backgrounds of the pages, and the text on a button that has the shop's colour. */
const GROUNDS = ["paper", "card", "on-pine"] as const;

/** Undefined: the text is not `#rrggbb`, the contract's form of a colour. */
export function accentOf(color: string): { light: string; dark: string } | undefined {
  if (!/^#[0-9a-f]{6}$/i.test(color)) return undefined;
  return {
    light: moveUntilReadable(color, "#000000", LIGHT),
    dark: moveUntilReadable(color, "#ffffff", DARK),
  };
}

/** The smallest step towards black or white that gives enough contrast. Black and white themselves always do. */
function moveUntilReadable(color: string, goal: string, ground: string): string {
  const [from, to] = [channelsOf(color), channelsOf(goal)];
  for (let percent = 0; percent < 100; percent++) {
    const mixed = from.map((channel, at) =>
      Math.round(channel + (((to[at] ?? 0) - channel) * percent) / 100),
    );
    const text = `#${mixed.map((channel) => channel.toString(16).padStart(2, "0")).join("")}`;
    if (contrast(text, ground) >= LEAST_CONTRAST) return text;
  }
  return goal;
}

const channelsOf = (color: string): number[] =>
  [1, 3, 5].map((at) => Number.parseInt(color.slice(at, at + 2), 16));

/** WCAG 2.2, "contrast ratio". */
export function contrast(one: string, other: string): number {
  const [darker = 0, lighter = 0] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b);
  return (lighter + 0.05) / (darker + 0.05);
}

/** WCAG 2.2, "relative luminance". */
function luminanceOf(color: string): number {
  const [red = 0, green = 0, blue = 0] = channelsOf(color).map((channel) => {
    const part = channel / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

/** The ground of each scheme with the least contrast to black or white: a colour that fits here fits on all grounds. */
const LIGHT = hardest("light", "#000000");
const DARK = hardest("dark", "#ffffff");

function hardest(scheme: "light" | "dark", goal: string): string {
  const grounds = GROUNDS.map((name) => colourOf(scheme, name));
  return grounds.reduce((least, ground) => (contrast(goal, ground) < contrast(goal, least) ? ground : least));
}
