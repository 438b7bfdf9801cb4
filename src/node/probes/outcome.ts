/** Result of a check. */
export type ProbeOutcome =
  | { readonly type: 'success' }
  /** It passed, but somebody should look at it. */
  | { readonly type: 'warning'; readonly output: string }
  | { readonly type: 'failure'; readonly output: string }
  /** It could not be performed. */
  | { readonly type: 'error'; readonly message: string };

export const SUCCESS: ProbeOutcome = { type: 'success' };

export const failure = (output: string): ProbeOutcome => ({ type: 'failure', output });
