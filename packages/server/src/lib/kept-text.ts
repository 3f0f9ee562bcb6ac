/**
 * Keeps the JSON of an object that is sent often: written once per object, and again when `besides`, the other inputs
 * of the text, changes. The text is freed with the object.
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
