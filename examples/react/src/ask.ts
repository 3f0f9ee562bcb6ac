import { useEffect, useState } from "react";

export type Notice = { message: string; reference?: string };
export type Customer = { name: string; email: string };
export type Session = { customer?: Customer; notice?: Notice };
export type Provider = { id: string; name: string; isUp: boolean };

type Asked<T> = { answer?: T; failure?: Notice };

const LOST: Notice = { message: "The connection broke off. Please try again." };
const asked = new Map<string, Promise<Asked<unknown>>>();

/**
 * Requests each path of the shop's server once: React runs effects twice in development, and reading a notice
 * deletes it.
 */
function ask<T>(path: string): Promise<Asked<T>> {
  const known =
    asked.get(path) ??
    fetch(path)
      .then(read)
      .catch(() => ({ failure: LOST }));
  asked.set(path, known);
  return known as Promise<Asked<T>>;
}

async function read(response: Response): Promise<Asked<unknown>> {
  const body = await response.json();
  return response.ok ? { answer: body } : { failure: body };
}

export function useAnswer<T>(path: string): Asked<T> {
  const [state, setState] = useState<Asked<T>>({});
  useEffect(() => {
    void ask<T>(path).then(setState);
  }, [path]);
  return state;
}
