import { Collection } from './collection';
import { User } from './user';

const users = new Collection<User>();
users.add(new User(1, 'ann')).add(new User(2, 'bob'));

export function greetFirst(): string {
  return users.first().greet();
}

function greetById(id: number): string {
  return users.find(id)?.greet() ?? 'nobody';
}

greetFirst();
greetById(2);
