const faultNamed =
  (name: string) =>
  (message: string, cause?: unknown): Error =>
    Object.assign(new Error(message, { cause }), { name });

/** A fault that the operator must fix. The command line prints its message without a stack. */
export const operatorFault = faultNamed("OperatorFault");

/** A command with wrong arguments, which has an exit code of its own. */
export const usageFault = faultNamed("UsageFault");

export const isOperatorFault = (error: unknown): error is Error =>
  error instanceof Error && (error.name === "OperatorFault" || isUsageFault(error));

export const isUsageFault = (error: unknown): error is Error =>
  error instanceof Error && error.name === "UsageFault";
