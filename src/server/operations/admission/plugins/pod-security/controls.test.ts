import { describe, expect, it } from 'vitest';
import { Pod } from '../../../../../kinds/groups/core/pod/pod.ts';
import { decode } from '../../../../../schema/decode/decode.ts';
import type { PodLike } from './control.ts';
import { allControls, violations, violationsText } from './controls/all.ts';
import type { LevelVersion } from './policy.ts';

type Spec = Record<string, any>;

/** A pod that passes at every level, except for the given parts. */
function pod(spec: Spec = {}, container: Spec = {}, annotations: Record<string, string> = {}): PodLike {
  const { securityContext = {}, ...rest } = container;
  const good = {
    runAsNonRoot: true,
    allowPrivilegeEscalation: false,
    seccompProfile: { type: 'RuntimeDefault' },
    capabilities: { drop: ['ALL'] },
    ...securityContext,
  };
  const tree = {
    metadata: { name: 'p', annotations },
    spec: { containers: [{ name: 'c', image: 'x', ...rest, securityContext: good }], ...spec },
  };
  return decode(Pod.hub.schema, tree) as unknown as PodLike;
}

const inContainer = (securityContext: Spec) => pod({}, { securityContext });
const volume = (source: Spec) => pod({ volumes: [{ name: 'v', ...source }] });

const said = (level: LevelVersion['level'], version: LevelVersion['version'], subject: PodLike) =>
  violationsText(violations({ level, version }, subject));

/** Allowed and rejected pods by control, with the messages; by default at its own level in the newest version. */
const fixtures: Record<
  string,
  {
    allowed: PodLike[];
    forbidden: [PodLike, string, version?: LevelVersion['version']][];
    before?: [number, PodLike][];
  }
