import type { ReactNode } from "react";

export type Tone = "good" | "warn" | "bad" | "plain";

/** A state in a word. Colour and shape only support the word. */
export function Pill({ tone, children }: { tone: Tone; children: ReactNode }) {
  return <span className={tone === "plain" ? "pill" : `pill pill-${tone}`}>{children}</span>;
}
