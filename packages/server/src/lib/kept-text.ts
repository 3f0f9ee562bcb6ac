/**
 * Keeps the JSON of an object that is sent often: written once per object, and again when `besides`, the other inputs
 * of the text, changes. The text is freed with the object.
 */
export function createKeptText<Of extends object>() {
  const texts = new WeakMap<Of, { besides: string; text: string }>();
  return (of: Of, besides: string, present: () => object): string => {
    const kept = texts.get(of);
    if (kept?.besides === besides) return kept.text;
    const text = JSON.stringify(present());
    texts.set(of, { besides, text });
    return text;
  };
}
