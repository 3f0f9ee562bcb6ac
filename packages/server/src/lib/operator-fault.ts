/** Something that an operator has to mend, in words for the operator. The command line prints these, and no stack. */
export function operatorFault(message: string, cause?: unknown): Error {
  return named("OperatorFault", message, cause);
}

/** A command that was typed wrongly: an operator's fault, too, with an exit code of its own. */
export function usageFault(message: string, cause?: unknown): Error {
  return named("UsageFault", message, cause);
}

export const isOperatorFault = (error: unknown): error is Error =>
  error instanceof Error && (error.name === "OperatorFault" || isUsageFault(error));

export const isUsageFault = (error: unknown): error is Error =>
  error instanceof Error && error.name === "UsageFault";

function named(name: string, message: string, cause: unknown): Error {
  const fault = new Error(message, { cause });
  fault.name = name;
  return fault;
}
