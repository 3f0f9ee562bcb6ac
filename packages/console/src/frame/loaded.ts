import { type ComponentType, lazy } from "react";

export type Load<Props extends object = object> = () => Promise<ComponentType<Props>>;

/** Components by the function that loads them. */
const made = new Map<unknown, unknown>();

/**
 * A component in a separate file, loaded when it is first shown. React remembers a failed load for ever, so
 * the next request creates the component again.
 */
export function loaded<Props extends object>(load: Load<Props>): ComponentType<Props> {
  const known = made.get(load);
  if (known) return known as ComponentType<Props>;
  const shown = lazy(async () => {
    try {
      return { default: await load() };
    } catch (error) {
      made.delete(load);
      throw error;
    }
  });
  made.set(load, shown);
  return shown;
}
