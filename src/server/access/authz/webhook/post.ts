import { createPost, type Endpoint, parseAnswer } from '../../../outbound/webhooks/post.ts';
import type { PostReview, ReviewStatus } from './webhook.ts';

/** Posts SubjectAccessReviews to a webhook, which must use https, since its answers grant permissions. */
export function createPostReview(endpoint: Endpoint): PostReview {
  const { server } = endpoint;
  if (new URL(server).protocol !== 'https:') throw new Error(`${server} is not an https URL`);
  const post = createPost(endpoint);
  return async (review, signal) => statusOf(await post(JSON.stringify(review), signal));
}

function statusOf(text: string): ReviewStatus {
  const { status } = parseAnswer(text) as { status?: ReviewStatus };
  if (typeof status !== 'object' || status === null) throw new Error('the response has no status');
  return status;
}
