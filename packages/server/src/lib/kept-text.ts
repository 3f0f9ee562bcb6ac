/**
 * The JSON of what is shown again and again: made once for each object, and anew when `besides`, all that it says beyond that object,
 * is another. It goes when the object goes.
 */
type KeptText<Of extends object> = (of: Of, besides: string, present: () => object) => string;

export function createKeptText<Of extends object>(): KeptText<Of> {
  const texts = new WeakMap<Of, { besides: string; text: string }>();
  return (of, besides, present) => {
    const kept = texts.get(of);
    if (kept?.besides === besides) return kept.text;
    const text = JSON.stringify(present());
    texts.set(of, { besides, text });
    return text;
  };
}
