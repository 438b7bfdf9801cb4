/**
 * An error of an expression while it runs. It is thrown inside an evaluation and has no stack trace, because `a || b` may absorb
 * thousands of them; `Program.evaluate` turns the one that remains into an EvaluationError.
 */
export class Failure {
  constructor(readonly message: string) {}
}

/** Ends the evaluation with a message; functions of libraries use it for wrong arguments. */
export function fail(message: string): never {
  throw new Failure(message);
}

/** The arguments fit none of the function's overloads. */
export function noSuchOverload(): never {
  throw new Failure('no such overload');
}
