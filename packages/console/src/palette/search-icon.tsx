export const SearchIcon = () => (
  <svg className="palette-icon" viewBox="0 0 16 16" aria-hidden="true">
    <path d="M7 12A5 5 0 1 0 7 2a5 5 0 0 0 0 10Zm3.6-1.4L14 14" />
  </svg>
);
