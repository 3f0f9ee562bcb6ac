/** Stands where something will stand, in about its size, so that nothing jumps. */
export function SkeletonRows({ rows = 4 }: { rows?: number }) {
  return (
    <div aria-busy="true" role="status">
      <span className="only-read-out">Loading</span>
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: they are all alike
        <span key={at} className="skeleton skeleton-row" />
      ))}
    </div>
  );
}

export function SkeletonBlock() {
  return (
    <div aria-busy="true" role="status">
      <span className="only-read-out">Loading</span>
      <span className="skeleton skeleton-block" />
    </div>
  );
}
