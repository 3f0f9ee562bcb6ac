/** Browser and operating system in words that a person would say on the telephone. Null: unknown. */
type UserAgent = { readonly browser: string | null; readonly operatingSystem: string | null };

/** Longer than any that browsers send. The rest is cut off, because every pattern below searches the whole text. */
const MAX_LENGTH = 512;

/** `figure` finds the version where it does not follow the name; without a match the entry does not apply. */
type Known = readonly [pattern: RegExp, name: string, figure?: RegExp];

/** The first match wins: most browsers also name Chrome, and all name Safari. */
const BROWSERS: readonly Known[] = [
  [/\b(?:FBAN|FBAV)\//, "Facebook app"],
  [/\bInstagram /, "Instagram app"],
  [/\bEdgA?\/(\d{1,4})|\bEdgiOS\/(\d{1,4})/, "Edge"],
  [/\bOPR\/(\d{1,4})|\bOPT\/(\d{1,4})/, "Opera"],
  [/\bSamsungBrowser\/(\d{1,4})/, "Samsung Internet"],
  [/\bYaBrowser\/(\d{1,4})/, "Yandex Browser"],
  [/\bDuckDuckGo\/(\d{1,4})/, "DuckDuckGo"],
  [/\bFirefox\/(\d{1,4})|\bFxiOS\/(\d{1,4})/, "Firefox"],
  [/\b(?:Headless)?Chrome\/(\d{1,4})|\bCriOS\/(\d{1,4})/, "Chrome"],
  [/\bSafari\//, "Safari", /\bVersion\/(\d{1,4})/],
  [/\bTrident\//, "Internet Explorer", /\brv:(\d{1,4})/],
  [/\bMSIE (\d{1,4})/, "Internet Explorer"],
  [/\bAppleWebKit\//, "an app's own browser"],
];

/** Windows has reported 10 since Windows 10, and macOS stopped counting, so these have no version. */
const SYSTEMS: readonly Known[] = [
  [/\bWindows Phone\b/, "Windows Phone"],
  [/\bWindows\b/, "Windows"],
  [/\biPad\b/, "iPadOS", /\bOS (\d{1,4})/],
  [/\b(?:iPhone|iPod)\b/, "iOS", /\bOS (\d{1,4})/],
  [/\bAndroid (\d{1,4})/, "Android"],
  [/\bAndroid\b/, "Android"],
  [/\bCrOS\b/, "ChromeOS"],
  [/\bMacintosh\b/, "macOS"],
  [/\bLinux\b|\bX11\b/, "Linux"],
];

export function describeUserAgent(sent: string | undefined): UserAgent {
  const text = (sent ?? "").slice(0, MAX_LENGTH);
  return { browser: firstOf(BROWSERS, text), operatingSystem: firstOf(SYSTEMS, text) };
}

/** The name comes from this table and the version has digits only, so no text of the caller is passed on. */
function firstOf(known: readonly Known[], text: string): string | null {
  for (const [pattern, name, figure = pattern] of known) {
    const found = pattern.test(text) && figure.exec(text);
    if (!found) continue;
    const version = found.slice(1).find((part) => part !== undefined);
    return version === undefined ? name : `${name} ${Number(version)}`;
  }
  return null;
}
