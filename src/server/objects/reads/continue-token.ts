import { badRequest } from '../../../api/errors.ts';

/**
 * The position of the next page of a list: after the key `after`, in the state of `revision`. Revision -1 stands for
 * the newest state, which may differ from that of the previous pages.
 */
export interface ContinueToken {
  readonly revision: number;
  readonly after: string;
}

export function encodeToken({ revision, after }: ContinueToken): string {
  return Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: revision, start: after })).toString('base64url');
}

export function decodeToken(text: string): ContinueToken {
  let tree: any;
  try {
    tree = JSON.parse(Buffer.from(text, 'base64url').toString());
  } catch (error) {
    throw badRequest('invalid continue token: continue key is not valid', error);
  }
  const { v, rv, start } = tree ?? {};
  if (v !== 'meta.k8s.io/v1') {
    throw badRequest(
      'invalid continue token: continue key is not valid: server does not recognize this encoded version',
    );
  }
  if (!Number.isSafeInteger(rv) || rv === 0 || rv < -1) {
    throw badRequest(
      'invalid continue token: continue key is not valid: incorrect encoded start resourceVersion (version meta.k8s.io/v1)',
    );
  }
  if (typeof start !== 'string' || start === '') {
    throw badRequest(
      'invalid continue token: continue key is not valid: encoded start key empty (version meta.k8s.io/v1)',
    );
  }
  return { revision: rv, after: start };
}
