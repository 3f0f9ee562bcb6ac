import { type ComponentProps, type ReactNode, useId } from "react";

type Props = Omit<ComponentProps<"input">, "className" | "onChange" | "value"> & {
  label: ReactNode;
  hint?: ReactNode;
  /** The fault of the typed text, in words. */
  fault?: string | undefined;
  value: string;
  onType: (value: string) => void;
};

/** An input with its label, hint and fault, connected for screen readers. */
export function Field({ label, hint, fault, value, onType, ...input }: Props) {
  const id = useId();
  const described = [hint && `${id}-hint`, fault && `${id}-fault`].filter(Boolean).join(" ");
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      <input
        {...input}
        id={id}
        className="input"
        value={value}
        onChange={(event) => onType(event.target.value)}
        aria-invalid={fault !== undefined}
        aria-describedby={described || undefined}
      />
      {hint && <small id={`${id}-hint`}>{hint}</small>}
      {fault && (
        <small id={`${id}-fault`} className="fault">
          {fault}
        </small>
      )}
    </div>
  );
}

type Option<T extends string> = { value: T; label: string; why: string };
type Choice<T extends string> = {
  legend: string;
  options: readonly Option<T>[];
  /** Undefined: none is chosen yet. */
  value: T | undefined;
  onChoose: (value: T) => void;
  disabled?: boolean;
};

/** Radio buttons, each with its effect in words. */
export function Choices<T extends string>({ legend, options, value, onChoose, disabled }: Choice<T>) {
  const name = useId();
  return (
    <fieldset className="stack-tight" disabled={disabled}>
      <legend className="only-read-out">{legend}</legend>
      {options.map((option) => (
        <label key={option.value} className="choice">
          <input
            type="radio"
            name={name}
            checked={option.value === value}
            onChange={() => onChoose(option.value)}
          />
          <strong>{option.label}</strong>
          <span className="why">{option.why}</span>
        </label>
      ))}
    </fieldset>
  );
}
