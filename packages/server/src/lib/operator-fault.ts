/** Something that an operator has to mend, in words for the operator. The command line prints these, and no stack. */
export function operatorFault(message: string, cause?: unknown): Error {
  const fault = new Error(message, { cause });
  fault.name = "OperatorFault";
  return fault;
}

export const isOperatorFault = (error: unknown): error is Error =>
  error instanceof Error && error.name === "OperatorFault";
