export function clamp(value: number): number {
  return Math.min(value, 10);
}
