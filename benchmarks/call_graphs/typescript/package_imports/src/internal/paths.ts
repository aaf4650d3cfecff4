export function join(...parts: string[]): string {
  return parts.join('/');
}
