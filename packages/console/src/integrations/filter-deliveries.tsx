import { FilterChoice, Filters } from "../parts/lists/filters.tsx";
import { type DeliveryFilter, STATUSES, typesToChoose } from "./delivery-filter.ts";
import { STATUS_WORDS } from "./delivery-words.ts";

type Props = {
  observes: readonly string[];
  filter: DeliveryFilter;
  onChange: (filter: DeliveryFilter) => void;
};

export const FilterDeliveries = ({ observes, filter, onChange }: Props) => (
  <Filters>
    <FilterChoice
      label="State"
      options={[
        { value: "", label: "Every state" },
        ...STATUSES.map((value) => ({ value, label: STATUS_WORDS[value].word })),
      ]}
      value={filter.status}
      onChoose={(status) => onChange({ ...filter, status })}
    />
    <FilterChoice
      label="Event"
      options={[
        { value: "", label: "Every event" },
        ...typesToChoose(observes, filter.type).map((type) => ({ value: type, label: type })),
      ]}
      value={filter.type}
      onChoose={(type) => onChange({ ...filter, type })}
    />
  </Filters>
);
