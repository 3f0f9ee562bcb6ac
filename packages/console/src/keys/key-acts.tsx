import type { ApplicationKey } from "@latchkey/sdk/admin";
import { useState } from "react";
import { Link } from "wouter";
import { ChangeKeyRole, DeleteKey, RotateKey } from "./change-key.tsx";

type Props = { value: ApplicationKey; onDeleted?: () => void };

/** The buttons of a key, in the list and on its own screen. */
export function KeyActs({ value: key, onDeleted }: Props) {
  const [open, setOpen] = useState<"role" | "rotate" | "delete">();
  const close = () => setOpen(undefined);
  return (
    <>
      <span className="row">
        <Link className="button button-plain button-small" href={`/planner?key=${key.id}`}>
          Plan<span className="only-read-out"> for {key.name}</span>
        </Link>
        <button type="button" className="button button-plain button-small" onClick={() => setOpen("role")}>
          Change role<span className="only-read-out"> of {key.name}</span>
        </button>
        <button type="button" className="button button-plain button-small" onClick={() => setOpen("rotate")}>
          Rotate secret<span className="only-read-out"> of {key.name}</span>
        </button>
        <button
          type="button"
          className="button button-bad-plain button-small"
          onClick={() => setOpen("delete")}
        >
          Delete<span className="only-read-out"> {key.name}</span>
        </button>
      </span>
      {open === "role" && <ChangeKeyRole value={key} onClose={close} />}
      {open === "rotate" && <RotateKey value={key} onClose={close} />}
      {open === "delete" && <DeleteKey value={key} onClose={close} onDeleted={onDeleted} />}
    </>
  );
}
