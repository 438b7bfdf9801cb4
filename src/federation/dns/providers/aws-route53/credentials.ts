/** Keys of AWS: those of the configuration, or those of the role of the machine (IMDSv2). */
import { DnsError } from '../../provider.ts';
import { httpCall } from '../http.ts';
import type { AwsKeys } from './signature.ts';

export interface AwsCredentials {
  /** Keys that are valid now. */
  get(signal: AbortSignal): Promise<AwsKeys>;
}

const TOKEN_SECONDS = 300;
/** Keys are renewed this long before they end. */
const EARLY_MS = 300_000;
const ROLES = '/latest/meta-data/iam/security-credentials/';

export function machineCredentials(metadataUrl: string, now: () => number): AwsCredentials {
  let current: { readonly keys: AwsKeys; readonly until: number } | undefined;
  return {
    async get(signal) {
      if (current && now() < current.until) return current.keys;
      const read = async (path: string, method: 'GET' | 'PUT', headers: Readonly<Record<string, string>>) => {
        const { status, body } = await httpCall({ url: `${metadataUrl}${path}`, method, headers, signal });
        if (status !== 200) {
          throw new DnsError(
            'Forbidden',
            `the machine has no role: its metadata server answers ${path} with ${status}`,
          );
        }
        return body.trim();
      };
      const session = await read('/latest/api/token', 'PUT', {
        'x-aws-ec2-metadata-token-ttl-seconds': String(TOKEN_SECONDS),
      });
      const headers = { 'x-aws-ec2-metadata-token': session };
      const [role] = (await read(ROLES, 'GET', headers)).split('\n');
      const found = JSON.parse(await read(`${ROLES}${role}`, 'GET', headers)) as Readonly<Record<string, string>>;
      const { AccessKeyId: accessKeyId = '', SecretAccessKey: secretAccessKey = '', Token: sessionToken } = found;
      current = {
        keys: { accessKeyId, secretAccessKey, sessionToken },
        until: Date.parse(found.Expiration ?? '') - EARLY_MS || 0,
      };
      return current.keys;
    },
  };
}
