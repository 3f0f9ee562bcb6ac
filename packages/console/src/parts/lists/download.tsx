import { type ReactNode, useEffect, useRef, useState } from "react";
import { noteRefusal } from "../../session/session.ts";
import { say } from "../text/notices.tsx";
import { Problem } from "../text/problem.tsx";
import { explainDownload, type FileOptions, readFile, sizeInWords } from "./file.ts";
import { saveFile } from "./save-file.ts";

type Props = {
  label: ReactNode;
  /** The name of the file, if the service names none. */
  name: string;
  type: "text/csv" | "application/json";
  read: (options: FileOptions) => AsyncIterable<string>;
};

/** A button that reads a file from the service and lets the browser save it. While it reads, it cancels. */
export function Download({ label, name, type, read }: Props) {
  const [size, setSize] = useState<number>();
  const [error, setError] = useState<unknown>();
  const ending = useRef<AbortController>(undefined);
  useEffect(() => () => ending.current?.abort(), []);
  const isUnderWay = size !== undefined;
  async function start() {
    const own = new AbortController();
    ending.current = own;
    setSize(0);
    setError(undefined);
    try {
      const file = await readFile(read, name, own.signal, setSize);
      saveFile(file, type);
      say(`${file.name} is saved.`);
    } catch (failure) {
      if (own.signal.aborted) return;
      noteRefusal(failure);
      setError(failure);
    } finally {
      if (ending.current === own) setSize(undefined);
    }
  }
  const why = error === undefined ? undefined : explainDownload(error);
  return (
    <div className="download">
      <button
        type="button"
        className="button button-plain button-small"
        onClick={() => (isUnderWay ? ending.current?.abort() : void start())}
      >
        {isUnderWay ? `Cancel (${sizeInWords(size)})` : label}
      </button>
      <span className="only-read-out" role="status">
        {isUnderWay && "The file is being read."}
      </span>
      {error !== undefined && (
        <div className="stack-tight download-failed">
          {why && <p role="alert">{why}</p>}
          <Problem error={error} again={() => void start()} />
        </div>
      )}
    </div>
  );
}

/** The whole list with the filter and order of the screen, as a file for a spreadsheet. */
export const ExportCsv = ({ name, read }: Pick<Props, "name" | "read">) => (
  <Download label="Export CSV" name={`${name}.csv`} type="text/csv" read={read} />
);
