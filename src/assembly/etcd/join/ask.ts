/** Asks a server of the cluster for what a new one needs. */
import { pinnedAuthority } from '../../../client/transport/http/pinned-authority.ts';
import { AssemblyError } from '../../assembly-error.ts';
import { fetchJson, UnexpectedCode } from '../../control-plane/fetch-json.ts';
import { BUNDLE_FORMAT, JOIN_PATH, type JoinBundle } from './bundle.ts';
import { unseal } from './sealed.ts';

export interface JoinRequest {
  /** The URL of a server. */
  readonly server: string;
  /** `ID.SECRET`. */
  readonly token: string;
  /** `sha256:…`, of the key of the cluster's authority. */
  readonly caHash: string;
}

const TIMEOUT_MS = 15_000;
const NEW_TOKEN = 'create one on a server with: qd token create --server';

/** The token is sent to no server but one whose certificate leads to the authority with the hash. */
export async function askToJoin({ server, token, caHash }: JoinRequest): Promise<JoinBundle> {
  const ca = await pinnedAuthority(server, caHash, AbortSignal.timeout(TIMEOUT_MS)).catch((cause: unknown) => {
    throw new AssemblyError((cause as Error).message, { cause });
  });
  const url = new URL(JOIN_PATH, server).href;
  const sealed = await fetchJson(url, { ca, token, method: 'POST', timeoutMs: TIMEOUT_MS }).catch((cause: unknown) => {
    throw new AssemblyError(explain(cause, server), { cause });
  });
  const [id = '', secret = ''] = token.split('.');
  const text = unseal(sealed, { id, secret });
  if (text === undefined) throw new AssemblyError(`the answer of ${server} was not made for this token; ${NEW_TOKEN}`);
  const bundle = JSON.parse(text) as JoinBundle;
  if (bundle.format !== BUNDLE_FORMAT) {
    throw new AssemblyError(
      `${server} answers in format ${bundle.format}, and this qd knows ${BUNDLE_FORMAT}: use its release`,
    );
  }
  return bundle;
}

function explain(error: unknown, server: string): string {
  const { code } = error as Partial<UnexpectedCode>;
  if (!(error instanceof UnexpectedCode)) return (error as Error).message;
  switch (code) {
    case 401:
      return `${server} does not know the token, or it has expired; ${NEW_TOKEN}`;
    case 403:
      return `the token is not one for servers; ${NEW_TOKEN}`;
    case 404:
      return `${server} runs without --ha: no server can join it`;
    default:
      return `${server} answered ${code}; try again`;
  }
}
