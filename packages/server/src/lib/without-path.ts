/**
 * The origin of a URL, and a word in the place of the rest: path and query may be a secret. Services for chats and automation give out
 * addresses of webhooks that let in whoever knows them.
 */
export function withoutPath(url: string): string {
  const { origin } = new URL(url);
  return url === origin || url === `${origin}/` || url === `${origin}${HIDDEN}` ? url : `${origin}${HIDDEN}`;
}

const HIDDEN = "/(hidden)";
