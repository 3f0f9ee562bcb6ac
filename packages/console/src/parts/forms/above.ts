import { createContext, type ReactNode, useState } from "react";

/**
 * Dialogs that the frame keeps above every screen, because a screen's own dialog disappears when the person
 * leaves the screen. They are shown one at a time, in order. A sign-out removes them.
 */
export const Above = createContext({ open: (_: ReactNode) => {}, close: () => {} });

export function useAbove() {
  const [windows, setWindows] = useState<ReactNode[]>([]);
  const [acts] = useState(() => ({
    open: (window: ReactNode) => setWindows((before) => [...before, window]),
    close: () => setWindows(([, ...rest]) => rest),
  }));
  return { acts, shown: windows[0] };
}
