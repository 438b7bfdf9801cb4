/** Checks that clients reach the API server where the kubeconfig and other machines look for it. */
import { isApiError } from '../../../api/errors.ts';
import type { Connection } from '../../../client/kubeconfig/kubeconfig.ts';
import { httpsTransport } from '../../../client/transport/http/https-transport.ts';

const TIMEOUT_MS = 10_000;

type Credentials = Pick<Connection, 'ca' | 'cert' | 'key'>;

/** Asks as a client does. Resolves with what is wrong, for people; undefined: the server answers. */
export async function reachProblem(server: string, credentials: Credentials): Promise<string | undefined> {
  const transport = httpsTransport({ ...credentials, server, timeout: TIMEOUT_MS, userAgent: 'qd-up' });
  try {
    await transport.read('/version');
    return undefined;
  } catch (error) {
    // An error without a cause is an answer, and only this server has a certificate that is trusted here.
    if (isApiError(error) && error.cause === undefined) return undefined;
    const { port } = new URL(server);
    return (
      `Clients do not reach the API at ${server}: ${whatAnswers(error as Error)}. ` +
      `A pod's host port, another program or a rule of the firewall may have the port: nft list ruleset | grep ${port}`
    );
  } finally {
    transport.close();
  }
}

const UNTRUSTED = /CERT|SIGNATURE/;

function whatAnswers(error: Error): string {
  if (codesOf(error).some((code) => UNTRUSTED.test(code)))
    return 'another server answers there, whose certificate is not of this cluster';
  return error.message;
}

function codesOf(error: unknown): string[] {
  if (!(error instanceof Error)) return [];
  const { code } = error as NodeJS.ErrnoException;
  return [...(typeof code === 'string' ? [code] : []), ...codesOf(error.cause)];
}
