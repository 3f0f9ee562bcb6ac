import { DialogDismiss } from "@ariakit/react/dialog";
import type { Member } from "@latchkey/sdk/admin";
import { Link } from "wouter";
import { Copy } from "../parts/forms/copy.tsx";
import { Modal } from "../parts/forms/modal.tsx";
import { Asked } from "../parts/lists/asked.tsx";
import { UNREGISTERED, useProviders } from "../parts/profiles.ts";
import { useSession } from "../session/session.ts";
import { invitationOf, mailTo } from "./invitation-text.ts";

/** The text to send to an invited member. */
export function Invitation({ member, onClose }: { member: Member; onClose: () => void }) {
  const { store, name, accessToken } = useSession();
  const query = useProviders();
  return (
    <Modal title={`Send this to ${member.name}`} onClose={onClose}>
      <Asked query={query}>
        {(providers) => {
          const usable = providers.filter(
            ({ realm, enabled, client_id }) =>
              realm.purpose === "members" && enabled && client_id !== UNREGISTERED,
          );
          const invitation = invitationOf({
            member,
            store,
            by: accessToken === undefined ? undefined : name,
            providers: usable.map((one) => one.name),
            origin: location.origin,
          });
          return (
            <>
              {usable.length === 0 ? (
                <p className="hint hint-warn">
                  This person cannot sign in yet: the realm for members has no enabled provider.{" "}
                  <Link href="/providers/add">Add a provider</Link> first.
                </p>
              ) : (
                <p className="quiet">
                  Latchkey sends no mail. Copy this text, or open it in your mail program.
                </p>
              )}
              <p className="letter">{invitation.text}</p>
              <div className="form-actions">
                <Copy text={invitation.text} what="invitation" label="Copy text" />
                <a className="button button-plain button-small" href={mailTo(member.email, invitation)}>
                  Open in your mail program
                </a>
              </div>
            </>
          );
        }}
      </Asked>
      <div className="form-actions">
        <DialogDismiss className="button">Done</DialogDismiss>
      </div>
    </Modal>
  );
}
