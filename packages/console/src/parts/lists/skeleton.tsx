/** A placeholder of about the size of the content, so that the layout does not jump. */
export function SkeletonRows({ rows = 4 }: { rows?: number }) {
  return (
    <div aria-busy="true" role="status">
      <span className="only-read-out">Loading</span>
      {Array.from({ length: rows }, (_, at) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: all rows are equal
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
