/** Runs planned events in the order of their times; events of the same time in the order of their planning. */
export type Queue = {
  at(timeMs: number, event: () => void): void;
  run(untilMs: number, setTime: (ms: number) => void): void;
};

type Planned = { timeMs: number; order: number; event: () => void };

const isBefore = (a: Planned, b: Planned): boolean =>
  a.timeMs < b.timeMs || (a.timeMs === b.timeMs && a.order < b.order);

/** A binary heap. */
export function createQueue(): Queue {
  const heap: Planned[] = [];
  let order = 0;

  function push(planned: Planned): void {
    let at = heap.push(planned) - 1;
    while (at > 0) {
      const above = (at - 1) >> 1;
      if (isBefore(heap[above] as Planned, planned)) break;
      heap[at] = heap[above] as Planned;
      at = above;
    }
    heap[at] = planned;
  }

  function pop(): Planned {
    const first = heap[0] as Planned;
    const last = heap.pop() as Planned;
    if (heap.length === 0) return first;
    let at = 0;
    for (;;) {
      let below = 2 * at + 1;
      if (below >= heap.length) break;
      if (below + 1 < heap.length && isBefore(heap[below + 1] as Planned, heap[below] as Planned)) below++;
      if (isBefore(last, heap[below] as Planned)) break;
      heap[at] = heap[below] as Planned;
      at = below;
    }
    heap[at] = last;
    return first;
  }

  return {
    at: (timeMs, event) => push({ timeMs, order: order++, event }),
    run(untilMs, setTime) {
      while (heap.length > 0 && (heap[0] as Planned).timeMs <= untilMs) {
        const { timeMs, event } = pop();
        setTime(timeMs);
        event();
      }
    },
  };
}