> = {
  appArmorProfile: {
    allowed: [
      pod({ securityContext: { appArmorProfile: { type: 'RuntimeDefault' } } }),
      inContainer({ appArmorProfile: { type: 'Localhost', localhostProfile: 'x' } }),
      pod({}, {}, { 'container.apparmor.security.beta.kubernetes.io/c': 'localhost/x' }),
    ],
    forbidden: [
      [
        pod({ securityContext: { appArmorProfile: { type: 'Unconfined' } } }),
        'forbidden AppArmor profile (pod must not set AppArmor profile type to "Unconfined")',
      ],
      [
        inContainer({ appArmorProfile: { type: 'Unconfined' } }),
        'forbidden AppArmor profile (container "c" must not set AppArmor profile type to "Unconfined")',
      ],
      [
        pod({}, {}, { 'container.apparmor.security.beta.kubernetes.io/c': 'unconfined' }),
        'forbidden AppArmor profile (annotation must not set AppArmor profile type to "container.apparmor.security.beta.kubernetes.io/c="unconfined"")',
      ],
    ],
  },
  capabilities_baseline: {
    allowed: [inContainer({ capabilities: { add: ['CHOWN', 'NET_BIND_SERVICE'] } })],
    forbidden: [
      [
        inContainer({ capabilities: { add: ['SYS_ADMIN', 'NET_RAW', 'KILL'] } }),
        'non-default capabilities (container "c" must not include "NET_RAW", "SYS_ADMIN" in securityContext.capabilities.add)',
      ],
    ],
  },
  hostImage: {
    allowed: [pod({}, { image: 'docker.io/library/host' }), volume({ image: { reference: 'hosts' } })],
    forbidden: [
      [
        pod({}, { image: 'host' }),
        'host image (container "c" must not use the image "host", which is the file system of the node)',
      ],
      [
        pod({
          initContainers: [{ name: 'i', image: 'quarterdeck.local/host:1' }],
          ephemeralContainers: [{ name: 'e', image: `host@sha256:${'0'.repeat(64)}` }],
          volumes: [{ name: 'v', image: { reference: 'host' } }],
        }),
        'host image (containers "i", "e" and volume "v" must not use the image "host", which is the file system of the node)',
      ],
      [
        pod({}, { image: 'host' }),
        'host image (container "c" must not use the image "host", which is the file system of the node)',
        1,
      ],
    ],
  },
  hostNamespaces: {
    allowed: [pod({ hostNetwork: false })],
    forbidden: [
      [
        pod({ hostNetwork: true, hostPID: true, hostIPC: true }),
        'host namespaces (hostNetwork=true, hostPID=true, hostIPC=true)',
      ],
    ],
  },
  hostPathVolumes: {
    allowed: [volume({ emptyDir: {} })],
    forbidden: [
      [volume({ hostPath: { path: '/' } }), 'hostPath volumes (volume "v")'],
      [
        pod({
          volumes: [
            { name: 'a', hostPath: { path: '/' } },
            { name: 'b', hostPath: { path: '/' } },
          ],
        }),
        'hostPath volumes (volumes "a", "b")',
      ],
    ],
  },
  hostPorts: {
    allowed: [pod({}, { ports: [{ containerPort: 80 }] })],
    forbidden: [
      [pod({}, { ports: [{ containerPort: 80, hostPort: 8080 }] }), 'hostPort (container "c" uses hostPort 8080)'],
      [
        pod(
          { initContainers: [{ name: 'i', image: 'x', ports: [{ containerPort: 1, hostPort: 9 }] }] },
          {
            ports: [{ containerPort: 80, hostPort: 80 }],
          },
        ),
        'hostPort (containers "i", "c" use hostPorts 80, 9)',
      ],
    ],
  },
  hostProbesAndHostLifecycle: {
    allowed: [pod({}, { livenessProbe: { httpGet: { port: 80 } } })],
    forbidden: [
      [
        pod(
          {},
          {
            livenessProbe: { httpGet: { port: 80, host: 'b.example' } },
            lifecycle: { preStop: { tcpSocket: { port: 80, host: 'a.example' } } },
          },
        ),
        'probe or lifecycle host (container "c" uses probe or lifecycle hosts "a.example", "b.example")',
      ],
    ],
    before: [[33, pod({}, { startupProbe: { tcpSocket: { port: 80, host: 'a.example' } } })]],
  },
  privileged: {
    allowed: [inContainer({ privileged: false })],
    forbidden: [
      [inContainer({ privileged: true }), 'privileged (container "c" must not set securityContext.privileged=true)'],
    ],
  },
  procMount: {
    allowed: [
      inContainer({ procMount: 'Default' }),
      pod({ hostUsers: false }, { securityContext: { procMount: 'Unmasked' } }),
    ],
    forbidden: [
      [
        inContainer({ procMount: 'Unmasked' }),
        'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
      ],
      [
        pod({ hostUsers: false }, { securityContext: { procMount: 'Unmasked' } }),
        'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
        34,
      ],
    ],
  },
  seLinuxOptions: {
    allowed: [inContainer({ seLinuxOptions: { type: 'container_engine_t', level: 's0' } })],
    forbidden: [
      [
        pod({ securityContext: { seLinuxOptions: { user: 'u', role: 'r', type: 'spc_t' } } }),
        'seLinuxOptions (pod set forbidden securityContext.seLinuxOptions: type "spc_t"; user may not be set; role may not be set)',
      ],
      [
        inContainer({ seLinuxOptions: { type: 'container_engine_t' } }),
        'seLinuxOptions (container "c" set forbidden securityContext.seLinuxOptions: type "container_engine_t")',
        30,
      ],
    ],
  },
  seccompProfile_baseline: {
    allowed: [
      inContainer({ seccompProfile: undefined }),
      inContainer({ seccompProfile: { type: 'Localhost', localhostProfile: 'x' } }),
    ],
    forbidden: [
      [
        pod(
          { securityContext: { seccompProfile: { type: 'Unconfined' } } },
          { securityContext: { seccompProfile: { type: 'Unconfined' } } },
        ),
        'seccompProfile (pod and container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
      ],
      [
        pod({}, {}, { 'seccomp.security.alpha.kubernetes.io/pod': 'unconfined' }),
        'seccompProfile (forbidden annotation seccomp.security.alpha.kubernetes.io/pod="unconfined")',
        18,
      ],
    ],
  },
  sysctls: {
    allowed: [pod({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } })],
    forbidden: [
      [
        pod({ securityContext: { sysctls: [{ name: 'kernel.msgmax', value: '1' }] } }),
        'forbidden sysctls (kernel.msgmax)',
      ],
      [
        pod({ securityContext: { sysctls: [{ name: 'net.ipv4.tcp_rmem', value: '1' }] } }),
        'forbidden sysctls (net.ipv4.tcp_rmem)',
        31,
      ],
    ],
  },
  windowsHostProcess: {
    allowed: [pod({ securityContext: { windowsOptions: { hostProcess: false } } })],
    forbidden: [
      [
        pod(
          { securityContext: { windowsOptions: { hostProcess: true } } },
          { securityContext: { windowsOptions: { hostProcess: true } } },
        ),
        'hostProcess (pod and container "c" must not set securityContext.windowsOptions.hostProcess=true)',
      ],
    ],
  },
  allowPrivilegeEscalation: {
    allowed: [pod(), pod({ os: { name: 'windows' } }, { securityContext: { allowPrivilegeEscalation: undefined } })],
    forbidden: [
      [
        inContainer({ allowPrivilegeEscalation: undefined }),
        'allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false)',
      ],
    ],
    before: [[7, inContainer({ allowPrivilegeEscalation: true })]],
  },
  capabilities_restricted: {
    allowed: [
      inContainer({ capabilities: { drop: ['ALL'], add: ['NET_BIND_SERVICE'] } }),
      pod({ os: { name: 'windows' } }, { securityContext: { capabilities: undefined } }),
    ],
    forbidden: [
      [
        inContainer({ capabilities: { drop: ['CHOWN'], add: ['CHOWN'] } }),
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"]; container "c" must not include "CHOWN" in securityContext.capabilities.add)',
      ],
      [
        inContainer({ capabilities: undefined }),
        'unrestricted capabilities (container "c" must set securityContext.capabilities.drop=["ALL"])',
      ],
    ],
    before: [[21, inContainer({ capabilities: undefined })]],
  },
  procMount_restricted: {
    allowed: [inContainer({ procMount: 'Default' })],
    forbidden: [
      [
        pod({ hostUsers: false }, { securityContext: { procMount: 'Unmasked' } }),
        'procMount (container "c" must not set securityContext.procMount to "Unmasked")',
      ],
    ],
  },
  restrictedVolumes: {
    allowed: [
      ...[{ configMap: { name: 'x' } }, { secret: { secretName: 'x' } }, { projected: {} }, { downwardAPI: {} }],
      ...[{ persistentVolumeClaim: { claimName: 'x' } }, { csi: { driver: 'x' } }, { image: { reference: 'x' } }],
    ].map(volume),
    forbidden: [
      [
        pod({
          volumes: [
            { name: 'a', hostPath: { path: '/' } },
            { name: 'b', nfs: { server: 'x', path: '/' } },
            { name: 'c', emptyDir: {} },
          ],
        }),
        'restricted volume types (volumes "a", "b" use restricted volume types "hostPath", "nfs")',
      ],
      [
        volume({ gitRepo: { repository: 'x' } }),
        'restricted volume types (volume "v" uses restricted volume type "gitRepo")',
      ],
    ],
  },
  runAsNonRoot: {
    allowed: [
      pod({ securityContext: { runAsNonRoot: true } }, { securityContext: { runAsNonRoot: undefined } }),
      pod({ hostUsers: false }, { securityContext: { runAsNonRoot: false } }),
    ],
    forbidden: [
      [
        inContainer({ runAsNonRoot: undefined }),
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
      ],
      [
        pod({ securityContext: { runAsNonRoot: false } }, { securityContext: { runAsNonRoot: false } }),
        'runAsNonRoot != true (pod and container "c" must not set securityContext.runAsNonRoot=false)',
      ],
      [
        pod({ hostUsers: false }, { securityContext: { runAsNonRoot: undefined } }),
        'runAsNonRoot != true (pod or container "c" must set securityContext.runAsNonRoot=true)',
        34,
      ],
    ],
  },
  runAsUser: {
    allowed: [inContainer({ runAsUser: 1000 }), pod({ hostUsers: false }, { securityContext: { runAsUser: 0 } })],
    forbidden: [
      [
        pod({ securityContext: { runAsUser: 0 } }, { securityContext: { runAsUser: 0 } }),
        'runAsUser=0 (pod and container "c" must not set runAsUser=0)',
      ],
    ],
    before: [[22, inContainer({ runAsUser: 0 })]],
  },
  seccompProfile_restricted: {
    allowed: [
      pod(
        { securityContext: { seccompProfile: { type: 'RuntimeDefault' } } },
        { securityContext: { seccompProfile: undefined } },
      ),
      pod({ os: { name: 'windows' } }, { securityContext: { seccompProfile: undefined } }),
    ],
    forbidden: [
      [
        inContainer({ seccompProfile: undefined }),
        'seccompProfile (pod or container "c" must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost")',
      ],
      [
        inContainer({ seccompProfile: { type: 'Unconfined' } }),
        'seccompProfile (container "c" must not set securityContext.seccompProfile.type to "Unconfined")',
      ],
    ],
    before: [[18, inContainer({ seccompProfile: undefined })]],
  },
};

