/** The end of a list that goes on. */
export function More({ show, isBusy, onMore }: { show: boolean; isBusy: boolean; onMore: () => void }) {
  if (!show) return null;
  return (
    <p>
      <button type="button" className="button button-plain" disabled={isBusy} onClick={onMore}>
        Show more
      </button>
    </p>
  );
}
