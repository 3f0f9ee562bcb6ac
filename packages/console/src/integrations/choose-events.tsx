import { EVENT_GROUPS, isObserved, isWhole, toggleResource, toggleType } from "./event-types.ts";

type Props = { observes: readonly string[]; onChange: (observes: string[]) => void };

/** All events of a resource, or single ones. */
export function ChooseEvents({ observes, onChange }: Props) {
  return (
    <fieldset className="stack-tight">
      <legend>
        <strong>Events</strong>
      </legend>
      {EVENT_GROUPS.map(({ resource, label, types }) => {
        const all = Object.entries(types);
        const chosen = all.filter(([type]) => isObserved(observes, type)).length;
        const isAll = isWhole(observes, resource);
        return (
          <div key={resource} className="event-group">
            <label className="choice">
              <input
                type="checkbox"
                checked={isAll}
                // Some of the group are chosen.
                ref={(box) => {
                  if (box) box.indeterminate = !isAll && chosen > 0;
                }}
                onChange={() => onChange(toggleResource(observes, resource))}
              />
              <strong>{label}</strong>
              <span className="why">
                All events, including those that later releases add (<code>{resource}.*</code>)
              </span>
            </label>
            <details className="event">
              <summary className="small">
                Single events: {chosen} of {all.length}
                <span className="only-read-out"> of {label}</span>
              </summary>
              {all.map(([type, says]) => (
                <label key={type} className="choice">
                  <input
                    type="checkbox"
                    checked={isObserved(observes, type)}
                    onChange={() => onChange(toggleType(observes, type))}
                  />
                  <strong>{type}</strong>
                  <span className="why">{says}</span>
                </label>
              ))}
            </details>
          </div>
        );
      })}
    </fieldset>
  );
}
