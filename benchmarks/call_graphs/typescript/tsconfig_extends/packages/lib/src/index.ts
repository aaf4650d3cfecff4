export function open(): string {
  return 'db';
}
