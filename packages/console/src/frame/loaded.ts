import { type ComponentType, lazy } from "react";

export type Load = () => Promise<ComponentType>;

const made = new Map<Load, ComponentType>();

/**
 * A component in a separate file, loaded when it is first shown. React remembers a failed load for ever, so
 * the next request creates the component again.
 */
export function loaded(load: Load): ComponentType {
  const known = made.get(load);
  if (known) return known;
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
