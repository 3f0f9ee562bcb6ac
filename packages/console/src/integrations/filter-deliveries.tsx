import { useId } from "react";
import { type DeliveryFilter, STATUSES, typesToChoose } from "./delivery-filter.ts";
import { STATUS_WORDS } from "./delivery-words.ts";

type Props = {
  observes: readonly string[];
  filter: DeliveryFilter;
  onChange: (filter: DeliveryFilter) => void;
};

export function FilterDeliveries({ observes, filter, onChange }: Props) {
  const id = useId();
  return (
    <search className="row">
      <div className="field">
        <label htmlFor={`${id}-status`}>State</label>
        <select
          id={`${id}-status`}
          className="input"
          value={filter.status}
          onChange={(event) => onChange({ ...filter, status: event.target.value })}
        >
          <option value="">Every state</option>
          {STATUSES.map((status) => (
            <option key={status} value={status}>
              {STATUS_WORDS[status].word}
            </option>
          ))}
        </select>
      </div>
      <div className="field">
        <label htmlFor={`${id}-type`}>Event</label>
        <select
          id={`${id}-type`}
          className="input"
          value={filter.type}
          onChange={(event) => onChange({ ...filter, type: event.target.value })}
        >
          <option value="">Every event</option>
          {typesToChoose(observes, filter.type).map((type) => (
            <option key={type}>{type}</option>
          ))}
        </select>
      </div>
    </search>
  );
}
