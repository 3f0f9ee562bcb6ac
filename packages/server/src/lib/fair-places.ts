/**
 * A number of places per kind, shared fairly between sources. A source may hold as many places as it leaves free: one
 * source alone gets half, k sources get a (k + 1)th each, and a source without a place nearly always finds one. A
 * source without a place waits for a short time; a free place goes to the waiting sources in turn. When too many wait,
 * the source with the most waiting requests loses its latest; between equal sources the choice is random, so that it is
 * not always the newest.
 */
export type FairPlaces = {
  /** Takes a place, which must be given back once; undefined when there was none in time. */
  enter(kind: string, source: string): Promise<Leave | undefined>;
};

export type Leave = () => void;

export type FairPlacesOptions = {
  places: number;
  /** How many may wait for places of one kind. */
  waiting: number;
  waitMs: number;
  after?: After;
  random?: () => number;
};

/** Runs work later unless it is cancelled. */
type After = (ms: number, work: () => void) => () => void;

type Waiter = { end(leave: Leave | undefined): void };
/** The queues are in the order in which their sources are served. */
type Room = { free: number; held: Map<string, number>; queues: Map<string, Waiter[]> };

export function createFairPlaces({
  places,
  waiting,
  waitMs,
  after = timer,
  random = Math.random,
}: FairPlacesOptions): FairPlaces {
  const rooms = new Map<string, Room>();

  function roomOf(kind: string): Room {
    const room = rooms.get(kind) ?? { free: places, held: new Map(), queues: new Map() };
    rooms.set(kind, room);
    return room;
  }

  function take(kind: string, room: Room, source: string): Leave {
    room.free--;
    room.held.set(source, heldBy(room, source) + 1);
    let isHeld = true;
    return () => {
      if (!isHeld) return;
      isHeld = false;
      room.free++;
      const left = heldBy(room, source) - 1;
      if (left > 0) room.held.set(source, left);
      else room.held.delete(source);
      serve(kind, room);
      if (room.free === places && room.queues.size === 0) rooms.delete(kind);
    };
  }

  function serve(kind: string, room: Room): void {
    for (;;) {
      const next = [...room.queues].find(([source]) => mayTake(room, source));
      if (!next) return;
      const [source, queue] = next;
      const first = queue.shift();
      // A source with more waiting requests moves to the end of the round.
      room.queues.delete(source);
      if (queue.length > 0) room.queues.set(source, queue);
      first?.end(take(kind, room, source));
    }
  }

  function wait(room: Room, source: string): Promise<Leave | undefined> {
    return new Promise((resolve) => {
      const waiter: Waiter = {
        end(leave) {
          cancel();
          resolve(leave);
        },
      };
      const cancel = after(waitMs, () => {
        withdraw(room, source, waiter);
        resolve(undefined);
      });
      const queue = room.queues.get(source) ?? [];
      queue.push(waiter);
      room.queues.set(source, queue);
      if (waitingIn(room) > waiting) giveUpLatest(room, random);
    });
  }

  return {
    enter(kind, source) {
      const room = roomOf(kind);
      // Overtakes no earlier request of the source: that request would have taken the free place already.
      return mayTake(room, source) ? Promise.resolve(take(kind, room, source)) : wait(room, source);
    },
  };
}

const heldBy = ({ held }: Room, source: string): number => held.get(source) ?? 0;

const mayTake = (room: Room, source: string): boolean => heldBy(room, source) < room.free;

const waitingIn = ({ queues }: Room): number =>
  [...queues.values()].reduce((sum, queue) => sum + queue.length, 0);

function withdraw(room: Room, source: string, waiter: Waiter): void {
  const left = room.queues.get(source)?.filter((other) => other !== waiter) ?? [];
  if (left.length > 0) room.queues.set(source, left);
  else room.queues.delete(source);
}

function giveUpLatest(room: Room, random: () => number): void {
  const most = Math.max(...[...room.queues.values()].map((queue) => queue.length));
  const longest = [...room.queues].filter(([, queue]) => queue.length === most);
  const [source, queue] = longest[Math.floor(random() * longest.length)] ?? [];
  const latest = queue?.at(-1);
  if (source === undefined || !latest) return;
  withdraw(room, source, latest);
  latest.end(undefined);
}

function timer(ms: number, work: () => void): () => void {
  const handle = setTimeout(work, ms);
  return () => clearTimeout(handle);
}
