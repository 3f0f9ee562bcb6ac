/** A fault that the operator must fix. The command line prints its message without a stack. */
export function operatorFault(message: string, cause?: unknown): Error {
  return named("OperatorFault", message, cause);
}

/** A command with wrong arguments, which has an exit code of its own. */
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
