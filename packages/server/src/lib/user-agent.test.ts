import { expect, test } from "vitest";
import { describeUserAgent } from "./user-agent.ts";

const MAC = "Mozilla/5.0 (Macintosh; Intel Mac OS X 10_15_7)";
const KIT = "AppleWebKit/537.36 (KHTML, like Gecko)";

test.each([
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KIT} Chrome/126.0.0.0 Safari/537.36`,
    "Chrome 126",
    "Windows",
  ],
  [
    `Mozilla/5.0 (Windows NT 10.0; Win64; x64) ${KIT} Chrome/126.0.0.0 Safari/537.36 Edg/126.0.2592.87`,
    "Edge 126",
    "Windows",
  ],
  [`${MAC} AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Safari/605.1.15`, "Safari 17", "macOS"],
  ["Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0", "Firefox 128", "Linux"],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.5 Mobile/15E148 Safari/604.1",
    "Safari 17",
    "iOS 17",
  ],
  [
    "Mozilla/5.0 (iPad; CPU OS 16_3 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) CriOS/126.0.6478.54 Mobile/15E148 Safari/604.1",
    "Chrome 126",
    "iPadOS 16",
  ],
  [
    `Mozilla/5.0 (Linux; Android 14; SM-S918B) ${KIT} SamsungBrowser/25.0 Chrome/121.0.0.0 Mobile Safari/537.36`,
    "Samsung Internet 25",
    "Android 14",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 Instagram 335.0.0",
    "Instagram app",
    "iOS 17",
  ],
  [
    "Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148",
    "an app's own browser",
    "iOS 17",
  ],
  [
    `Mozilla/5.0 (X11; CrOS x86_64 14541.0.0) ${KIT} Chrome/126.0.0.0 Safari/537.36`,
    "Chrome 126",
    "ChromeOS",
  ],
  [`Mozilla/5.0 (Windows NT 10.0) ${KIT} Chrome/125.0 Safari/537.36 OPR/111.0.0.0`, "Opera 111", "Windows"],
  ["Mozilla/5.0 (Windows NT 6.1; Trident/7.0; rv:11.0) like Gecko", "Internet Explorer 11", "Windows"],
  ["Mozilla/4.0 (compatible; MSIE 8.0; Windows NT 6.1; Trident/4.0)", "Internet Explorer 8", "Windows"],
  ["Opera/9.80 (X11; Linux x86_64) Presto/2.12.388 Version/12.16", null, "Linux"],
])("%s is %s on %s", (text, browser, operatingSystem) => {
  expect(describeUserAgent(text)).toEqual({ browser, operatingSystem });
});

test.each([undefined, "", "curl/8.5.0", "Chrome/<script>", "x".repeat(100_000)])(
  "%.20s is nothing we know",
  (text) => {
    expect(describeUserAgent(text)).toEqual({ browser: null, operatingSystem: null });
  },
);

test("a version has at most four digits, so no sent text is passed on", () => {
  expect(describeUserAgent(`Firefox/${"9".repeat(400)}`).browser).toBe("Firefox 9999");
});
