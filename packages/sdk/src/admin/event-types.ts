/** What happened, as CloudEvents 1.0 JSON. */
export type Event = {
  specversion: "1.0";
  id: string;
  source: string;
  type: string;
  /** The id of the resource. */
  subject: string;
  time: string;
  datacontenttype: "application/json";
  storeid: string;
  /** The event's number in its store, in decimal: from 1, without gaps. */
  sequence: string;
  /** Absent where the person it was about was erased, and where something is withheld. */
  salt?: string | undefined;
  digest: string;
  previoushash: string;
  hash: string;
  data: EventData | "(erased)";
};

export type EventData = {
  /** As the API shows it; of a deletion its type and id. */
  resource: { [member: string]: unknown; type: string; id: string };
  changes?: Record<string, { before: unknown; after: unknown } | "(changed)"> | undefined;
  actor: {
    type: "application_key" | "member" | "customer" | "identity_provider" | "operator" | "service";
    id: string | null;
    name: string | null;
  };
  request_id: string | null;
  /** There where parts are for administrators alone: of a member type and id are left, of a webhook's URL its origin. */
  withheld?: true | undefined;
};

/** `signature` is a compact JWS by a key of `/.well-known/jwks.json`, for a witness. */
export type EventHead = {
  sequence: string;
  hash: string;
  /** The number of the first event that is kept. */
  first_sequence: string;
  /** `hash` of the event before that one; empty while nothing was forgotten. */
  forgotten_hash: string;
  signature: string;
};
