import * as users from './users';

export function list(): string[] {
  return users.list().map(titleOf);
}

function titleOf(name: string): string {
  return `by ${name}`;
}
