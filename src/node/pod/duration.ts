/** Formats a duration as Kubernetes does: `300ms`, `1.5s`, `2m40s`. */
export function formatDuration(milliseconds: number): string {
  const whole = Math.trunc(milliseconds);
  if (whole > 0 && whole < 1_000) return `${whole}ms`;
  const minutes = Math.floor(whole / 60_000);
  return `${minutes > 0 ? `${minutes}m` : ''}${(whole % 60_000) / 1_000}s`;
}
