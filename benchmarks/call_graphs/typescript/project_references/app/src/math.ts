export function clamp(value: number): number {
  return value;
}
