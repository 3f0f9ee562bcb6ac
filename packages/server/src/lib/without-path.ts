/**
 * The origin of a URL, with a placeholder for the rest: path and query may contain a secret. Chat and automation
 * services give out webhook URLs that need no other credential.
 */
export function withoutPath(url: string): string {
  const { origin } = new URL(url);
  return url === origin || url === `${origin}/` || url === `${origin}${HIDDEN}` ? url : `${origin}${HIDDEN}`;
}

const HIDDEN = "/(hidden)";
