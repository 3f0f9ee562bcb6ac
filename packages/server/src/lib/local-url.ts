const LOCAL_HOSTS: readonly string[] = ["localhost", "127.0.0.1", "[::1]"];

/** Whether the URL's host is this machine. Browsers treat such pages as secure over http as well. */
export const isLocalUrl = (url: string | URL): boolean => LOCAL_HOSTS.includes(new URL(url).hostname);
