import { createPost, type Endpoint } from '../../webhooks/post.ts';
import type { PostReview, ReviewStatus } from './webhook.ts';

/** Posts reviews to a server, which must be one of https: its answers give rights. */
export function reviewPoster(endpoint: Endpoint): PostReview {
  const { server } = endpoint;
  if (new URL(server).protocol !== 'https:') throw new Error(`${server} is not an https address`);
  const post = createPost(endpoint);
  return async (review, signal) => statusOf(await post(JSON.stringify(review), signal));
}

function statusOf(text: string): ReviewStatus {
  const { status } = JSON.parse(text) as { status?: ReviewStatus };
  if (typeof status !== 'object' || status === null) throw new Error('the answer has no status');
  return status;
}
