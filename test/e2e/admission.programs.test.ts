/** Tests the cluster's replies to writes, as kubectl shows them. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { usualKubectls } from './kubectl.ts';
import { type Qd, spawnProgram, startQd } from './program.ts';

let qd: Qd;
let home: string;
beforeAll(async () => {
  qd = await startQd();
  home = await mkdtemp(join(tmpdir(), 'qd-admission-'));
});
afterAll(async () => {
  await qd?.stop();
  await rm(home, { recursive: true, force: true });
});

const pod = (name: string, spec: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { containers: [{ name: 'c', image: 'nginx:1' }], ...spec },
});

describe.each(usualKubectls)('kubectl ($name)', ({ name, program }) => {
  const namespace = `guarded-${name}`;

  /** Everything that it prints, and whether it went well. */
  const kubectl = (args: readonly string[], input?: object): Promise<{ said: string; isGood: boolean }> =>
    new Promise((resolve) => {
      const env = { ...process.env, HOME: home, KUBECONFIG: qd.kubeconfig };
      const child = execFile(program, ['-n', namespace, ...args], { env }, (error, stdout, stderr) => {
        resolve({ said: stdout + stderr, isGood: !error });
      });
      child.stdin?.end(input ? JSON.stringify(input) : '');
    });
  const create = (object: object) => kubectl(['create', '-f', '-'], object);

  test('a pod right behind its namespace has the account, its token and its priority', async () => {
    await kubectl(['create', 'namespace', namespace]);
    expect(await create(pod('first'))).toEqual({ said: 'pod/first created\n', isGood: true });
    const { said } = await kubectl(['get', 'pod', 'first', '-o', 'json']);
    const { spec } = JSON.parse(said);
    expect(spec).toMatchObject({ serviceAccountName: 'default', priority: 0 });
    expect(spec.volumes[0].name).toMatch(/^kube-api-access-/);
    expect(spec.tolerations).toHaveLength(2);
    expect((await kubectl(['get', 'priorityclasses', '-o', 'name'])).said).toContain('system-node-critical');
  });

  test('a policy rejects, warns and changes what is written, and is type checked', async () => {
    const policies = { apiVersion: 'admissionregistration.k8s.io/v1', metadata: { name: namespace } };
    const rule = { operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'] };
    const matchConstraints = {
      resourceRules: [rule],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    };
    const validations = [
      { expression: "object.metadata.name != 'bad'", message: 'a bad name' },
      { expression: "object.metadata.name != 'other' || object.data > 3" },
    ];
    await create({ ...policies, kind: 'ValidatingAdmissionPolicy', spec: { matchConstraints, validations } });
    const mutations = [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression: 'Object{metadata: Object.metadata{labels: {"by": "policy"}}}' },
      },
    ];
    const mutating = { matchConstraints, mutations, reinvocationPolicy: 'Never' };
    await create({ ...policies, kind: 'MutatingAdmissionPolicy', spec: mutating });
    const binding = { policyName: namespace };
    await create({ ...policies, kind: 'MutatingAdmissionPolicyBinding', spec: binding });
    const enforced = { ...binding, validationActions: ['Deny'] };
    await create({ ...policies, kind: 'ValidatingAdmissionPolicyBinding', spec: enforced });
    expect(await kubectl(['create', 'secret', 'generic', 'bad'])).toMatchObject({
      said: expect.stringContaining(
        `ValidatingAdmissionPolicy '${namespace}' with binding '${namespace}' denied request: a bad name`,
      ),
      isGood: false,
    });
    await kubectl(['create', 'secret', 'generic', 'good']);
    expect((await kubectl(['get', 'secret', 'good', '-o', 'jsonpath={.metadata.labels.by}'])).said).toBe('policy');
    const actions = { spec: { validationActions: ['Warn'] } };
    await kubectl([
      'patch',
      'validatingadmissionpolicybinding',
      namespace,
      '--type=merge',
      '-p',
      JSON.stringify(actions),
    ]);
    expect(await kubectl(['create', 'secret', 'generic', 'bad'])).toEqual({
      said: `secret/bad created\nWarning: Validation failed for ValidatingAdmissionPolicy '${namespace}' with binding '${namespace}': a bad name\n`,
      isGood: true,
    });
    const warnings = 'jsonpath={.status.typeChecking.expressionWarnings[*].fieldRef}';
    const checked = () => kubectl(['get', 'validatingadmissionpolicy', namespace, '-o', warnings]);
    await expect.poll(async () => (await checked()).said).toBe('spec.validations[1].expression');
  });

  test('limits are shown, and filled in', async () => {
    const limits = [{ type: 'Container', default: { cpu: '500m' }, max: { cpu: '2' } }];
    await create({ apiVersion: 'v1', kind: 'LimitRange', metadata: { name: 'l' }, spec: { limits } });
    await create(pod('limited'));
    const described = (await kubectl(['describe', 'pod', 'limited'])).said;
    expect(described).toContain(
      'kubernetes.io/limit-ranger: LimitRanger plugin set: cpu request for container c; cpu limit',
    );
    expect(described).toMatch(/Limits:\s+cpu:\s+500m/);
    const large = pod('large', { containers: [{ name: 'c', image: 'x', resources: { limits: { cpu: '3' } } }] });
    expect((await create(large)).said).toContain(
      'pods "large" is forbidden: maximum cpu usage per Container is 2, but limit is 3',
    );
    await kubectl(['delete', 'limitrange', 'l']);
  });

  test('a quota is counted, and says when it is used up', async () => {
    await kubectl(['create', 'quota', 'q', '--hard=count/configmaps=3']);
    const until = async (wanted: string) => {
      for (;;) {
        const { said } = await kubectl(['get', 'quota', 'q', '-o', 'jsonpath={.status.used}']);
        if (said.includes(wanted)) return;
      }
    };
    // The certificate of the cluster's authority lies in each namespace.
    await until('"count/configmaps":"1"');
    for (const each of ['a', 'b']) await kubectl(['create', 'configmap', each]);
    expect((await kubectl(['create', 'configmap', 'c'])).said).toContain(
      'exceeded quota: q, requested: count/configmaps=1, used: count/configmaps=3, limited: count/configmaps=3',
    );
    await kubectl(['delete', 'configmap', 'a']);
    await until('"count/configmaps":"2"');
    expect((await kubectl(['create', 'configmap', 'c'])).isGood).toBe(true);
  });

  test('pods that a namespace does not allow are rejected, and their templates complained about', async () => {
    const label = (await kubectl(['label', 'namespace', namespace, 'pod-security.kubernetes.io/enforce=restricted']))
      .said;
    expect(label).toContain(
      `Warning: existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "restricted:latest"`,
    );
    expect((await create(pod('open'))).said).toContain(
      'pods "open" is forbidden: violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false (container "c" must set securityContext.allowPrivilegeEscalation=false), ',
    );
    const deployed = await kubectl(['create', 'deployment', 'web', '--image=nginx:1']);
    expect(deployed.said).toContain('Warning: would violate PodSecurity "restricted:latest"');
    expect(deployed.isGood).toBe(true);
  });

  test('the cluster keeps its own namespaces', async () => {
    expect((await kubectl(['delete', 'namespace', 'kube-system'])).said).toContain(
      'namespaces "kube-system" is forbidden: this namespace may not be deleted',
    );
  });
});

test('an admission plugin that there is not is named', async () => {
  const child = spawnProgram('qd', ['up', '--enable-admission-plugins', 'PodSecurity,NoSuch'], {});
  let said = '';
  child.stderr?.on('data', (chunk) => {
    said += chunk;
  });
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
  expect(said.trim().split('\n')).toHaveLength(1);
  expect(said).toContain('"NoSuch" is not one of NamespaceLifecycle, LimitRanger,');
});
