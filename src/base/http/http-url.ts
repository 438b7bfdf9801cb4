/** Reports whether a text is an HTTP(S) URL with its scheme: `localhost:6443` has another one. */
export function isHttpUrl(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}
