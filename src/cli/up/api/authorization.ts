import type { AuthorizationMode } from '../../../server/access/authz/modes.ts';
import type { PostReview } from '../../../server/access/authz/webhook/webhook.ts';
import { namedKubeconfig } from '../../flags/named-kubeconfig.ts';
import { CliError } from '../../output/cli-error.ts';
import type { ApiFlags } from './flags.ts';

const FILE_FLAG = '--authorization-webhook-config-file';

export interface Authorization {
  readonly authorization: readonly AuthorizationMode[];
  readonly postReview?: PostReview;
}

/** The authorizers to ask, in their order. The webhook's kubeconfig is read, and its client loaded, when it is one of them. */
export async function authorization(
  settings: Pick<ApiFlags, 'authorizationMode' | 'authorizationWebhookConfigFile'>,
): Promise<Authorization> {
  const { authorizationMode: modes, authorizationWebhookConfigFile: file } = settings;
  if (modes.includes('Webhook') !== (file !== undefined)) {
    throw new CliError('--authorization-mode Webhook and --authorization-webhook-config-file must be given together');
  }
  return { authorization: withNodes(modes), postReview: file === undefined ? undefined : await createPost(file) };
}

/** Adds the node authorizer where roles decide: without it, the cluster's own nodes could not do their work. */
function withNodes(modes: readonly AuthorizationMode[]): readonly AuthorizationMode[] {
  return modes.includes('RBAC') && !modes.includes('Node') ? ['Node', ...modes] : modes;
}

async function createPost(file: string): Promise<PostReview> {
  const [connection, { createPostReview }] = await Promise.all([
    namedKubeconfig(FILE_FLAG, file),
    import('../../../server/access/authz/webhook/post.ts'),
  ]);
  try {
    return createPostReview(connection);
  } catch (cause) {
    throw new CliError(`${FILE_FLAG} ${file} cannot be used: ${(cause as Error).message}`, { cause });
  }
}
