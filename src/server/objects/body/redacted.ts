/** Placeholder for the values of a confidential kind in messages, as in Kubernetes. */
export const REDACTED = '<secret contents redacted>';
