import { setImmediate as nextTurn } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { ControlledClock } from '../../../../base/time/clock.ts';
import type { AdmissionRequest } from '../../../objects/admission/request.ts';
import type { PluginPorts } from '../../ports.ts';
import type { AdmittedForm } from '../form.ts';
import { ask } from './ask.ts';
import type { RegisteredWebhook } from './webhooks.ts';

it('reads an answer in a turn of the event loop that has time for it', async () => {
  let resume = () => {};
  const pause = () =>
    new Promise<void>((resolve) => {
      resume = resolve;
    });
  const response = { uid: 'u', allowed: true, warnings: ['careful'] };
  const answer = { kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', response };
  const registered = {
    webhook: { name: 'w', admissionReviewVersions: ['v1'], timeoutSeconds: 1 },
    connection: () => ({ url: 'https://w', post: async () => JSON.stringify(answer) }),
  } as unknown as RegisteredWebhook;
  const core = {
    clock: new ControlledClock(),
    random: { uuid: () => 'u' },
    stages: { pause },
  } as unknown as PluginPorts;
  const warnings: string[] = [];
  const request = {
    ...{ operation: 'DELETE', kind: {}, resource: { kind: {}, version: {} }, user: { name: 'u' }, call: {} },
    warn: (text: string) => void warnings.push(text),
  } as unknown as AdmissionRequest;
  const asked = ask(core, registered, { request, form: { version: {} } as AdmittedForm, mayPatch: false });
  await nextTurn();
  expect(warnings).toEqual([]);
  resume();
  await asked;
  expect(warnings).toEqual(['careful']);
});
