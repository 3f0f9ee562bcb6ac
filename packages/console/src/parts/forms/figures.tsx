import { useQuery } from "@tanstack/react-query";
import { useId } from "react";

/** How many people, programs or messages an act concerns. */
export type Figure = {
  /** The name of the figure, shown if it could not be read: "sign-ons through it". */
  about: string;
  /** Reads the figure, and gives it as a sentence. */
  read: () => Promise<string>;
};

/** Each figure is a line of its own, so that one that cannot be read does not hide the others. */
export function Figures({ of }: { of: readonly Figure[] }) {
  return (
    <ul className="hint stack-tight" aria-label="How many this concerns" aria-live="polite">
      {of.map((figure) => (
        <li key={figure.about}>
          <Line of={figure} />
        </li>
      ))}
    </ul>
  );
}

function Line({ of: { about, read } }: { of: Figure }) {
  // Read anew by each dialog: an earlier figure would be taken for the present one.
  const dialog = useId();
  const { data, isError, isFetching, refetch } = useQuery({
    queryKey: ["figures", dialog, about],
    queryFn: read,
    gcTime: 0,
    refetchOnWindowFocus: false,
  });
  if (data !== undefined) return data;
  if (!isError || isFetching) return <span className="quiet">Counting {about}…</span>;
  return (
    <>
      The number of {about} could not be read.{" "}
      <button type="button" className="button-word" onClick={() => void refetch()}>
        Try again
      </button>
    </>
  );
}
