/** Prefix of the message in a pod's status with which a node rejects the pod. */

const PREFIX = 'Pod was rejected: ';

export const rejectionMessage = (why: string): string => `${PREFIX}${why}`;

interface Rejectable {
  readonly status: { readonly phase?: string | undefined; readonly message?: string | undefined };
}

/** Reports whether a node rejected the pod, so that nothing of it ever ran. */
export function isRejected({ status }: Rejectable): boolean {
  return status.phase === 'Failed' && status.message?.startsWith(PREFIX) === true;
}
