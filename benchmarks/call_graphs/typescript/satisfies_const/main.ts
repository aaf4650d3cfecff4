import { levels, routes } from './routes';

export function open(): string {
  return routes.user.view('1') + routes.post.view('2');
}

function first(names: readonly string[]): string {
  return names[0];
}

open();
first(levels);
