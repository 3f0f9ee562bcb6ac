import type { StoreUsage } from "@latchkey/sdk/admin";
import { type Share, sharesOf } from "./shares.ts";

const classOf = ({ colour }: Share) => (colour ? `share-${colour}` : "share-pool");
const rate = (value: number) => value.toFixed(value > 0 && value < 10 ? 1 : 0);

/** The store's limit as a bar: reserved rates in pale colours, their current use in full colours. */
export function Floors({ usage }: { usage: StoreUsage }) {
  const shares = sharesOf(usage);
  const whole = usage.rate_limit || 1;
  let x = 0;
  const bars = shares.map((share) => {
    const at = x;
    x += share.reserved;
    return { share, at };
  });
  const words = shares.map(({ name, reserved, used }) => `${name} ${rate(used)} of ${reserved}`).join(", ");
  return (
    <figure>
      <svg
        className="floors"
        viewBox={`0 0 ${whole} 10`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`Requests a second: ${words}`}
      >
        {bars.map(({ share, at }) => (
          <g key={share.id} className={classOf(share)}>
            <rect className="floor-reserved" x={at} y={0} width={share.reserved} height={10} />
            <rect x={at} y={0} width={Math.min(share.used, share.reserved)} height={10} />
          </g>
        ))}
        {bars.slice(1).map(({ share, at }) => (
          <line key={share.id} className="floor-edge" x1={at} x2={at} y1={0} y2={10} />
        ))}
      </svg>
      <ul className="legend">
        {shares.map((share) => (
          <li key={share.id}>
            <span className={`key-dot ${classOf(share)}`} />
            <bdi>{share.name}</bdi>{" "}
            <span className="quiet number">
              {rate(share.used)} of {share.reserved}
            </span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
