import { type ComponentType, lazy } from "react";

export type Load = () => Promise<ComponentType>;

const made = new Map<Load, ComponentType>();

/**
 * What is in a file of its own, loaded when it is first shown. React keeps the failure of what could not be loaded for good: such a thing
 * is made anew when it is asked for again.
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
