import { newPlace, type Place } from "../e2e/running.ts";

/** In tests a service notes every statement that it sends; one that is measured does not. */
export async function unwatchedPlace(databaseUrl?: string): Promise<Place> {
  const place = await newPlace(databaseUrl);
  return { ...place, env: { ...place.env, NODE_OPTIONS: "" } };
}
