export function home(): string {
  return '/';
}
