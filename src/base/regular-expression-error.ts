/** An expression cannot be compiled, and the message is Go's, or matching it takes too long. */
export class RegularExpressionError extends Error {}
