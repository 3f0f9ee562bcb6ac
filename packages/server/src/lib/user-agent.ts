import { createMemo } from "./memo.ts";

/** The browser and the operating system in words that a person would use on the telephone. Null: not told. */
type UserAgent = { readonly browser: string | null; readonly operatingSystem: string | null };

/** Longer than any that browsers send. What is beyond is cut off, because every pattern below searches the whole text. */
const MAX_LENGTH = 512;

/** The first that fits: most browsers also say that they are Chrome, and all say that they are Safari. */
const BROWSERS: readonly [pattern: RegExp, name: string][] = [
  [/\b(?:FBAN|FBAV)\//, "Facebook app"],
  [/\bInstagram /, "Instagram app"],
  [/\bEdgA?\/(\d+)|\bEdgiOS\/(\d+)/, "Edge"],
  [/\bOPR\/(\d+)|\bOPT\/(\d+)/, "Opera"],
  [/\bSamsungBrowser\/(\d+)/, "Samsung Internet"],
  [/\bYaBrowser\/(\d+)/, "Yandex Browser"],
  [/\bDuckDuckGo\/(\d+)/, "DuckDuckGo"],
  [/\bFirefox\/(\d+)|\bFxiOS\/(\d+)/, "Firefox"],
  [/\b(?:Headless)?Chrome\/(\d+)|\bCriOS\/(\d+)/, "Chrome"],
  [/\bVersion\/(\d+)[\d.]* .*Safari\//, "Safari"],
  [/\bTrident\/.*\brv:(\d+)|\bMSIE (\d+)/, "Internet Explorer"],
  [/\bAppleWebKit\//, "an app's own browser"],
];

/** Windows has said 10 since 10, and Apple's computers have stopped counting, too: no figure is better than a wrong one. */
const SYSTEMS: readonly [pattern: RegExp, name: string][] = [
  [/\bWindows Phone\b/, "Windows Phone"],
  [/\bWindows\b/, "Windows"],
  [/\biPad\b.*?\bOS (\d+)/, "iPadOS"],
  [/\b(?:iPhone|iPod)\b.*?\bOS (\d+)/, "iOS"],
  [/\bAndroid (\d+)/, "Android"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

/** Most people have one of a few hundred. */
const known = createMemo<UserAgent>(1000);

export function describeUserAgent(sent: string | undefined): UserAgent {
  const text = (sent ?? "").slice(0, MAX_LENGTH);
  const described = known.get(text);
  if (described) return described;
  const made = { browser: firstOf(BROWSERS, text), operatingSystem: firstOf(SYSTEMS, text) };
  known.keep(text, made);
  return made;
}

/** The name is ours and the figure has digits alone, so that nothing of what was sent is passed on. */
function firstOf(known: typeof BROWSERS, text: string): string | null {
  for (const [pattern, name] of known) {
    const found = pattern.exec(text);
    if (!found) continue;
    const version = found.slice(1).find((part) => part !== undefined);
    return version === undefined ? name : `${name} ${Number(version.slice(0, 4))}`;
  }
  return null;
}
