/** Both are public. An application key's secret has no place in a page. */
export const LATCHKEY_URL = "http://localhost:4000";
export const CLIENT_ID = "lkid_";
