import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";
import { useProviders } from "../parts/profiles.ts";
import { useSession } from "../session/session.ts";
import { type Answer, ask, lookUpPath } from "./ask.ts";
import {
  customerEntry,
  type Entry,
  type Group,
  keyEntry,
  keysNamed,
  providersNamed,
  screensNamed,
  signOnEntry,
} from "./entries.ts";
import { isMatch } from "./matches.ts";

/** A person types about five letters a second. */
const PAUSE_MS = 200;
/** Keys are searched by name in the browser, because the service has no index of their names. */
const MOST_KEYS = 300;

/** The last group, which is there for every text. */
export const LOOK_UP = "More";

type Results = {
  groups: Group[];
  /** The path of the only thing that the whole text names. */
  exact: string | undefined;
  isPending: boolean;
  error: unknown;
  again: () => void;
};

/** The results for a text. `isPasted`: the text is complete, so the search begins at once. */
export function useResults(typed: string, isPasted: boolean): Results {
  const { admin, role } = useSession();
  const text = typed.trim();
  const asked = usePaused(text, isPasted ? 0 : PAUSE_MS);
  const found = useQuery({
    // Events mark "find" as stale, so a result that was deleted disappears.
    queryKey: ["find", "search", asked],
    queryFn: () => ask(admin, asked),
    enabled: asked !== "",
    placeholderData: keepPreviousData,
  });
  const keys = useKeys();
  const providers = useProviders();
  const isCurrent = asked === text && !found.isPlaceholderData;
  const parts: Group[] = [
    ...(text === "" ? [] : foundGroups(found.data, text, isCurrent)),
    { label: "Screens", entries: screensNamed(role, text) },
    ...(text === ""
      ? []
      : [
          { label: "Keys", entries: unlessFound(keysNamed(keys.data ?? [], text), found.data) },
          { label: "Providers", entries: providersNamed(providers.data ?? [], text) },
          { label: "Customers", entries: customersOf(found.data, text, isCurrent) },
          {
            label: LOOK_UP,
            entries: [
              {
                to: lookUpPath(text),
                name: `Look up “${text}”`,
                detail: "also inside names, and in the log",
              },
            ],
          },
        ]),
  ];
  const failed = [found, keys, providers].filter(({ error }) => error !== null);
  return {
    groups: parts.filter(({ entries }) => entries.length > 0),
    exact: isCurrent && text !== "" ? found.data?.exact : undefined,
    isPending: text !== "" && (asked !== text || found.isFetching || keys.isPending || providers.isPending),
    error: failed[0]?.error,
    again: () => {
      for (const query of failed) void query.refetch();
    },
  };
}

/** Only a reference, an id or a whole e-mail finds these, so results of an earlier text do not fit. */
function foundGroups(data: Answer | undefined, text: string, isCurrent: boolean): Group[] {
  if (!data || !isCurrent) return [];
  const events: Entry[] =
    data.events > 0
      ? [{ to: lookUpPath(text), name: `${data.events} with this id`, detail: "in Look up" }]
      : [];
  return [
    { label: "Sign-ons", entries: data.signOns.map(signOnEntry) },
    { label: "Keys with this id", entries: data.keys.map(keyEntry) },
    { label: "Events", entries: events },
  ];
}

/** Until the answer for the new text is there, customers of the earlier text stay that fit the new text too. */
function customersOf(data: Answer | undefined, text: string, isCurrent: boolean): Entry[] {
  const entries = (data?.customers ?? []).map(customerEntry);
  return isCurrent ? entries : entries.filter(({ name, detail }) => isMatch(text, `${name} ${detail}`));
}

const unlessFound = (entries: readonly Entry[], data: Answer | undefined): Entry[] =>
  entries.filter(({ to }) => !data?.keys.some(({ id }) => to === `/keys/${id}`));

function useKeys() {
  const { admin } = useSession();
  return useQuery({
    queryKey: ["keys", "names"],
    queryFn: async () => {
      const keys = [];
      for await (const key of admin.applicationKeys.list({ limit: 100 }).all())
        if (keys.push(key) >= MOST_KEYS) break;
      return keys;
    },
  });
}

/** The text once it has not changed for so long. An empty text counts at once. */
function usePaused(text: string, pauseMs: number): string {
  const [paused, setPaused] = useState(text);
  const isAtOnce = pauseMs === 0 || text === "";
  useEffect(() => {
    if (isAtOnce) return setPaused(text);
    const timer = setTimeout(() => setPaused(text), pauseMs);
    return () => clearTimeout(timer);
  }, [text, pauseMs, isAtOnce]);
  return isAtOnce ? text : paused;
}
