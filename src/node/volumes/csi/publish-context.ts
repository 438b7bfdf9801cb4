/** Tells a driver about the pod when it publishes a volume: its name, its tokens, and secrets. */
import { timestamp } from '../../../base/time/timestamp.ts';
import type { VolumeSetup } from '../kinds/setup.ts';
import { VolumeError } from '../volumes.ts';
import type { CsiSource, CsiVolume, DriverSettings, SecretRef } from './describe-volume.ts';

type Texts = Readonly<Record<string, string>>;

/** Lifetime of tokens that do not set another one. */
const TOKEN_SECONDS = 3_600;

export interface PodContext {
  readonly volumeContext: Texts;
  readonly secrets: Texts;
}

export async function podContext(
  setup: VolumeSetup,
  { source, volume, settings }: { source: CsiSource; volume: CsiVolume; settings: DriverSettings },
): Promise<PodContext> {
  const tokens = await tokensFor(setup, settings);
  const inSecrets = settings?.spec.serviceAccountTokenInSecrets ?? false;
  const info = settings?.spec.podInfoOnMount ? podInfo(setup, source) : {};
  return {
    volumeContext: { ...volume.attributes, ...info, ...(inSecrets ? {} : tokens) },
    secrets: {
      ...(await secretValues(setup, volume.publishSecret, 'NodePublishSecretRef')),
      ...(inSecrets ? tokens : {}),
    },
  };
}

export async function secretValues({ host }: VolumeSetup, reference: SecretRef, field: string): Promise<Texts> {
  if (!reference) return {};
  const { name = '', namespace = '' } = reference;
  const secret = await host.api.secret(namespace, name);
  if (!secret) throw new VolumeError(`fetching ${field} ${namespace}/${name} failed: secrets "${name}" not found`);
  const values = Object.entries(secret.data ?? {});
  return Object.fromEntries(values.map(([key, value]) => [key, Buffer.from(value, 'base64').toString()]));
}

/** Returns tokens by audience, as JSON: a driver renews them only when it is called again (`requiresRepublish`). */
async function tokensFor({ pod, host }: VolumeSetup, settings: DriverSettings): Promise<Texts> {
  const requests = [...(settings?.spec.tokenRequests ?? [])].sort((a, b) => (a.audience < b.audience ? -1 : 1));
  if (requests.length === 0) return {};
  const tokens: Record<string, { token: string; expirationTimestamp: string }> = {};
  for (const { audience, expirationSeconds = TOKEN_SECONDS } of requests) {
    const { token, expiresAt } = await host.tokens.get(pod, audience, expirationSeconds);
    tokens[audience] = { token, expirationTimestamp: timestamp(expiresAt) };
  }
  return { 'csi.storage.k8s.io/serviceAccount.tokens': JSON.stringify(tokens) };
}

function podInfo({ pod }: VolumeSetup, { type }: CsiSource): Texts {
  return {
    'csi.storage.k8s.io/pod.name': pod.metadata.name ?? '',
    'csi.storage.k8s.io/pod.namespace': pod.metadata.namespace ?? '',
    'csi.storage.k8s.io/pod.uid': pod.metadata.uid ?? '',
    'csi.storage.k8s.io/serviceAccount.name': pod.spec.serviceAccountName ?? '',
    'csi.storage.k8s.io/ephemeral': String(type === 'inline'),
  };
}
