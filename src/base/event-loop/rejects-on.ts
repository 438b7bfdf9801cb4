export function rejectsOn(signal: AbortSignal): Promise<never> {
  const rejecting = new Promise<never>((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });
  rejecting.catch(() => undefined);
  return rejecting;
}
