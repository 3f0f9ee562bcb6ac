import { type ReactNode, useId, useState } from "react";
import { fromField, type Span, toField } from "./span.ts";

/** The filters of a list, side by side. */
export const Filters = ({ children }: { children: ReactNode }) => (
  <search className="filters">{children}</search>
);

type Option = { value: string; label: string };
type ChoiceProps = {
  label: string;
  options: readonly Option[];
  value: string;
  onChoose: (value: string) => void;
};

/** A choice between values. It also shows a value of the address that is not among the options. */
export function FilterChoice({ label, options, value, onChoose }: ChoiceProps) {
  const id = useId();
  const isKnown = options.some((option) => option.value === value);
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <select id={id} className="input" value={value} onChange={(event) => onChoose(event.target.value)}>
        {options.map((option) => (
          <option key={option.value} value={option.value}>
            {option.label}
          </option>
        ))}
        {!isKnown && <option value={value}>{value}</option>}
      </select>
    </div>
  );
}

type InstantProps = {
  label: string;
  /** An ISO instant; empty: none. */
  value: string;
  onChoose: (value: string) => void;
};

type SpanProps = {
  /** Before the words "from" and "before": the name of the time. */
  of?: string;
  value: Span;
  onChoose: (change: Partial<Span>) => void;
};

/** The time of the rows. The end is not part of it. */
export const FilterSpan = ({ of, value, onChoose }: SpanProps) => (
  <div className="filters-span">
    <FilterInstant
      label={of ? `${of} from` : "From"}
      value={value.from}
      onChoose={(from) => onChoose({ from })}
    />
    <FilterInstant
      label={of ? `${of} before` : "Before"}
      value={value.to}
      onChoose={(to) => onChoose({ to })}
    />
  </div>
);

/** An instant in the reader's time zone. It counts when the field is left or on Enter: half a date is no date. */
function FilterInstant({ label, value, onChoose }: InstantProps) {
  const id = useId();
  const shown = toField(value);
  const [{ typed, over }, setTyped] = useState({ typed: shown, over: shown });
  if (over !== shown) setTyped({ typed: shown, over: shown });
  const choose = () => {
    if (typed !== shown) onChoose(fromField(typed));
  };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        id={id}
        className="input"
        type="datetime-local"
        value={typed}
        onChange={(event) => setTyped({ typed: event.target.value, over: shown })}
        onBlur={choose}
        onKeyDown={(event) => event.key === "Enter" && choose()}
      />
    </div>
  );
}
