/** Both values are public. Never put an application key's secret into a page. */
export const LATCHKEY_URL = "http://localhost:4000";
export const CLIENT_ID = "lkid_";
