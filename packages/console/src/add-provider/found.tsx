import type { NewProfileReport, Realm } from "@latchkey/sdk/admin";
import { useProviders } from "../parts/profiles.ts";
import { Pill } from "../parts/text/pill.tsx";
import { Words } from "../parts/text/words.tsx";
import { ProductMark } from "../providers/provider-mark.tsx";
import { Requirements } from "../providers/requirements.tsx";
import { type Finding, findingOf, inUse, missedIn, otherIssuer, summaryOf } from "./findings.ts";
import { type Made, NameIt } from "./name-it.tsx";

type Props = {
  address: string;
  report: NewProfileReport;
  realms: readonly Realm[];
  /** The chosen product, if the document does not show one. */
  product: string;
  /** Checks another address. */
  onOther: (address: string) => void;
  onMade: (made: Made) => void;
};

/** The result of the check of an address. Nothing is saved yet. */
export function Found({ address, report, realms, product, onOther, onMade }: Props) {
  const finding = findingOf(report, address);
  return (
    <div className="found">
      <section className="stack" aria-label="What was found">
        <Who report={report} address={address} finding={finding} />
        <Missing report={report} finding={finding} onOther={onOther} />
        <InUse issuer={report.issuer} />
        {finding !== "unread" && (
          <details>
            <summary>The nine requirements, one by one</summary>
            <Requirements checks={report.checks} />
          </details>
        )}
      </section>
      <NameIt
        address={address}
        report={report}
        finding={finding}
        realms={realms}
        product={report.provider?.key ?? product}
        onMade={onMade}
      />
    </div>
  );
}

const PILLS = {
  fits: <Pill tone="good">Fits</Pill>,
  missing: <Pill tone="bad">Not ready</Pill>,
  elsewhere: <Pill tone="bad">Another issuer</Pill>,
  unread: <Pill tone="bad">Not readable</Pill>,
};

type WhoProps = { report: NewProfileReport; address: string; finding: Finding };

function Who({ report, address, finding }: WhoProps) {
  const isRead = finding !== "unread";
  return (
    <>
      <div className="row apart">
        <div className="marked">
          <ProductMark of={report.provider?.key} />
          <h3>
            {isRead ? (report.provider?.name ?? "An OpenID Connect provider") : "No provider was found"}
          </h3>
        </div>
        {PILLS[finding]}
      </div>
      <p role="status">
        {isRead ? summaryOf(report) : "Latchkey could not read a discovery document at this address."}
      </p>
      <dl className="facts">
        <dt>{isRead ? "Issuer" : "Address"}</dt>
        <dd>
          <code>{report.issuer ?? address}</code>
        </dd>
        {report.endpoint_hosts.length > 0 && (
          <>
            <dt>Hosts</dt>
            <dd>{report.endpoint_hosts.join(", ")}</dd>
          </>
        )}
        {report.answer_ms !== null && (
          <>
            <dt>Answered in</dt>
            <dd className="number">{report.answer_ms} ms</dd>
          </>
        )}
      </dl>
    </>
  );
}

type MissingProps = Pick<Props, "report" | "onOther"> & { finding: Finding };

/** The requirements that are missing, each with its remedy. */
function Missing({ report, finding, onOther }: MissingProps) {
  const issuer = finding === "elsewhere" ? otherIssuer(report) : undefined;
  return (
    <>
      {missedIn(report).map((check) => (
        <div key={check.id} className="problem">
          {finding !== "unread" && (
            <p>
              <strong>
                Not met: <Words of={check.requirement} />
              </strong>
            </p>
          )}
          <p>
            <Words of={check.evidence} />
          </p>
          {check.remedy && (
            <p className="quiet">
              <Words of={check.remedy} />
            </p>
          )}
        </div>
      ))}
      {issuer && (
        <p>
          <button type="button" className="button button-plain" onClick={() => onOther(issuer)}>
            Check {issuer} instead
          </button>
        </p>
      )}
      {report.warnings.map((warning) => (
        <p key={warning} className="hint hint-warn">
          <Words of={warning} />
        </p>
      ))}
    </>
  );
}

function InUse({ issuer }: { issuer: string | null }) {
  const { data = [] } = useProviders();
  const same = data.filter(({ meta }) => issuer !== null && meta.issuer === issuer);
  return (
    same.length > 0 && (
      <p className="hint">{inUse(same.map(({ name, realm }) => `${name} (${realm.name})`))}</p>
    )
  );
}
