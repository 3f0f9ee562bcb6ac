import { createContext, type ReactNode, useState } from "react";

/**
 * Windows that the frame keeps above whatever screen is there: what a screen keeps is gone when somebody leaves it. One is shown at a
 * time, the first one first. Whoever signs out leaves them, too.
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
