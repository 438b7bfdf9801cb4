/**
 * Tests kubectl with the published schemas of the built program: it explains them, and validates objects with them
 * before it sends them.
 */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { hasKubectl, kubectlProgram } from './kubectl.ts';
import { type Qd, startQd } from './program.ts';

let qd: Qd;
let home: string;
beforeAll(async () => {
  qd = await startQd();
  home = await mkdtemp(join(tmpdir(), 'qd-schemas-'));
});
afterAll(async () => {
  await qd?.stop();
  await rm(home, { recursive: true, force: true });
});

/** Number of concurrent kubectls. */
const AT_ONCE = 4;

describe.skipIf(!hasKubectl)('kubectl', () => {
  /** Runs kubectl, whose schema cache goes to a folder of this run. */
  const kubectl = async (...args: string[]) => {
    const env = { ...process.env, HOME: home, KUBECONFIG: qd.kubeconfig };
    const { stdout } = await promisify(execFile)(kubectlProgram, args, { env });
    return stdout;
  };

  const create = async (manifest: object, ...flags: string[]) => {
    const file = join(home, 'manifest.json');
    await writeFile(file, JSON.stringify(manifest));
    return kubectl('create', '-f', file, ...flags);
  };

  const deployment = (spec: object, container: object = {}) => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'web' },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: {
        metadata: { labels: { app: 'web' } },
        spec: { containers: [{ name: 'web', image: 'nginx', ...container }] },
      },
      ...spec,
    },
  });

  test('explains a field, and everything in it', async () => {
    expect(await kubectl('explain', 'pod.spec.containers.image')).toMatch(
      /KIND: +Pod\nVERSION: +v1\n\nFIELD: +image <string>/,
    );
    const tree = await kubectl('explain', 'pod.spec.containers', '--recursive');
    expect(tree).toMatch(/RESOURCE: containers <\[\]Object>/);
    for (const line of [
      /^ {3}name\t<string>/m,
      /^ {3}ports\t<\[\]Object>\n {6}containerPort\t<integer>/m,
      /^ {6}limits\t<map\[string\]string>/m,
      /^ {6}httpGet\t<Object>/m,
    ]) {
      expect(tree).toMatch(line);
    }
  });

  test('explains every kind', { timeout: 60_000 }, async () => {
    const rows = (await kubectl('api-resources', '--no-headers')).trim().split('\n');
    const kinds = rows.map((row) => {
      const words = row.trim().split(/\s+/);
      return { name: words[0]!, apiVersion: words.at(-3)!, kind: words.at(-1)! };
    });
    expect(kinds).toContainEqual({ name: 'deployments', apiVersion: 'apps/v1', kind: 'Deployment' });
    const explained = async ({ name, apiVersion, kind }: (typeof kinds)[number]) => {
      // Pods and nodes also have metrics of the same name; the kind tells which is meant.
      const asked = apiVersion.startsWith('metrics.') ? kind.toLowerCase() : name;
      const text = await kubectl('explain', asked, '--recursive', `--api-version=${apiVersion}`);
      expect(text).toMatch(new RegExp(`^KIND: +${kind}\nVERSION: +${apiVersion}\n`));
      expect(text).toContain('   metadata\t<Object>');
    };
    while (kinds.length > 0) await Promise.all(kinds.splice(0, AT_ONCE).map(explained));
  });

  test('explains an older version, where it is asked for', async () => {
    const field = 'deployment.spec.rollbackTo';
    expect(await kubectl('explain', field, '--api-version=extensions/v1beta1')).toContain('revision\t<integer>');
    await expect(kubectl('explain', field, '--api-version=apps/v1')).rejects.toMatchObject({
      stderr: expect.stringContaining('field "rollbackTo" does not exist'),
    });
  });

  test('rejects what does not fit, before it sends it', async () => {
    const wrong = deployment({ replica: 3 }, { ports: [{ containerPort: 'http' }] });
    await expect(create(wrong)).rejects.toMatchObject({
      stderr: expect.stringMatching(
        /unknown field "replica" in io\.k8s\.api\.apps\.v1\.DeploymentSpec.*ContainerPort\.containerPort: got "string", expected "integer"/,
      ),
    });
  });

  test('finds nothing wrong with an object of any kind', async () => {
    const examples = join(import.meta.dirname, '..', '..', 'examples', 'kinds');
    const checked = await kubectl('create', '--dry-run=client', '--validate=true', '-f', examples);
    expect(checked).toContain('deployment.apps/');
    expect(checked).toContain('resourceclaim.resource.k8s.io/');
  });

  test('creates what fits, numbers for quantities and for ports with names included', async () => {
    const limits = { cpu: 1, memory: '64Mi' };
    const readinessProbe = { httpGet: { port: 80 } };
    const made = await create(
      deployment({ replicas: 2 }, { resources: { limits }, readinessProbe }),
      '--validate=true',
    );
    expect(made).toContain('deployment.apps/web created');
  });

  test('finds out from the schemas that a write can be tried', async () => {
    expect(
      await create(deployment({ replicas: 2 }), '--dry-run=server', '--validate=true').catch((error) => error.stderr),
    ).toContain('AlreadyExists');
    const trial = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'trial' }, data: { a: 'b' } };
    expect(await create(trial, '--dry-run=server')).toContain('configmap/trial created (server dry run)');
    await expect(kubectl('get', 'configmap', 'trial')).rejects.toMatchObject({
      stderr: expect.stringContaining('NotFound'),
    });
  });
});

describe('clients that know where the schemas are', () => {
  test('find them in every form', async () => {
    const v2 = await qd.request('GET', '/openapi/v2');
    expect(v2.body).toMatchObject({ swagger: '2.0', definitions: { 'io.k8s.api.core.v1.Pod': { type: 'object' } } });
    const { body } = await qd.request('GET', '/openapi/v3');
    const v3 = await qd.request('GET', body.paths['apis/apps/v1'].serverRelativeURL);
    expect(v3.body.components.schemas).toHaveProperty(['io.k8s.api.apps.v1.Deployment']);
    const swagger = await qd.request('GET', '/swaggerapi/api/v1');
    expect(swagger.body.models['v1.Pod'].properties.spec).toMatchObject({ $ref: 'v1.PodSpec' });
  });
});
