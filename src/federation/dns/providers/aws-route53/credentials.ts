/** Keys of AWS: those of the configuration, or those of the role of the machine (IMDSv2). */
import { DnsError } from '../../provider.ts';
import { httpCall, jsonObject } from '../http.ts';
import type { AwsKeys } from './signature.ts';

export interface AwsCredentials {
  /** Keys that are valid now. */
  get(signal: AbortSignal): Promise<AwsKeys>;
}

const TOKEN_SECONDS = 300;
/** Keys are renewed this long before they end. */
const EARLY_MS = 300_000;
const ROLES = '/latest/meta-data/iam/security-credentials/';

const isText = (value: unknown) => typeof value === 'string';

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
      const found = jsonObject(await read(`${ROLES}${role}`, 'GET', headers)) ?? {};
      const {
        AccessKeyId: accessKeyId,
        SecretAccessKey: secretAccessKey,
        Token: sessionToken,
        Expiration: end,
      } = found;
      if (!isText(accessKeyId) || !isText(secretAccessKey) || (sessionToken !== undefined && !isText(sessionToken))) {
        throw new DnsError('Unavailable', `the metadata server has no keys for the role ${role} of the machine`);
      }
      current = {
        keys: { accessKeyId, secretAccessKey, sessionToken },
        until: Date.parse(isText(end) ? end : '') - EARLY_MS || 0,
      };
      return current.keys;
    },
  };
}
