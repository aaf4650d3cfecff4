export interface User {
  name: string;
}

export function createUser(name: string): User {
  return { name: normalize(name) };
}

function normalize(name: string): string {
  return name.trim();
}
