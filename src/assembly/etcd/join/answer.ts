/** Answers servers that join. */
import { readFile } from 'node:fs/promises';
import { ApiError } from '../../../api/errors.ts';
import type { ServedAction } from '../../../api/served-action.ts';
import type { Random } from '../../../base/random.ts';
import type { Clock } from '../../../base/time/clock.ts';
import { Secret } from '../../../kinds/groups/core/configuration/secret.ts';
import { requireAccess } from '../../../server/access/authz/forbidden-error.ts';
import type { Server } from '../../../server/index.ts';
import { MembersClient } from '../../../store/etcd/members/client.ts';
import type { RecordedRelease } from '../../store/releases/cluster-row.ts';
import { readEtcdAuthority, readMemberKeys } from '../certificates.ts';
import { clientUrl, type MemberAddress } from '../configuration.ts';
import { memberPaths } from '../paths.ts';
import { BUNDLE_FORMAT, JOIN_PATH, JOIN_VERB, type JoinBundle } from './bundle.ts';
import { seal } from './sealed.ts';

export interface JoinAnswerOptions {
  readonly server: Pick<Server, 'authorizer' | 'find'>;
  readonly random: Random;
  bundle(): Promise<JoinBundle>;
}

const NAMESPACE = 'kube-system';
const BOOTSTRAP_USER = /^system:bootstrap:([a-z0-9]{6})$/;

/**
 * Only holders of a token for servers get an answer, and nobody without the token's secret can read it. A role names the token's
 * Secret: who can create Secrets cannot make a token of that kind, unless they may also grant rights that only administrators have.
 */
export function joinAction({ server, random, bundle }: JoinAnswerOptions): ServedAction {
  const { authorizer, find } = server;
  return {
    path: JOIN_PATH,
    async perform(user) {
      const [, id] = BOOTSTRAP_USER.exec(user.name) ?? [];
      if (id === undefined)
        throw new ApiError('Forbidden', 'only a token for servers lets a server join: qd token create --server');
      const name = `bootstrap-token-${id}`;
      const secret = { group: '', version: 'v1', resource: 'secrets', subresource: '', namespace: NAMESPACE, name };
      await requireAccess(authorizer, { ...secret, user, verb: JOIN_VERB });
      const found = find(Secret, NAMESPACE, name)?.hub(Secret) as Secret | undefined;
      const text = Buffer.from(found?.data?.['token-secret'] ?? '', 'base64').toString('utf8');
      if (text === '') throw new ApiError('Forbidden', `the token ${id} was revoked`);
      return seal(JSON.stringify(await bundle()), { id, secret: text }, random);
    },
  };
}

export interface BundleOptions {
  readonly directory: string;
  readonly address: MemberAddress;
  readonly keyFile: string;
  readonly clock: Clock;
  settings(): Promise<object>;
  releases(): Promise<RecordedRelease>;
}

/** Reads what a server gets that joins now. */
export async function currentBundle({
  directory,
  address,
  keyFile,
  clock,
  settings,
  releases,
}: BundleOptions): Promise<JoinBundle> {
  const paths = memberPaths(directory);
  const [etcdAuthority, tls] = await Promise.all([readEtcdAuthority(paths), readMemberKeys(paths)]);
  const client = new MembersClient({ endpoints: [clientUrl(address)], tls, clock });
  try {
    const members = await client.list();
    return {
      format: BUNDLE_FORMAT,
      etcdAuthority,
      etcdEndpoints: members.filter(({ isLearner }) => !isLearner).flatMap(({ clientUrls }) => clientUrls),
      encryptionKey: await readFile(keyFile, 'utf8'),
      settings: await settings(),
      releases: await releases(),
    };
  } finally {
    client.close();
  }
}
