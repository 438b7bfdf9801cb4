/**
 * Attacks with reviews of access, which every user may request: whatever they contain must cost the server little and
 * leave nothing.
 */
import type { Attack } from '../attack.ts';
import { LARGE_BODY_BYTES } from '../client.ts';

const SELF_REVIEWS = '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews';
const REVIEWS = '/apis/authorization.k8s.io/v1/subjectaccessreviews';
const COUNT = 200;

/** Decisions are remembered; the paths they are about must not be, however long. */
export const longPaths: Attack = {
  name: 'long paths in reviews',
  async run({ nobody }) {
    for (let i = 0; i < COUNT; i++) {
      const path = `/${i}${'x'.repeat(LARGE_BODY_BYTES)}`;
      await nobody.send('POST', SELF_REVIEWS, { body: { spec: { nonResourceAttributes: { path, verb: 'get' } } } });
    }
  },
};

export const longSelectors: Attack = {
  name: 'long selectors in reviews',
  async run({ nobody }) {
    for (const part of ['a=b,', 'a in (b),', '!a,', 'a!=b,', '(((((', 'a in (b,', 'a==']) {
      const rawSelector = part.repeat(LARGE_BODY_BYTES / part.length);
      for (const selector of ['labelSelector', 'fieldSelector']) {
        const resourceAttributes = { resource: 'pods', verb: 'list', [selector]: { rawSelector } };
        await nobody.send('POST', SELF_REVIEWS, { body: { spec: { resourceAttributes } } });
      }
      const query = `?labelSelector=${encodeURIComponent(rawSelector.slice(0, 20_000))}`;
      await nobody.send('GET', `/api/v1/namespaces/tenant/pods${query}`);
    }
  },
};

export const longReviewGroups: Attack = {
  name: 'long groups in reviews',
  async run({ admin }) {
    const groups = Array.from({ length: 200_000 }, (_, i) => `group-${i}`);
    for (let i = 0; i < COUNT / 10; i++) {
      const spec = { user: `user-${i}`, groups, resourceAttributes: { resource: 'pods', verb: 'list' } };
      await admin.send('POST', REVIEWS, { body: { spec } });
    }
  },
};
