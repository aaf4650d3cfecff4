export function home(): string {
  return '/home';
}