it('pod security has fixtures for every control', () => {
  expect(Object.keys(fixtures).sort()).toEqual(allControls.map(({ id }) => id).sort());
});

it('pod security reports violations in alphabetical order, those of the baseline first', () => {
  const names = (level: string) => allControls.filter((each) => each.level === level).map(({ id }) => id);
  expect(names('baseline')).toEqual(names('baseline').toSorted());
  expect(names('restricted')).toEqual(names('restricted').toSorted());
});

describe.each(allControls)('pod security: $id', ({ id, level }) => {
  const { allowed, forbidden, before = [] } = fixtures[id]!;

  it.each(allowed)('allows %j', (subject) => {
    expect(said(level, 'latest', subject)).toBe('');
  });

  it.each(forbidden)('forbids %j', (subject, words, version = 'latest') => {
    expect(said(level, version, subject)).toBe(words);
    expect(said('privileged', version, subject)).toBe('');
    // The higher level includes all of the lower one, with different messages.
    expect(said('restricted', version, subject)).not.toBe('');
    if (level === 'restricted' && id !== 'restrictedVolumes' && !id.startsWith('seccomp')) {
      expect(said('baseline', version, subject)).not.toContain(words);
    }
  });

  it.each(before)('did not exist in 1.%i', (version, subject) => {
    expect(said(level, version, subject)).toBe('');
  });
});

it('pod security checks init and ephemeral containers, too', () => {
  const bad = { image: 'x', securityContext: { privileged: true } };
  const subject = pod({ initContainers: [{ name: 'i', ...bad }], ephemeralContainers: [{ name: 'e', ...bad }] });
  expect(said('baseline', 'latest', subject)).toBe(
    'privileged (containers "i", "e" must not set securityContext.privileged=true)',
  );
});

it('pod security treats future releases as the newest known one', () => {
  const subject = pod({ hostUsers: false }, { securityContext: { runAsUser: 0 } });
  expect(said('restricted', 99, subject)).toBe('');
});
